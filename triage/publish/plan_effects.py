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
from triage.domain.issue import Exchange, Issue
from triage.domain.report import RunReport
from triage.domain.run import Status, Usage
from triage.domain.task import Ran
from triage.publish.comment import QUIET, comment, quiet_comment
from triage.publish.hidden_state import PostedState, content_hash, parse, remembering, render, text_hash
from triage.publish.json_schema import report_json
from triage.publish.summary import failure_summary, index_summary, skip_summary, summary, unfinished_summary
from triage.publish.wording import clipped
from triage.text.clean_text import visible_only

MAX_TITLE_CHARS = 200
_PLAIN = str.maketrans({"`": None, "@": "＠", "$": "＄"})
MAX_WARNING_CHARS = 500
NOTHING: dict[str, str] = dict.fromkeys(
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


def plan(
    report: RunReport,
    policy: Policy,
    issue: Issue,
    previous: Exchange | None = None,
    paths: Sequence[str] = (),
    *,
    partial: bool = False,
    run: Ran | None = None,
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
    state = parse(previous.body) if previous else None
    if held_back:
        writes: list[Effect] = []
    elif partial:
        writes = _partial(report, policy, issue, paths, run) if previous is None and report.findings else []
    else:
        writes = _writes(report, policy, issue, previous, state, paths, run)
        tidy = leftovers if policy.comment and issue.number is not None else ()
        writes += [RemoveComment(issue_number=issue.number or 0, comment_id=one) for one in tidy]
    planned = writes if policy.dry_run else None
    page = summary(report, state, paths, labels=policy.labels, planned=planned)
    url = f"{issue.url}#issuecomment-{previous.comment_id}" if previous and issue.url else ""
    return [
        *([] if policy.dry_run else writes),
        WriteReport(json_text=report_json(report)),
        WriteSummary(markdown=page),
        *_warnings(report),
        SetOutputs(values=outputs(report) | {"comment-url": url}),
    ]


def _writes(
    report: RunReport,
    policy: Policy,
    issue: Issue,
    previous: Exchange | None,
    state: PostedState | None,
    paths: Sequence[str],
    run: Ran | None,
) -> list[Effect]:
    """What changes the issue."""
    if issue.number is None:
        return []
    effects: list[Effect] = []
    text = text_hash(issue.title, issue.body)
    news = state is None or state.quiet or state.content != content_hash(report)
    if policy.comment and news:
        body = comment(report, _with_run(state, run), paths, labels=policy.labels, text=text)
        effects.append(_written(issue.number, previous, body))
    elif policy.comment and previous and state and run and not state.knows(run):
        # Nothing new for a reader; but it was run, and perhaps for another text.
        same = state.model_copy(update={"text": text}).with_run(run)
        effects.append(_written(issue.number, previous, remembering(previous.body, same)))
    there = {label.casefold() for label in issue.labels}
    new = [label for label in dict.fromkeys(report.ticket.labels) if label.casefold() not in there]
    # Not on unchanged news: a label that a person took off again stays off.
    if policy.labels == "apply" and policy.comment and news and new:
        effects.append(AddLabels(issue_number=issue.number, labels=new))
    return effects


def _with_run(state: PostedState | None, run: Ran | None) -> PostedState | None:
    return state if run is None else (state or PostedState()).with_run(run)


def _partial(report: RunReport, policy: Policy, issue: Issue, paths: Sequence[str], run: Ran | None) -> list[Effect]:
    """Seconds are left: no labels, and a comment that the next run replaces."""
    if issue.number is None or not policy.comment:
        return []
    body = comment(report, _with_run(None, run), paths, labels=policy.labels, text=None)
    return [PostComment(issue_number=issue.number, body=body)]


def _written(number: int, previous: Exchange | None, body: str) -> PostComment | EditComment:
    if previous is None or previous.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=previous.comment_id, body=body)


def _warnings(report: RunReport) -> list[Effect]:
    if report.status is not Status.DEGRADED:
        return []
    why = " ".join(report.notes) or "Part of the run failed."
    return [Annotate(level="warning", message=clipped(f"The triage is incomplete. {why}", MAX_WARNING_CHARS))]


def outputs(report: RunReport) -> dict[str, str]:
    """The action's outputs, but for what is known only after writing."""
    ticket = report.ticket
    return NOTHING | {
        "status": report.status.value,
        "engine": report.engine,
        "severity": report.severity or "",
        "confidence": f"{report.confidence:.2f}",
        "verdict": report.verdict or "",
        "suspect-files": _json(list(dict.fromkeys(suspect.path for suspect in report.suspects))),
        "ticket-title": _title(ticket.title),
        "ticket-labels": _json(ticket.labels),
        "ticket-assignee": ticket.assignee.lstrip("@"),
        "ticket-effort": ticket.effort if report.kind == "bug" else "",
        "tokens": str(report.usage.tokens),
        "cost-usd": _dollars(report.usage),
        "seconds": f"{report.seconds:.1f}",
    }


def _json(names: Sequence[str]) -> str:
    """On one line, and nothing that the runner obeys when a later step prints it: `##[` counts anywhere in a line."""
    return json.dumps(names).replace("##[", "\\u0023#[")


def _title(text: str) -> str:
    """Plain words on one line for a tracker, a shell or a log, which none of them obeys when a later step prints it.

    Full-width signs stand where others would call somebody or be filled in.
    """
    words = " ".join(visible_only(text).translate(_PLAIN).split())
    return clipped(words.replace("##[", "## [").lstrip(": "), MAX_TITLE_CHARS)


def _dollars(usage: Usage) -> str:
    return "unknown" if usage.usd is None else f"{usage.usd:.6f}"


def skipped(reason: str) -> list[Effect]:
    """Nothing to do: the job's page says why."""
    return [
        WriteSummary(markdown=skip_summary(reason)),
        SetOutputs(values=NOTHING | {"status": Status.SKIPPED.value}),
    ]


def indexed(facts: IndexFacts, usage: Usage) -> tuple[Status, list[Effect]]:
    """An index was made to be kept: how that ended, and the job's page that says it."""
    notes = [] if facts.commit else ["There is no commit here: put actions/checkout before this step."]
    notes += ["Part of the repository was not indexed."] if facts.partial else []
    notes += facts.notes
    odd = [*notes, *([facts.cache] if facts.cache else [])]
    status = Status.DEGRADED if odd else Status.COMPLETE
    values = {"status": status.value, "tokens": str(usage.tokens), "seconds": f"{facts.seconds:.1f}"}
    return status, [
        WriteSummary(markdown=index_summary(facts.told, notes)),
        *([Annotate(level="warning", message=clipped(" ".join(odd), MAX_WARNING_CHARS))] if odd else []),
        SetOutputs(values=NOTHING | values | {"cost-usd": _dollars(usage)}),
    ]


def unfinished(message: str) -> list[Effect]:
    """There is nothing to report, and nobody has to mend anything: the job's page says why."""
    return [
        WriteSummary(markdown=unfinished_summary(message)),
        Annotate(level="warning", message=message),
        SetOutputs(values=NOTHING | {"status": Status.DEGRADED.value}),
    ]


def failed(message: str, at: Span | None = None) -> list[Effect]:
    """Somebody must mend something, perhaps in these lines: an error beside the job, and the job's page."""
    return [
        WriteSummary(markdown=failure_summary(message)),
        Annotate(level="error", message=message, at=at),
        SetOutputs(values=NOTHING | {"status": Status.FAILED.value}),
    ]


def quieten(number: int, previous: Exchange | None, policy: Policy) -> list[Effect]:
    """Say nothing more on this issue until somebody asks: our comment says so and remembers it."""
    state = (parse(previous.body) if previous else None) or PostedState()
    said = [] if state.quiet or policy.dry_run or not policy.comment else [_quiet(number, previous, state)]
    return [*said, *skipped(f"Triage is quiet on issue {number}. A comment that says `/triage` wakes it.")]


def _quiet(number: int, previous: Exchange | None, state: PostedState) -> Effect:
    if previous is None:
        return PostComment(issue_number=number, body=f"{render(state.model_copy(update={'quiet': True}))}\n{QUIET}\n")
    return _written(number, previous, quiet_comment(previous.body, state))
