"""Keeps one comment per issue when several runs write at the same time, plans its parts, and decides when not to write.

Two runs may both find no comment and both post one. Comment ids grow, so both runs agree on the oldest, which stays.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from triage.domain.effect import COMMENT_MARKER, EditComment, PostComment
from triage.domain.issue import Issue, IssueComment
from triage.say.comment import compose_comment, render_quiet_comment
from triage.say.hidden_state import CommentState, PartName, hash_text, parse_state


def find_our_comment(issue: Issue) -> IssueComment | None:
    return next(iter(find_our_comments(issue)), None)


def find_our_comments(issue: Issue) -> list[IssueComment]:
    """Returns the comments with our marker by one of our logins, oldest first. All have an id."""
    ours = [comment for comment in issue.thread if comment.ours and comment.body.startswith(COMMENT_MARKER)]
    return sorted((comment for comment in ours if comment.comment_id), key=lambda comment: comment.comment_id or 0)


def check_still_wanted(
    issue_read: Issue, issue_now: Issue, state_before: CommentState | None, state_now: CommentState | None
) -> str:
    """Returns why a report about `issue_read` is not written to the issue as it is now; empty if it is."""
    if issue_now.locked:
        return "The issue was locked meanwhile: nothing was written to it."
    if state_now is None:
        return ""
    if state_now.quiet and not (state_before and state_before.quiet):
        return "`/triage quiet` was said meanwhile: nothing was written to the issue."
    current_text = hash_text(issue_now.title, issue_now.body)
    if state_now.text_hash == current_text != hash_text(issue_read.title, issue_read.body):
        return (
            "The comment already covers the current text of the issue. This run read an older one: nothing was changed."
        )
    return ""


def find_surplus_comments(issue: Issue, body: str = "", posted_id: int = 0) -> list[int]:
    """Returns the ids of our comments after the oldest, except those with an unreadable state, which nobody deletes.

    `body` is what the oldest says from now on: a better comment stays for the run that made it, or for the next. Not
    that of this run, `posted_id`.
    """
    current, text = parse_state(body), hash_text(issue.title, issue.body)
    states = ((comment.comment_id or 0, parse_state(comment.body)) for comment in find_our_comments(issue)[1:])
    return [
        one for one, state in states if state and (not body or one == posted_id or not is_better(state, current, text))
    ]


def choose_body(issue: Issue, oldest: IssueComment, posted_body: str) -> str | None:
    """Returns the new text of our oldest comment after another one was posted; None if it stays as it is."""
    posted, current = parse_state(posted_body), parse_state(oldest.body)
    if posted is None or (current and current.quiet):
        return None
    if posted.quiet:
        return render_quiet_comment(oldest.body, current or CommentState())
    return posted_body if is_better(posted, current, hash_text(issue.title, issue.body)) else None


def is_better(candidate: CommentState, current: CommentState | None, current_text: str) -> bool:
    """Whether the candidate should replace the current report: that one is partial, or about an older text."""
    if not candidate.content_hash:
        return False
    if current is None or not current.content_hash:
        return True
    return candidate.text_hash == current_text != current.text_hash


def read_comment_state(issue: Issue) -> CommentState:
    """Return what our comment on the issue remembers; nothing without a comment."""
    comment = find_our_comment(issue)
    return (parse_state(comment.body) if comment else None) or CommentState()


def plan_comment_parts(
    issue: Issue, parts: Mapping[PartName, str], remembered: Mapping[str, Any], links: Sequence[str] = ()
) -> PostComment | EditComment:
    """Return the comment with these parts; a new one if there is none.

    `remembered` are fields of its hidden state, and `links` all that the parts may link to.
    """
    comment = find_our_comment(issue)
    state = read_comment_state(issue).model_copy(update=dict(remembered))
    body = compose_comment(comment.body if comment else "", state, parts, links)
    return post_or_edit(issue.number or 0, comment, body)


def post_or_edit(number: int, comment: IssueComment | None, body: str) -> PostComment | EditComment:
    """Return the effect that lets our comment have this body. `comment` is the one on the issue."""
    if comment is None or comment.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=comment.comment_id, body=body)
