"""Decides what a run writes: turns a report, and what the run knows of the issue, into effects and outputs.

The list leaves out a comment that says nothing new, labels that the issue has, and every change of a dry run.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from triage.base.text import truncate
from triage.domain.effect import (
    AddLabels,
    Annotate,
    Effect,
    LabelsMode,
    Policy,
    RemoveComment,
    SetOutputs,
    SuggestChanges,
    Suggestion,
    SuggestionOptions,
    WriteJobPage,
    WriteReport,
)
from triage.domain.issue import Issue, IssueComment
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.statement import FoundPlaces
from triage.domain.task import QuietTask, RunKey
from triage.run.write.plan_suggestions import plan_suggestions
from triage.safety.clean_text import clean_text
from triage.say.comment import (
    MAX_VISIBLE_UNITS,
    compose_comment,
    read_parts,
    render_quiet_comment,
    render_withdrawal,
)
from triage.say.decide import list_asked
from triage.say.hidden_state import (
    CommentState,
    hash_content,
    hash_text,
    parse_state,
)
from triage.say.job_page import render_job_page
from triage.say.notices import plan_skip
from triage.say.our_comment import post_or_edit
from triage.say.report_pages import Page, build_comment_page, render_page

MAX_WARNING_CHARS = 500


@dataclass(frozen=True)
class PlanInput:
    """What `plan_report` plans from, beside the report."""

    policy: Policy
    issue: Issue
    """As the agents read it, with the labels that it has now."""
    our_comment: IssueComment | None = None
    comment_state: CommentState | None = None
    """What our comment remembers; None without one, or if nobody can read it."""
    run_key: RunKey | None = None
    """What our comment remembers if an event started this run."""
    surplus_comment_ids: Sequence[int] = ()
    """Ids of younger comments of ours."""
    may_choose_labels: bool = True
    """Otherwise the labels of the report are not added: a person may have taken them off."""
    options: SuggestionOptions | None = None
    """What GitHub takes as suggestions; without them, the page names the labels."""

    @property
    def may_comment(self) -> bool:
        return self.issue.number is not None and self.policy.comment != "never"

    @property
    def label_mode(self) -> LabelsMode:
        """What happens to the labels of the report."""
        return self.policy.labels if self.may_choose_labels or self.policy.labels == "suggest" else "off"

    @property
    def text_hash(self) -> str:
        return hash_text(self.issue.title, self.issue.body)


def plan_report(report: RunReport, plan_input: PlanInput) -> list[Effect]:
    """Returns all effects of a report, in the order in which they are applied.

    There is a comment if `report.comment_reason` says why: `decide_comment` has decided that.
    """
    policy, our_comment, state = plan_input.policy, plan_input.our_comment, plan_input.comment_state
    suggestions: list[Suggestion] = []
    if plan_input.options and not shows_report(state, report):
        suggestions = plan_suggestions(report, policy.labels, plan_input.options, state)
    label_mode = "off" if any(one.kind == "label" for one in suggestions) else plan_input.label_mode
    page = build_comment_page(report, state, label_mode)
    comment = render_page(page, MAX_VISIBLE_UNITS) if report.comment_reason else None
    report = report.model_copy(update={"comment": comment})
    writes = list(_plan_issue_effects(report, page, plan_input, suggestions))
    says_why_no_comment = plan_input.may_comment and report.comment_reason is None
    planned = writes if policy.dry_run else None
    summary = render_job_page(report, label_mode, planned, suggestions, says_why_no_comment=says_why_no_comment)
    url = f"{report.issue.url}#issuecomment-{our_comment.comment_id}" if our_comment and report.issue.url else ""
    why = f"The triage is incomplete. {' '.join(report.notes) or 'Part of the run failed.'}"
    warning = Annotate(level="warning", message=truncate(why, MAX_WARNING_CHARS))
    return [
        *([] if policy.dry_run else writes),
        WriteReport(json_text=dump_report(report)),
        WriteJobPage(markdown=summary),
        *([warning] if report.status is Status.DEGRADED else []),
        SetOutputs(values=build_outputs(report) | {"comment-url": url}),
    ]


def _plan_issue_effects(
    report: RunReport, page: Page, plan_input: PlanInput, suggestions: Sequence[Suggestion]
) -> Iterator[Effect]:
    """Yield labels, one comment or only its hidden state, suggestions, and the surplus comments to remove."""
    number, our_comment = plan_input.issue.number, plan_input.our_comment
    if number is None:
        return
    body, remembered = our_comment.body if our_comment else "", plan_input.comment_state or CommentState()
    state = remembered.with_run(plan_input.run_key)
    if not report.comment_reason:
        yield from _plan_labels(report, number, plan_input)
    elif shows_report(plan_input.comment_state, report) and read_parts(body):
        # No labels and no suggestions: what a person removed or declined stays so. But the run counts, and the issue
        # may have another text.
        if state != remembered:
            state = state.model_copy(update={"text_hash": plan_input.text_hash})
            yield post_or_edit(number, our_comment, compose_comment(body, state, {}))
    else:
        asked = [missing.question for missing in list_asked(report)]
        state = state.with_suggestions(suggestions).with_report(report, plan_input.text_hash)
        state = state.with_labels(_list_new_labels(report, plan_input, suggestions))
        state = state.with_questions(asked, report.started_at + timedelta(seconds=report.seconds))
        yield from _plan_labels(report, number, plan_input)
        yield post_or_edit(number, our_comment, compose_comment(body, state, page))
    # Also without a new comment: the panel is there for whoever decides.
    if suggestions:
        yield SuggestChanges(issue_number=number, suggestions=list(suggestions))
    for comment_id in plan_input.surplus_comment_ids if plan_input.may_comment else ():
        yield RemoveComment(issue_number=number, comment_id=comment_id)


def shows_report(state: CommentState | None, report: RunReport) -> bool:
    """Whether our comment shows this report already."""
    return state is not None and not state.quiet and state.content_hash == hash_content(report)


def _list_new_labels(report: RunReport, plan_input: PlanInput, suggestions: Sequence[Suggestion]) -> list[str]:
    """Returns the labels that the run adds or suggests, in GitHub's panel or in the comment."""
    in_panel = [suggestion.name for suggestion in suggestions if suggestion.kind == "label"]
    if in_panel or plan_input.label_mode == "off":
        return in_panel
    return [label for label in report.ticket.labels if not plan_input.issue.has_label(label)]


