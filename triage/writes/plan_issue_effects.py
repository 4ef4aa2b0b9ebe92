"""Decides what a report changes on the issue: the comment and the labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from triage.comment.comment import render_comment
from triage.comment.hidden_state import (
    CommentState,
    NeedsInfo,
    hash_content,
    hash_text,
    next_state,
    parse_state,
    render_state,
)
from triage.comment.sections import Page
from triage.domain.effect import (
    AddLabels,
    EditComment,
    Effect,
    LabelsMode,
    Policy,
    PostComment,
    RemoveComment,
    RemoveLabel,
    SuggestChanges,
    Suggestion,
    SuggestionOptions,
)
from triage.domain.issue import Issue, IssueComment, Repository
from triage.domain.report import RunReport
from triage.domain.task import RunKey


@dataclass(frozen=True)
class PlanInput:
    """What decides, beside the report, what is written."""

    policy: Policy
    issue: Issue
    """As the agents read it, with the labels that it has now."""
    repository: Repository
    """`commit` is the one that git has indexed; `labels` are those that the project's settings allow."""
    previous: IssueComment | None = None
    """Our comment on the issue."""
    paths: Sequence[str] = ()
    """All files of the commit."""
    run_key: RunKey | None = None
    """What our comment remembers if an event started this run."""
    duplicates: Sequence[int] = ()
    """Ids of younger comments of ours."""
    is_cancelled: bool = False
    """The report is what a cancelled run had found by then."""
    is_skipped: bool = False
    """Nothing is written to the issue. The report's notes say why."""
    may_label: bool = True
    """Otherwise an earlier run may have added labels, and no comment says which."""
    needs_info_label: str = ""
    options: SuggestionOptions | None = None
    """What GitHub takes as suggestions; without them, the page names the labels."""

    @property
    def may_write(self) -> bool:
        return self.policy.comment != "never" and not self.is_skipped and self.issue.number is not None

    @cached_property
    def previous_state(self) -> CommentState | None:
        return parse_state(self.previous.body) if self.previous else None

    @property
    def text_hash(self) -> str:
        return hash_text(self.issue.title, self.issue.body)


def plan_issue_effects(
    report: RunReport, page: Page, given: PlanInput, suggestions: Sequence[Suggestion]
) -> Iterator[Effect]:
    """Yields what is written to the issue. Without `report.comment_reason` there is no comment."""
    number = given.issue.number
    if number is None or not given.may_write:
        return
    if given.is_cancelled:  # the next run replaces it
        if report.comment_reason:
            state = next_state(report, CommentState().with_run(given.run_key), None)
            yield PostComment(issue_number=number, body=render_comment(page, state))
        return
    if not report.comment_reason:
        yield from _plan_labels(report, number, given)
    elif given.previous and says_nothing_new(report, given.previous_state):
        # No labels and no suggestions: what a person removed or declined stays so.
        yield from _plan_count(number, given.previous, given)
    else:
        yield from _plan_comment(report, page, number, given, suggestions)
    # Also without a new comment: the panel is there for whoever decides.
    if suggestions:
        yield SuggestChanges(issue_number=number, suggestions=list(suggestions))
    for comment in given.duplicates:
        yield RemoveComment(issue_number=number, comment_id=comment)


def says_nothing_new(report: RunReport, previous: CommentState | None) -> bool:
    """Whether our comment shows this report already."""
    return previous is not None and not previous.quiet and previous.content_hash == hash_content(report)


def _plan_count(number: int, previous: IssueComment, given: PlanInput) -> Iterator[Effect]:
    # Nothing new for a reader, but the run counts, and the issue may have another text.
    state = given.previous_state or CommentState()
    state_with_run = state.with_run(given.run_key)
    if state_with_run != state:
        first_line = render_state(state_with_run.model_copy(update={"text_hash": given.text_hash}))
        visible = previous.body.partition("\n")[2]
        yield post_or_edit(number, previous, f"{first_line}\n{visible}")


def _plan_comment(
    report: RunReport, page: Page, number: int, given: PlanInput, suggestions: Sequence[Suggestion]
) -> Iterator[Effect]:
    before = given.previous_state or CommentState()
    asks = bool(report.missing_information)
    label_plan = plan_needs_info(given.needs_info_label, given.policy.labels, given.issue, before.needs_info, asks=asks)
    state = next_state(report, before.with_run(given.run_key).with_suggestions(suggestions), given.text_hash)
    state = state.model_copy(update={"needs_info": label_plan.state})
    state = state.with_labels(_list_new_labels(report, given, suggestions))
    if label_plan.removes:
        # Before the comment: if that cannot be written then, it still says that the label was ours.
        yield RemoveLabel(issue_number=number, label=given.needs_info_label)
    body = render_comment(page, state, given.previous.body if given.previous else "")
    yield post_or_edit(number, given.previous, body)
    yield from _plan_labels(report, number, given, [given.needs_info_label] if label_plan.adds else [])


def _list_new_labels(report: RunReport, given: PlanInput, suggestions: Sequence[Suggestion]) -> list[str]:
    """Returns the labels that the run adds or suggests, in GitHub's panel or in the comment."""
    in_panel = [suggestion.name for suggestion in suggestions if suggestion.kind == "label"]
    if in_panel or given.policy.labels == "off":
        return in_panel
    return [label for label in report.ticket.labels if not given.issue.has_label(label)]


def _plan_labels(report: RunReport, number: int, given: PlanInput, waiting: Sequence[str] = ()) -> Iterator[Effect]:
    existing = {label.casefold() for label in [*given.issue.labels, given.needs_info_label]}
    # What a person took off is not added again.
    wanted = dict.fromkeys(report.ticket.labels) if given.may_label else []
    labels = [*(label for label in wanted if label.casefold() not in existing), *waiting]
    if given.policy.labels == "apply" and labels:
        yield AddLabels(issue_number=number, labels=labels)


def post_or_edit(number: int, previous: IssueComment | None, body: str) -> PostComment | EditComment:
    if previous is None or previous.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=previous.comment_id, body=body)


class LabelPlan(NamedTuple):
    adds: bool
    removes: bool
    state: NeedsInfo
    """What the comment remembers from now on."""


def plan_needs_info(label: str, mode: LabelsMode, issue: Issue, state: NeedsInfo, *, asks: bool) -> LabelPlan:
    """Returns what happens to the label of an issue. Without a label, or unless labels are applied, nothing."""
    if not label or mode != "apply":
        return LabelPlan(adds=False, removes=False, state=state)
    has_label = issue.has_label(label)
    if not asks:
        return LabelPlan(adds=False, removes=state == "added" and has_label, state="")
    if state or has_label:
        return LabelPlan(adds=False, removes=False, state="removed" if state and not has_label else state)
    return LabelPlan(adds=True, removes=False, state="added")
