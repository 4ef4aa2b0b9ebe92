"""What is written where, decided before anything is: a report and a policy become effects.

A comment that says nothing new, a label that is there already, everything under a dry run: they are not in the list.
"""

import json
from collections.abc import Sequence

from triage.domain.code import IndexFacts, Span
from triage.domain.effect import (
    AddLabels,
    Annotate,
    EditComment,
    Effect,
    Policy,
    PostComment,
    RemoveComment,
    SetOutputs,
    WriteReport,
    WriteSummary,
)
from triage.domain.issue import Issue, IssueComment
from triage.domain.report import RunReport
from triage.domain.run import Status, Usage
from triage.domain.task import PastRun
from triage.publish.comment import QUIET_NOTICE, render_comment, render_quiet_comment
from triage.publish.hidden_state import PostedState, hash_content, hash_text, parse_state, render_state, replace_state
from triage.publish.json_schema import dump_report
from triage.publish.summary import (
    render_failure_summary,
    render_index_summary,
    render_skip_summary,
    render_summary,
    render_unfinished_summary,
)
from triage.publish.wording import truncate
from triage.text.clean_text import clean_text

MAX_TITLE_CHARS = 200
_PLAIN = str.maketrans({"`": None, "@": "＠", "$": "＄"})
MAX_WARNING_CHARS = 500
EMPTY_OUTPUTS: dict[str, str] = dict.fromkeys(
    (
        "status",
        "engine",
        "severity",
        "confidence",
        "verdict",
        "suspect-files",
        "report-file",
        "comment-url",
        "ticket-title",
        "ticket-labels",
        "ticket-assignee",
        "ticket-effort",
        "tokens",
        "cost-usd",
        "seconds",
    ),
    "",
)
"""Every output's name; empty means that there is nothing to say."""


def plan_report(
    report: RunReport,
    policy: Policy,
    issue: Issue,
    previous: IssueComment | None = None,
    paths: Sequence[str] = (),
    *,
    partial: bool = False,
    run: PastRun | None = None,
    leftovers: Sequence[int] = (),
    held_back: bool = False,
) -> list[Effect]:
    """Everything that is to be written about `report`, in order.

    Args:
        report: Of the run.
        policy: What may be written.
        issue: As the report saw it.
        previous: Our comment on it, if there is one.
        paths: All indexed files, to name withdrawn suspects.
        partial: The run was cancelled; commented only where there is no comment and somebody has found something.
        run: To be remembered, if an event has started it.
        leftovers: Ids of further comments of ours, which an interrupted run has left.
        held_back: Nothing is written to the issue, for a reason that the report tells.
    """
    state = parse_state(previous.body) if previous else None
    if held_back:
        writes: list[Effect] = []
    elif partial:
        writes = (
            _plan_partial_comment(report, policy, issue, paths, run) if previous is None and report.findings else []
        )
    else:
        writes = _plan_issue_effects(report, policy, issue, previous, state, paths, run)
        tidy = leftovers if policy.comment and issue.number is not None else ()
        writes += [RemoveComment(issue_number=issue.number or 0, comment_id=one) for one in tidy]
    planned = writes if policy.dry_run else None
    page = render_summary(report, state, paths, labels=policy.labels, planned=planned)
    url = f"{issue.url}#issuecomment-{previous.comment_id}" if previous and issue.url else ""
    return [
        *([] if policy.dry_run else writes),
        WriteReport(json_text=dump_report(report)),
        WriteSummary(markdown=page),
        *_plan_warnings(report),
        SetOutputs(values=build_outputs(report) | {"comment-url": url}),
    ]


def _plan_issue_effects(
    report: RunReport,
    policy: Policy,
    issue: Issue,
    previous: IssueComment | None,
    state: PostedState | None,
    paths: Sequence[str],
    run: PastRun | None,
) -> list[Effect]:
    """What changes the issue."""
    if issue.number is None:
        return []
    effects: list[Effect] = []
    text = hash_text(issue.title, issue.body)
    news = state is None or state.quiet or state.content != hash_content(report)
    if policy.comment and news:
        body = render_comment(report, _state_with_run(state, run), paths, labels=policy.labels, text=text)
        effects.append(_post_or_edit(issue.number, previous, body))
    elif policy.comment and previous and state and run and not state.has_run(run):
        # Nothing new for a reader; but it was run, and perhaps for another text.
        same = state.model_copy(update={"text": text}).with_run(run)
        effects.append(_post_or_edit(issue.number, previous, replace_state(previous.body, same)))
    there = {label.casefold() for label in issue.labels}
    new = [label for label in dict.fromkeys(report.ticket.labels) if label.casefold() not in there]
    # Not on unchanged news: a label that a person took off again stays off.
    if policy.labels == "apply" and policy.comment and news and new:
        effects.append(AddLabels(issue_number=issue.number, labels=new))
    return effects


def _state_with_run(state: PostedState | None, run: PastRun | None) -> PostedState | None:
    return state if run is None else (state or PostedState()).with_run(run)