def _plan_labels(report: RunReport, number: int, plan_input: PlanInput) -> Iterator[Effect]:
    """Yield the effect that adds labels of the report which the issue lacks."""
    labels = [label for label in dict.fromkeys(report.ticket.labels) if not plan_input.issue.has_label(label)]
    if plan_input.label_mode == "apply" and labels:
        yield AddLabels(issue_number=number, labels=labels)


def plan_quiet(task: QuietTask, our_comment: IssueComment | None, policy: Policy) -> list[Effect]:
    """Returns the effects of `/triage quiet` and `wrong`: our comment says less, and remembers it."""
    about = f" about {', '.join(task.wrong)}" if task.wrong else ""
    wakes = "" if task.wrong else " A comment that says `/triage` wakes it."
    done = plan_skip(f"Triage is quiet{about} on issue {task.number}.{wakes}")
    body = our_comment.body if our_comment else ""
    state = parse_state(body) or CommentState()
    if policy.dry_run or (state.quiet and not task.wrong):
        return done
    text = render_withdrawal(body, state, task.wrong) if task.wrong else render_quiet_comment(body, state)
    return [post_or_edit(task.number, our_comment, text), *done]


MAX_TITLE_CHARS = 200
_FULL_WIDTH = str.maketrans({"`": None, "@": "＠", "$": "＄"})


def dump_report(report: RunReport) -> str:
    """Returns the report as JSON. Lone surrogates, which JSON readers reject, become question marks."""
    text = json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def build_outputs(report: RunReport) -> dict[str, str]:
    """Returns the outputs of the action, without those that are known after writing. What is not set is empty."""
    ticket = report.ticket
    named = [place.span.path for one in report.statements if isinstance(one, FoundPlaces) for place in one.places]
    return {
        "status": report.status.value,
        "engine": report.engine,
        "severity": report.severity or "",
        "confidence": f"{report.confidence:.2f}",
        "verdict": report.verdict or "",
        "suspect-files": _format_json_list(list(dict.fromkeys([*named, *(one.path for one in report.suspects)]))),
        "ticket-title": _format_title(ticket.title),
        "ticket-labels": _format_json_list(ticket.labels),
        "ticket-assignee": ticket.assignee.lstrip("@"),
        "ticket-effort": ticket.effort if report.may_be_bug_by_rules else "",
        "tokens": str(report.usage.tokens),
        "cost-usd": "unknown" if report.usage.usd is None else f"{report.usage.usd:.6f}",
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
