"""Exactly one comment, whoever else writes at the same time: which stays, which goes, and when ours is not written.

Two runs may both find no comment and both post one. Ids grow, so both see the same one as the oldest, and it stays.
"""

from pydantic import Field

from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import Exchange, Issue
from triage.domain.value import Value
from triage.publish.comment import quiet_comment
from triage.publish.hidden_state import PostedState, parse, text_hash


class Settlement(Value):
    """What makes one comment of several."""

    kept: Exchange | None
    """The oldest; none when somebody has deleted all."""
    body: str | None = None
    """What it says from now on; none when it stays as it is."""
    remove: list[int] = Field(default_factory=list)
    """Ids of younger ones."""


def our_comments(issue: Issue) -> list[Exchange]:
    """Those that we wrote on this issue, with our marker and one of our logins, oldest first."""
    ours = [item for item in issue.thread if item.ours and item.body.startswith(COMMENT_MARKER)]
    return sorted((item for item in ours if item.comment_id is not None), key=lambda item: item.comment_id or 0)


def leftovers(issue: Issue) -> list[int]:
    """Ids of comments of ours beside the oldest whose state can be read: only these may be deleted."""
    return [one.comment_id for one in our_comments(issue)[1:] if one.comment_id is not None and parse(one.body)]


def settle(issue: Issue, mine: int, body: str) -> Settlement:
    """What is to be done after a comment was posted.

    Every run that sees several does it, so that a run which was killed leaves none; what another run has done already
    is done. A comment of another run that says more than the kept one is left for that run, or for the next.

    Args:
        issue: As it is after that, with all comments of ours.
        mine: The posted comment's id.
        body: Its text.
    """
    ours = our_comments(issue)
    if not ours:
        return Settlement(kept=None)
    kept, better = ours[0], _better(issue, ours[0], body)
    will_stand = parse(better or kept.body)
    present = text_hash(issue.title, issue.body)
    states = {one.comment_id: parse(one.body) for one in ours}
    remove = [one for one in leftovers(issue) if one == mine or not _worth_more(states[one], will_stand, present)]
    return Settlement(kept=kept, body=better, remove=remove)


def _worth_more(state: PostedState | None, standing: PostedState | None, present: str) -> bool:
    return state is not None and says_more(state, standing, present)


def _better(issue: Issue, kept: Exchange, body: str) -> str | None:
    """What the kept comment should say instead: ours when it says more, or that triage is quiet."""
    mine, standing = parse(body), parse(kept.body)
    if mine is None or (standing and standing.quiet):
        return None
    if mine.quiet:
        return quiet_comment(kept.body, standing or PostedState())
    return body if says_more(mine, standing, text_hash(issue.title, issue.body)) else None


def says_more(mine: PostedState, standing: PostedState | None, present: str) -> bool:
    """Whether a report is worth more than the one that stands: that is partial, or about a text that is gone.

    `present` is the hash of the issue's text as it is now.
    """
    if not mine.content:
        return False
    if standing is None or not standing.content:
        return True
    return mine.text == present != standing.text


def held_back(seen: Issue, now: Issue, before: PostedState | None, standing: PostedState | None) -> str:
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
    present = text_hash(now.title, now.body)
    if standing.text == present != text_hash(seen.title, seen.body):
        return "The comment is about the issue's present text already, and this run about an earlier one: it stays."
    return ""
