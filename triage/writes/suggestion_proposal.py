"""Suggestions that a person applies with a command, where GitHub has no panel for them.

A visible line of our comment names them, and its hidden second line has them as canonical JSON: what is carried out.
Another line answers the last command.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from triage.approval.proposal_id import compute_proposal_id, dump_canonical
from triage.comment.comment import FROZEN_CLOSE, FROZEN_OPEN, join_comment, split_comment
from triage.comment.hidden_state import MAX_APPLIED, CommentState, hash_text, parse_state, render_state
from triage.comment.template import render_block
from triage.domain.effect import EditComment, LabelsMode, Suggestion, SuggestionOptions
from triage.domain.issue import Issue, IssueComment
from triage.domain.proposal import SuggestionProposal
from triage.domain.report import RunReport
from triage.safety.safe_markdown import format_code_span
from triage.writes.plan_suggestions import plan_suggestions, to_suggestions

MAX_FROZEN_CHARS = 4_000


def plan_proposal(
    report: RunReport, mode: LabelsMode, issue: Issue, options: SuggestionOptions | None, previous: CommentState | None
) -> SuggestionProposal | None:
    """Return what our comment proposes; None if nothing is, or if GitHub's own panel has it."""
    if issue.number is None or "/" not in report.repository or (options and options.can_suggest):
        return None
    present = {label.casefold() for label in issue.labels}
    free = [label for label in report.ticket.labels if label.casefold() not in present]
    # Where GitHub does not say what is possible, labels are left: they are read from the repository.
    options = options or SuggestionOptions(can_suggest=False, labels=free)
    return build_proposal(report, issue, plan_suggestions(report, mode, options, previous))


def build_proposal(report: RunReport, issue: Issue, wanted: Sequence[Suggestion]) -> SuggestionProposal | None:
    # What the comment cannot show as it is, nobody can approve.
    wanted = [one for one in wanted if one.name in format_code_span(one.name)]
    if not wanted:
        return None
    return SuggestionProposal(
        repository=report.repository,
        issue=issue.number or 0,
        issue_text=hash_text(issue.title, issue.body),
        created_at=report.started_at.replace(microsecond=0),
        labels=[one.name for one in wanted if one.kind == "label"],
        issue_type=next((one.name for one in wanted if one.kind == "type"), ""),
        assignee=next((one.name for one in wanted if one.kind == "assignee"), ""),
    )


def render_suggestions(proposal: SuggestionProposal) -> str:
    """Return what the comment shows: the suggestions and the commands."""
    return render_block("blocks", "suggestions", proposal, compute_proposal_id(proposal))


def freeze_suggestions(proposal: SuggestionProposal) -> str:
    """Return the hidden line with what is carried out. No name in it can end the HTML comment."""
    text = dump_canonical(proposal).replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
    return FROZEN_OPEN + text + FROZEN_CLOSE


def find_proposal(body: str) -> SuggestionProposal | None:
    """Return the proposal in our comment; None unless the comment shows and freezes it exactly as we write it."""
    parts = split_comment(body)
    if not parts.frozen or len(parts.frozen) > MAX_FROZEN_CHARS:
        return None
    try:
        proposal = SuggestionProposal.model_validate_json(
            parts.frozen.removeprefix(FROZEN_OPEN).removesuffix(FROZEN_CLOSE)
        )
    except ValidationError:
        return None
    is_ours = freeze_suggestions(proposal) == parts.frozen and render_suggestions(proposal) in parts.report
    return proposal if is_ours else None


def describe_proposal(proposal: SuggestionProposal) -> str:
    """Return what a proposal changes, in safe Markdown."""
    return render_block("blocks", "suggested_changes", proposal)


def remove_suggestions(report: str, proposal: SuggestionProposal) -> str:
    """Return what our comment shows without these suggestions, which were applied or rejected."""
    head, found, tail = report.partition(render_suggestions(proposal))
    return f"{head.rstrip()}\n\n{tail.lstrip()}" if found else report


def render_answer(command: str, actor: str, text: str) -> str:
    """Return one line of Markdown. `text` is inert; command and actor may be anything."""
    return render_block("proposal", "answer", command, actor, text)


def plan_answer(number: int, comment: IssueComment, answer: str) -> EditComment:
    """Return the edit that puts an answer into our comment. Everything else stays."""
    parts = split_comment(comment.body)._replace(answer=answer)
    return EditComment(issue_number=number, comment_id=comment.comment_id or 0, body=join_comment(parts))


def plan_decided(
    number: int, comment: IssueComment, answer: str, proposal: SuggestionProposal, applied_id: str = ""
) -> EditComment:
    """Return the edit that also takes decided suggestions out, and remembers them.

    `applied_id` is the id of the proposal if it was applied.
    """
    state = (parse_state(comment.body) or CommentState()).with_suggestions(to_suggestions(proposal))
    if applied_id:
        state = state.model_copy(update={"applied": [*state.applied, applied_id][-MAX_APPLIED:]})
    parts = split_comment(comment.body)
    parts = parts._replace(
        state_line=render_state(state), frozen="", report=remove_suggestions(parts.report, proposal), answer=answer
    )
    return EditComment(issue_number=number, comment_id=comment.comment_id or 0, body=join_comment(parts))
