"""Decides which listed issues are triaged, and in which batches."""

from collections.abc import Sequence

from triage.backlog.backlog import ListedIssue
from triage.comment.hidden_state import hash_text, parse_state
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.task import TriageTask, Trigger
from triage.events.admission import label_skip_reason
from triage.issue.past_issue_text import make_visible
from triage.writes.deduplicate import find_our_comment

MAX_TITLE_CHARS, MAX_BODY_CHARS = 300, 6_000
"""Of an issue that others are compared with. Nine of ten have less than 4,000."""
BY_BOT = "A bot opened it."
QUIET = "`/triage quiet` was said on it."
UP_TO_DATE = "It has a comment of this action about its present text."


def find_skip_reason(issue: Issue, config: ProjectConfig, *, again: bool) -> str:
    """Returns why an issue is not triaged; empty if it is.

    With `again`, an issue is triaged although our comment is about its present text.
    """
    if issue.author_is_bot:
        return BY_BOT
    task = TriageTask(number=issue.number or 0, trigger=Trigger.REQUESTED)
    if reason := label_skip_reason(task, issue, config):
        return reason
    comment = find_our_comment(issue)
    state = parse_state(comment.body) if comment else None
    if state is None:
        return ""
    if state.quiet:
        return QUIET
    is_same = bool(state.content_hash) and state.text_hash == hash_text(issue.title, issue.body)
    return UP_TO_DATE if is_same and not again else ""


def split_batches(numbers: Sequence[int], size: int) -> list[list[int]]:
    """Returns batches of at most `size` issues, as equal as possible."""
    count = -(-len(numbers) // size)
    return [list(numbers[len(numbers) * k // count : len(numbers) * (k + 1) // count]) for k in range(count)]


def to_past_issue(listed: ListedIssue) -> PastIssue:
    """Returns an issue of the backlog as one that the others are compared with: what a person sees of it.

    Takes about a millisecond.
    """
    issue = listed.issue
    past = PastIssue(
        number=issue.number or 0,
        title=issue.title[:MAX_TITLE_CHARS],
        body=issue.body[:MAX_BODY_CHARS],
        author=issue.author,
        labels=issue.labels,
        state="closed" if issue.state == "closed" else "open",
        created_at=listed.created_at,
    )
    return make_visible(past)


def merge_past_issues(past: Sequence[PastIssue], listed: Sequence[PastIssue]) -> list[PastIssue]:
    """Returns past issues and those of the backlog, newest first. What was read as past has more fields, and stays."""
    known = {issue.number: issue for issue in listed} | {issue.number: issue for issue in past}
    return sorted(known.values(), key=lambda issue: -issue.number)
