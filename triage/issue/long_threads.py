"""Which comments of a long thread stay whole. Strangers may write as many as they like, and as long ones."""

from collections.abc import Sequence

from triage.domain.issue import IssueComment

MAX_COMMENTS = 100
MAX_CHARS = 262_144
"""Four of the longest comments that GitHub takes. Reading them takes two seconds at most (measured)."""
SHORTENED_CHARS = 1_000
"""A command stands on the first line."""


def shorten_thread(thread: Sequence[IssueComment], reporter: str) -> list[IssueComment]:
    """Return the thread, whose order is oldest first, with the newest comments whole.

    At most `MAX_COMMENTS` comments with `MAX_CHARS` by the reporter stay whole, as many by all other people together,
    and all of ours. Of the rest the first characters stay. A bot's comments are not read, so they need none.
    """
    room = {True: (MAX_COMMENTS, MAX_CHARS), False: (MAX_COMMENTS, MAX_CHARS)}
    kept: list[IssueComment] = []
    for comment in reversed(thread):
        is_reporter = comment.author == reporter
        number, chars = room[is_reporter]
        if comment.ours or comment.is_shortened:
            kept.append(comment)
        elif not comment.by_bot and number and len(comment.body) <= chars:
            room[is_reporter] = number - 1, chars - len(comment.body)
            kept.append(comment)
        else:
            update = {"body": comment.body[:SHORTENED_CHARS], "is_shortened": True}
            kept.append(comment.model_copy(update=update))
    return kept[::-1]
