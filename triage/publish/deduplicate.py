"""Exactly one comment, whoever else writes at the same time: which stays, which goes, and when ours is not written.

Two runs may both find no comment and both post one. Ids grow, so both see the same one as the oldest, and it stays.
"""

from pydantic import Field

from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import Issue, IssueComment
from triage.domain.value import Value
from triage.publish.comment import render_quiet_comment
from triage.publish.hidden_state import PostedState, hash_text, parse_state


class Deduplication(Value):
    """What makes one comment of several."""

    oldest: IssueComment | None
    """The oldest; none when somebody has deleted all."""
    body: str | None = None
    """What it says from now on; none when it stays as it is."""
    remove: list[int] = Field(default_factory=list)
    """Ids of younger ones."""


def find_our_comments(issue: Issue) -> list[IssueComment]:
    """Those that we wrote on this issue, with our marker and one of our logins, oldest first."""
    ours = [item for item in issue.thread if item.ours and item.body.startswith(COMMENT_MARKER)]
    return sorted((item for item in ours if item.comment_id is not None), key=lambda item: item.comment_id or 0)


def find_duplicates(issue: Issue) -> list[int]:
    """Ids of comments of ours beside the oldest whose state can be read: only these may be deleted."""
    return [
        one.comment_id for one in find_our_comments(issue)[1:] if one.comment_id is not None and parse_state(one.body)
    ]


def deduplicate(issue: Issue, mine: int, body: str) -> Deduplication:
    """What is to be done after a comment was posted.

    Every run that sees several does it, so that a run which was killed leaves none; what another run has done already
    is done. A comment of another run that says more than the kept one is left for that run, or for the next.

    Args:
        issue: As it is after that, with all comments of ours.
        mine: The posted comment's id.
        body: Its text.
    """
    ours = find_our_comments(issue)
    if not ours:
        return Deduplication(oldest=None)
    kept, better = ours[0], _replacement_body(issue, ours[0], body)
    will_stand = parse_state(better or kept.body)
    present = hash_text(issue.title, issue.body)
    states = {one.comment_id: parse_state(one.body) for one in ours}
    remove = [
        one for one in find_duplicates(issue) if one == mine or not _is_worth_keeping(states[one], will_stand, present)
    ]
    return Deduplication(oldest=kept, body=better, remove=remove)


def _is_worth_keeping(state: PostedState | None, standing: PostedState | None, present: str) -> bool:
    return state is not None and is_better(state, standing, present)


def _replacement_body(issue: Issue, kept: IssueComment, body: str) -> str | None:
    """What the kept comment should say instead: ours when it says more, or that triage is quiet."""
    mine, standing = parse_state(body), parse_state(kept.body)
    if mine is None or (standing and standing.quiet):
        return None
    if mine.quiet:
        return render_quiet_comment(kept.body, standing or PostedState())
    return body if is_better(mine, standing, hash_text(issue.title, issue.body)) else None


def is_better(mine: PostedState, standing: PostedState | None, present: str) -> bool:
    """Whether a report is worth more than the one that stands: that is partial, or about a text that is gone.

    `present` is the hash of the issue's text as it is now.
    """
    if not mine.content:
        return False
    if standing is None or not standing.content:
        return True
    return mine.text == present != standing.text


def skip_reason(seen: Issue, now: Issue, before: PostedState | None, standing: PostedState | None) -> str:
    """Why a report about the issue as it was seen is not written any more; empty when it is.

    Args:
        seen: What the report is about.
        now: The issue as GitHub shows it when the report is ready.
        before: Our comment's state when the run began.
        standing: Its state now.
    """
    if now.locked:
        return "The issue was locked meanwhile: nothing was written to it."
    if standing is None:
        return ""
    if standing.quiet and not (before and before.quiet):
        return "`/triage quiet` was said meanwhile: nothing was written to the issue."
    present = hash_text(now.title, now.body)
    if standing.text == present != hash_text(seen.title, seen.body):
        return "The comment is about the issue's present text already, and this run about an earlier one: it stays."
    return ""
