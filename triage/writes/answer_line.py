"""The line of our comment that answers the last command, and the comments that have it."""

from triage.comment.comment import join_comment, split_comment
from triage.comment.hidden_state import MAX_APPLIED, CommentState, parse_state, render_state
from triage.comment.template import render_block
from triage.domain.effect import EditComment
from triage.domain.issue import IssueComment
from triage.domain.proposal import SuggestionProposal
from triage.writes.plan_suggestions import to_suggestions
from triage.writes.suggestion_proposal import remove_suggestions


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
        state_line=render_state(state), report=remove_suggestions(parts.report, proposal), answer=answer
    )
    return EditComment(issue_number=number, comment_id=comment.comment_id or 0, body=join_comment(parts))
