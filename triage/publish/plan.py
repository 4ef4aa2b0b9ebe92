"""What is written where, decided before anything is: a report and a policy become effects.

A comment that says nothing new, a label that is there already, everything under a dry run: they are not in the list.
"""

import json
from collections.abc import Sequence

from triage.domain.code import IndexFacts, Span
from triage.domain.effect import (
    COMMENT_MARKER,
    AddLabels,
    Annotate,
    EditComment,
    Effect,
    Policy,
    PostComment,
    SetOutputs,
    WriteReport,
    WriteSummary,
)
from triage.domain.issue import Exchange, Issue
from triage.domain.report import RunReport
from triage.domain.run import Status, Usage
from triage.domain.text import visible_only
from triage.publish.comment import QUIET, comment, quiet_comment
from triage.publish.schema import report_json
from triage.publish.state import PostedState, content_hash, parse, render, text_hash
from triage.publish.summary import failure_summary, index_summary, skip_summary, summary, unfinished_summary
from triage.publish.words import clipped

MAX_TITLE_CHARS = 200
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


def our_comment(issue: Issue) -> Exchange | None:
    """The comment that we wrote on this issue: the first with our marker and one of our logins."""
    ours = (item for item in issue.thread if item.ours and item.comment_id is not None)
    return next((item for item in ours if item.body.startswith(COMMENT_MARKER)), None)


def plan(
    report: RunReport,
    policy: Policy,
    issue: Issue,
    previous: Exchange | None = None,
    paths: Sequence[str] = (),
    *,
    partial: bool = False,
) -> list[Effect]:
    """Everything that is to be written about `report`, in order.

    `previous` is our comment on `issue`, if there is one; `paths` are all indexed files, to name withdrawn suspects.
    A `partial` report, of a cancelled run, is commented only where there is none and somebody has found something.
    """
    state = parse(previous.body) if previous else None
    if partial:
        writes = _partial(report, policy, issue, paths) if previous is None and report.findings else []
    else:
        writes = _writes(report, policy, issue, previous, state, paths)
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
) -> list[Effect]:
    """What changes the issue."""
    if issue.number is None:
        return []
    effects: list[Effect] = []
    news = state is None or state.quiet or state.content != content_hash(report)
    if policy.comment and news:
        body = comment(report, state, paths, labels=policy.labels, text=text_hash(issue.title, issue.body))
        effects.append(_written(issue.number, previous, body))
    there = {label.casefold() for label in issue.labels}
    new = [label for label in dict.fromkeys(report.ticket.labels) if label.casefold() not in there]
    # Not on unchanged news: a label that a person took off again stays off.
    if policy.labels == "apply" and policy.comment and news and new:
        effects.append(AddLabels(issue_number=issue.number, labels=new))
    return effects


def _partial(report: RunReport, policy: Policy, issue: Issue, paths: Sequence[str]) -> list[Effect]:
    """Seconds are left: no labels, and a comment that the next run replaces."""
    if issue.number is None or not policy.comment:
        return []
    body = comment(report, None, paths, labels=policy.labels, text=None)
    return [PostComment(issue_number=issue.number, body=body, yields=True)]


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
    # Plain words, for a tracker or a shell: no backticks, and a full-width sign where an @ would call somebody.
    title = " ".join(visible_only(ticket.title).replace("`", "").replace("@", "＠").split())
    return NOTHING | {
        "status": report.status.value,
        "engine": report.engine,
        "severity": report.severity or "",
        "confidence": f"{report.confidence:.2f}",
        "verdict": report.verdict or "",
        "suspect-files": json.dumps(list(dict.fromkeys(suspect.path for suspect in report.suspects))),
        "ticket-title": clipped(title, MAX_TITLE_CHARS),
        "ticket-labels": json.dumps(ticket.labels),
        "ticket-assignee": ticket.assignee.lstrip("@"),
        "ticket-effort": ticket.effort if report.kind == "bug" else "",
        "tokens": str(report.usage.tokens),
        "cost-usd": _dollars(report.usage),
        "seconds": f"{report.seconds:.1f}",
    }


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