def _plan_partial_comment(
    report: RunReport, policy: Policy, issue: Issue, paths: Sequence[str], run: PastRun | None
) -> list[Effect]:
    """Seconds are left: no labels, and a comment that the next run replaces."""
    if issue.number is None or not policy.comment:
        return []
    body = render_comment(report, _state_with_run(None, run), paths, labels=policy.labels, text=None)
    return [PostComment(issue_number=issue.number, body=body)]


def _post_or_edit(number: int, previous: IssueComment | None, body: str) -> PostComment | EditComment:
    if previous is None or previous.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=previous.comment_id, body=body)


def _plan_warnings(report: RunReport) -> list[Effect]:
    if report.status is not Status.DEGRADED:
        return []
    why = " ".join(report.notes) or "Part of the run failed."
    return [Annotate(level="warning", message=truncate(f"The triage is incomplete. {why}", MAX_WARNING_CHARS))]


def build_outputs(report: RunReport) -> dict[str, str]:
    """The action's outputs, but for what is known only after writing."""
    ticket = report.ticket
    return EMPTY_OUTPUTS | {
        "status": report.status.value,
        "engine": report.engine,
        "severity": report.severity or "",
        "confidence": f"{report.confidence:.2f}",
        "verdict": report.verdict or "",
        "suspect-files": _format_json_list(list(dict.fromkeys(suspect.path for suspect in report.suspects))),
        "ticket-title": _format_title(ticket.title),
        "ticket-labels": _format_json_list(ticket.labels),
        "ticket-assignee": ticket.assignee.lstrip("@"),
        "ticket-effort": ticket.effort if report.kind == "bug" else "",
        "tokens": str(report.usage.tokens),
        "cost-usd": _format_cost(report.usage),
        "seconds": f"{report.seconds:.1f}",
    }


def _format_json_list(names: Sequence[str]) -> str:
    """On one line, and nothing that the runner obeys when a later step prints it: `##[` counts anywhere in a line."""
    return json.dumps(names).replace("##[", "\\u0023#[")


def _format_title(text: str) -> str:
    """Plain words on one line for a tracker, a shell or a log, which none of them obeys when a later step prints it.

    Full-width signs stand where others would call somebody or be filled in.
    """
    words = " ".join(clean_text(text).translate(_PLAIN).split())
    return truncate(words.replace("##[", "## [").lstrip(": "), MAX_TITLE_CHARS)


def _format_cost(usage: Usage) -> str:
    return "unknown" if usage.usd is None else f"{usage.usd:.6f}"


def plan_skip(reason: str) -> list[Effect]:
    """Nothing to do: the job's page says why."""
    return [
        WriteSummary(markdown=render_skip_summary(reason)),
        SetOutputs(values=EMPTY_OUTPUTS | {"status": Status.SKIPPED.value}),
    ]


def plan_index_result(facts: IndexFacts, usage: Usage) -> tuple[Status, list[Effect]]:
    """An index was made to be kept: how that ended, and the job's page that says it."""
    notes = [] if facts.commit else ["There is no commit here: put actions/checkout before this step."]
    notes += ["Part of the repository was not indexed."] if facts.partial else []
    notes += facts.notes
    odd = [*notes, *([facts.cache] if facts.cache else [])]
    status = Status.DEGRADED if odd else Status.COMPLETE
    values = {"status": status.value, "tokens": str(usage.tokens), "seconds": f"{facts.seconds:.1f}"}
    return status, [
        WriteSummary(markdown=render_index_summary(facts.log_line, notes)),
        *([Annotate(level="warning", message=truncate(" ".join(odd), MAX_WARNING_CHARS))] if odd else []),
        SetOutputs(values=EMPTY_OUTPUTS | values | {"cost-usd": _format_cost(usage)}),
    ]


def plan_unfinished(message: str) -> list[Effect]:
    """There is nothing to report, and nobody has to mend anything: the job's page says why."""
    return [
        WriteSummary(markdown=render_unfinished_summary(message)),
        Annotate(level="warning", message=message),
        SetOutputs(values=EMPTY_OUTPUTS | {"status": Status.DEGRADED.value}),
    ]


def plan_failure(message: str, at: Span | None = None) -> list[Effect]:
    """Somebody must mend something, perhaps in these lines: an error beside the job, and the job's page."""
    return [
        WriteSummary(markdown=render_failure_summary(message)),
        Annotate(level="error", message=message, at=at),
        SetOutputs(values=EMPTY_OUTPUTS | {"status": Status.FAILED.value}),
    ]


def plan_quiet(number: int, previous: IssueComment | None, policy: Policy) -> list[Effect]:
    """Say nothing more on this issue until somebody asks: our comment says so and remembers it."""
    state = (parse_state(previous.body) if previous else None) or PostedState()
    said = [] if state.quiet or policy.dry_run or not policy.comment else [_plan_quiet_comment(number, previous, state)]
    return [*said, *plan_skip(f"Triage is quiet on issue {number}. A comment that says `/triage` wakes it.")]


def _plan_quiet_comment(number: int, previous: IssueComment | None, state: PostedState) -> Effect:
    if previous is None:
        return PostComment(
            issue_number=number, body=f"{render_state(state.model_copy(update={'quiet': True}))}\n{QUIET_NOTICE}\n"
        )
    return _post_or_edit(number, previous, render_quiet_comment(previous.body, state))
