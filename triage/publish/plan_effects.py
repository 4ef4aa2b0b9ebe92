"""Decides what a run writes: turns a report and a policy into effects.

The list leaves out a comment that says nothing new, labels that the issue has, and every change of a dry run.
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
    RemoveLabel,
    SetOutputs,
    SuggestChanges,
    WriteReport,
    WriteSummary,
)
from triage.domain.issue import Issue, IssueComment
from triage.domain.report import RunReport
from triage.domain.run import Status, Usage
from triage.domain.suggestion import Suggestion, SuggestionOptions
from triage.domain.task import RunKey
from triage.publish.comment import render_comment, render_quiet_comment
from triage.publish.hidden_state import CommentState, hash_content, hash_text, next_state, parse_state, render_state
from triage.publish.needs_info import plan_needs_info
from triage.publish.plan_suggestions import plan_suggestions
from triage.publish.sections import Page, build_page
from triage.publish.summary import render_notice, render_summary
from triage.publish.trusted_facts import TrustedFacts, overwrite_with_trusted_facts
from triage.publish.wording import truncate
from triage.text.clean_text import clean_text

MAX_TITLE_CHARS = 200
_FULL_WIDTH = str.maketrans({"`": None, "@": "＠", "$": "＄"})
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
"""All outputs. An output without a value is empty."""


def plan_report(
    report: RunReport,
    policy: Policy,
    issue: Issue,
    facts: TrustedFacts,
    previous: IssueComment | None = None,
    paths: Sequence[str] = (),
    *,
    partial: bool = False,
    run: RunKey | None = None,
    duplicates: Sequence[int] = (),
    is_skipped: bool = False,
    needs_info_label: str = "",
    options: SuggestionOptions | None = None,
) -> list[Effect]:
    """Returns all effects of a report, in the order in which they are applied.

    A `partial` report of a cancelled run is a comment only if it has findings and there is no earlier comment. One
    that `is_skipped` writes nothing to the issue; its notes say why. Links and labels are those of `origin`, whatever
    the report says. `previous` is our comment on the issue, `duplicates` are the ids of younger ones, and `run` is
    what the hidden state remembers if an event started it. `options` are what GitHub takes as suggestions; without
    them, the page names the labels.
    """
    report = overwrite_with_trusted_facts(report, facts, issue.number)
    known = parse_state(previous.body) if previous else None
    is_silent = partial or is_skipped or not policy.comment or issue.number is None
    may_suggest = not is_silent and not says_nothing_new(report, previous)
    suggestions = plan_suggestions(report, policy.labels, options, known) if may_suggest else []
    suggests_labels = any(suggestion.kind == "label" for suggestion in suggestions)
    page = build_page(report, known, paths, "off" if suggests_labels else policy.labels)
    writes: list[Effect] = []
    if policy.comment and issue.number is not None and not is_skipped:
        if not partial:
            writes = _plan_issue_effects(
                report, page, policy, issue, issue.number, previous, run, needs_info_label, suggestions
            )
            # Also without a new comment: the panel is there for whoever decides.
            writes += [SuggestChanges(issue_number=issue.number, suggestions=suggestions)] if suggestions else []
            writes += [RemoveComment(issue_number=issue.number, comment_id=comment) for comment in duplicates]
        elif previous is None and report.findings:
            state = next_state(report, CommentState().with_run(run), None)  # the next run replaces it
            writes = [PostComment(issue_number=issue.number, body=render_comment(page, state))]
    url = f"{report.issue.url}#issuecomment-{previous.comment_id}" if previous and report.issue.url else ""
    why = f"The triage is incomplete. {' '.join(report.notes) or 'Part of the run failed.'}"
    warning = Annotate(level="warning", message=truncate(why, MAX_WARNING_CHARS))
    return [
        *([] if policy.dry_run else writes),
        WriteReport(json_text=dump_report(report)),
        WriteSummary(markdown=render_summary(page, report, writes if policy.dry_run else None, suggestions)),
        *([warning] if report.status is Status.DEGRADED else []),
        SetOutputs(values=build_outputs(report) | {"comment-url": url}),
    ]


def _plan_issue_effects(
    report: RunReport,
    page: Page,
    policy: Policy,
    issue: Issue,
    number: int,
    previous: IssueComment | None,
    run: RunKey | None,
    needs_info_label: str,
    suggestions: Sequence[Suggestion],
) -> list[Effect]:
    effects: list[Effect] = []
    text = hash_text(issue.title, issue.body)
    state = parse_state(previous.body) if previous else None
    if previous and state and says_nothing_new(report, previous):
        state_with_run = state.with_run(run)
        if state_with_run != state:
            # Nothing new for a reader, but the run counts, and the issue may have another text.
            first_line = render_state(state_with_run.model_copy(update={"text_hash": text}))
            visible = previous.body.partition("\n")[2]
            effects.append(_post_or_edit(number, previous, f"{first_line}\n{visible}"))
        # No labels and no suggestions: what a person removed or declined stays so.
        return effects
    known = state or CommentState()
    asks = bool(report.missing_information)
    label_plan = plan_needs_info(needs_info_label, policy.labels, issue, known.needs_info, asks=asks)
    state = next_state(report, known.with_run(run).with_suggestions(suggestions), text)
    state = state.model_copy(update={"needs_info": label_plan.state})
    if label_plan.removes:
        # Before the comment: if that cannot be written then, it still says that the label was ours.
        effects.append(RemoveLabel(issue_number=number, label=needs_info_label))
    effects.append(_post_or_edit(number, previous, render_comment(page, state)))
    existing = {label.casefold() for label in [*issue.labels, needs_info_label]}
    labels = [label for label in dict.fromkeys(report.ticket.labels) if label.casefold() not in existing]
    labels += [needs_info_label] if label_plan.adds else []
    if policy.labels == "apply" and labels:
        effects.append(AddLabels(issue_number=number, labels=labels))
    return effects


def says_nothing_new(report: RunReport, previous: IssueComment | None) -> bool:
    """Whether our comment shows this report already."""
    known = parse_state(previous.body) if previous else None
    return known is not None and not known.quiet and known.content_hash == hash_content(report)


def _post_or_edit(number: int, previous: IssueComment | None, body: str) -> PostComment | EditComment:
    if previous is None or previous.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=previous.comment_id, body=body)


def dump_report(report: RunReport) -> str:
    """Returns the report as JSON. Lone surrogates, which JSON readers reject, become question marks."""
    text = json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def build_outputs(report: RunReport) -> dict[str, str]:
    """Returns the outputs of the action. Those that are known after writing are empty."""
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
    # The runner reads `##[` anywhere in a line as a command, so a later step that prints the output would run it.
    return json.dumps(names).replace("##[", "\\u0023#[")


def _format_title(text: str) -> str:
    # One line that neither a tracker, a shell nor the log of a later step interprets: full-width signs replace those
    # that mention somebody or expand a variable.
    words = " ".join(clean_text(text).translate(_FULL_WIDTH).split())
    return truncate(words.replace("##[", "## [").lstrip(": "), MAX_TITLE_CHARS)


def _format_cost(usage: Usage) -> str:
    return "unknown" if usage.usd is None else f"{usage.usd:.6f}"


def plan_skip(reason: str) -> list[Effect]:
    return [
        WriteSummary(markdown=render_notice("skip", reason)),
        SetOutputs(values=EMPTY_OUTPUTS | {"status": Status.SKIPPED.value}),
    ]


def plan_index_result(facts: IndexFacts, usage: Usage) -> tuple[Status, list[Effect]]:
    """Returns the status of a run that built an index for the cache, and its effects."""
    notes = [] if facts.commit else ["There is no commit here: put actions/checkout before this step."]
    notes += ["Part of the repository was not indexed."] if facts.partial else []
    notes += facts.notes
    problems = [*notes, *([facts.cache] if facts.cache else [])]
    status = Status.DEGRADED if problems else Status.COMPLETE
    values = {"status": status.value, "tokens": str(usage.tokens), "seconds": f"{facts.seconds:.1f}"}
    warning = truncate(" ".join(problems), MAX_WARNING_CHARS)
    return status, [
        WriteSummary(markdown=render_notice("index", facts.log_line, notes)),
        *([Annotate(level="warning", message=warning)] if problems else []),
        SetOutputs(values=EMPTY_OUTPUTS | values | {"cost-usd": _format_cost(usage)}),
    ]


def plan_unfinished(message: str) -> list[Effect]:
    """Returns the effects of a run that could not finish now: starting it again helps."""
    return [
        WriteSummary(markdown=render_notice("unfinished", message)),
        Annotate(level="warning", message=message),
        SetOutputs(values=EMPTY_OUTPUTS | {"status": Status.DEGRADED.value}),
    ]


def plan_failure(message: str, at: Span | None = None) -> list[Effect]:
    """Returns the effects of a run that fails until somebody fixes the setup, perhaps in the lines `at`."""
    return [
        WriteSummary(markdown=render_notice("failure", message)),
        Annotate(level="error", message=message, at=at),
        SetOutputs(values=EMPTY_OUTPUTS | {"status": Status.FAILED.value}),
    ]


def plan_quiet(number: int, previous: IssueComment | None, policy: Policy) -> list[Effect]:
    """Returns the effects of `/triage quiet`: our comment says that nothing more is written until somebody asks."""
    body = previous.body if previous else ""
    state = parse_state(body) or CommentState()
    needs_comment = policy.comment and not policy.dry_run and not state.quiet
    writes = [_post_or_edit(number, previous, render_quiet_comment(body, state))] if needs_comment else []
    return [*writes, *plan_skip(f"Triage is quiet on issue {number}. A comment that says `/triage` wakes it.")]
