"""Decides what a report changes on the issue: the comment and the labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    RemoveLabel,
    Suggestion,
)
from triage.domain.issue import Issue, IssueComment
from triage.domain.report import RunReport
from triage.domain.task import RunKey


@dataclass(frozen=True)
class Target:
    """The issue that is written to."""

    issue: Issue
    number: int
    previous: IssueComment | None = None
    """Our comment on it."""
    run: RunKey | None = None
    """What the comment remembers if an event started this run."""
    remembers_labels: bool = True
    """Otherwise an earlier run may have added labels, and no comment says which."""
    needs_info_label: str = ""


def plan_issue_effects(
    report: RunReport, page: Page, policy: Policy, target: Target, suggestions: Sequence[Suggestion]
) -> list[Effect]:
    """Returns the comment and the labels of a report. Without `report.comment_reason` there is no comment."""
    if not report.comment_reason:
        return list(_plan_labels(report, policy, target))
    if target.previous and says_nothing_new(report, target.previous):
        # No labels and no suggestions: what a person removed or declined stays so.
        return list(_plan_count(target.previous, target))
    return list(_plan_comment(report, page, policy, target, suggestions))


def plan_partial_comment(report: RunReport, page: Page, target: Target) -> list[Effect]:
    """Returns the comment of a cancelled run, which the next run replaces."""
    state = next_state(report, CommentState().with_run(target.run), None)
    return [PostComment(issue_number=target.number, body=render_comment(page, state))]


def says_nothing_new(report: RunReport, previous: IssueComment | None) -> bool:
    """Whether our comment shows this report already."""
    known = parse_state(previous.body) if previous else None
    return known is not None and not known.quiet and known.content_hash == hash_content(report)


def _plan_count(previous: IssueComment, target: Target) -> Iterator[Effect]:
    # Nothing new for a reader, but the run counts, and the issue may have another text.
    state = parse_state(previous.body) or CommentState()
    state_with_run = state.with_run(target.run)
    if state_with_run != state:
        text = hash_text(target.issue.title, target.issue.body)
        first_line = render_state(state_with_run.model_copy(update={"text_hash": text}))
        visible = previous.body.partition("\n")[2]
        yield post_or_edit(target.number, previous, f"{first_line}\n{visible}")


def _plan_comment(
    report: RunReport, page: Page, policy: Policy, target: Target, suggestions: Sequence[Suggestion]
) -> Iterator[Effect]:
    known = (parse_state(target.previous.body) if target.previous else None) or CommentState()
    asks = bool(report.missing_information)
    label_plan = plan_needs_info(target.needs_info_label, policy.labels, target.issue, known.needs_info, asks=asks)
    text = hash_text(target.issue.title, target.issue.body)
    state = next_state(report, known.with_run(target.run).with_suggestions(suggestions), text)
    state = state.model_copy(update={"needs_info": label_plan.state})
    state = state.with_labels(_list_new_labels(report, policy, target, suggestions))
    if label_plan.removes:
        # Before the comment: if that cannot be written then, it still says that the label was ours.
        yield RemoveLabel(issue_number=target.number, label=target.needs_info_label)
    body = render_comment(page, state, target.previous.body if target.previous else "")
    yield post_or_edit(target.number, target.previous, body)
    yield from _plan_labels(report, policy, target, [target.needs_info_label] if label_plan.adds else [])


def _list_new_labels(report: RunReport, policy: Policy, target: Target, suggestions: Sequence[Suggestion]) -> list[str]:
    """Returns the labels that the run adds or suggests, in GitHub's panel or in the comment."""
    in_panel = [suggestion.name for suggestion in suggestions if suggestion.kind == "label"]
    if in_panel or policy.labels == "off":
        return in_panel
    existing = {label.casefold() for label in target.issue.labels}
    return [label for label in report.ticket.labels if label.casefold() not in existing]


def _plan_labels(report: RunReport, policy: Policy, target: Target, waiting: Sequence[str] = ()) -> Iterator[Effect]:
    existing = {label.casefold() for label in [*target.issue.labels, target.needs_info_label]}
    # What a person took off is not added again.
    wanted = dict.fromkeys(report.ticket.labels) if target.remembers_labels else []
    labels = [*(label for label in wanted if label.casefold() not in existing), *waiting]
    if policy.labels == "apply" and labels:
        yield AddLabels(issue_number=target.number, labels=labels)


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
