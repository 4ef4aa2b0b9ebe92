"""Plans how our comment shows a proposed patch, and the answer to the last command."""

from collections.abc import Sequence

from triage.comment.comment_parts import CommentParts, join_comment, split_comment
from triage.comment.hidden_state import CommentState, parse_state, render_state
from triage.comment.sections import utf16_length
from triage.domain.effect import EditComment, PostComment
from triage.domain.issue import Issue
from triage.domain.proposal import ProposalTests
from triage.writes.deduplicate import find_our_comment

MAX_BODY_UNITS = 65_000
"""GitHub accepts 65,536 characters, and may count otherwise than we do."""
CUT_REPORT = "_The report was cut to make room for the proposal. A comment that says_ `/triage` _writes it again._"


def shows_proposal(issue: Issue) -> bool:
    """Whether our comment shows a patch that waits for an answer."""
    return bool(read_shown_commit(issue))


def read_shown_commit(issue: Issue) -> str:
    """Return the last commit of the patch that our comment shows; empty without one."""
    comment = find_our_comment(issue)
    state = parse_state(comment.body) if comment else None
    return state.proposal if state else ""


def plan_proposal_part(
    issue: Issue, proposal: str, *, commit: str = "", tests: ProposalTests = ""
) -> Sequence[PostComment | EditComment]:
    """Return the comment that shows this part and answers no command any more; a new one if there is none."""
    number = issue.number or 0
    comment = find_our_comment(issue)
    state = (parse_state(comment.body) if comment else None) or CommentState()
    line = render_state(state.model_copy(update={"proposal": commit, "tests": tests}))
    if comment is None or comment.comment_id is None:
        return [PostComment(issue_number=number, body=join_comment(CommentParts(line, "", proposal)))]
    parts = split_comment(comment.body)._replace(state_line=line, proposal=proposal, answer="")
    return [EditComment(issue_number=number, comment_id=comment.comment_id, body=_fit(parts))]


def plan_answer_part(issue: Issue, answer: str) -> Sequence[EditComment]:
    """Return the comment with this answer; nothing if there is no comment of ours."""
    comment = find_our_comment(issue)
    if comment is None or comment.comment_id is None:
        return []
    body = _fit(split_comment(comment.body)._replace(answer=answer))
    return [EditComment(issue_number=issue.number or 0, comment_id=comment.comment_id, body=body)]


def _fit(parts: CommentParts) -> str:
    body = join_comment(parts)
    return body if utf16_length(body) <= MAX_BODY_UNITS else join_comment(parts._replace(report=CUT_REPORT))
