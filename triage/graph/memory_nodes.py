"""The nodes of memory: read the repository's past issues, then compare the issue with them."""

from typing import Any

from langgraph.runtime import Runtime

from triage.base.threads import in_thread
from triage.comment.hidden_state import parse_state
from triage.domain.code import ExecutedCode
from triage.domain.issue import EarlierQuestions, EarlierReport, Issue
from triage.domain.past_issues import PastIssue
from triage.graph.capabilities import CAPABILITIES, restrict_services
from triage.graph.step_runner import RULES_SECONDS, Step
from triage.graph.triage_state import BugTriageState
from triage.issue.kind.issue_kind import read_kind
from triage.issue.kind.severity_signs import reports_vulnerability
from triage.issue.other_issues import choose_search_words
from triage.issue.read_issue import read_issue
from triage.ports import Services
from triage.writes.comment_part import read_state
from triage.writes.deduplicate import find_our_comment

MEMORY_SHARE = 0.15
"""Of the run's time, for reading past issues. The index is built at the same time, and takes longer as a rule."""
MAX_SIMILAR = 5


async def fetch_past_issues(state: BugTriageState, runtime: Runtime[Services]) -> dict[str, Any]:
    """Read the past issues. What was read before an error or the end of the time counts."""
    services = restrict_services(runtime.context, CAPABILITIES["memory"])
    iterate = services.past_issues
    if iterate is None:
        return {}
    step = Step("memory", services)
    read: dict[int, PastIssue] = {}

    def read_pages() -> None:
        parsed = read_issue(state.issue)
        # A vulnerability is not for any log of searches.
        words = (
            "" if reports_vulnerability(parsed, state.issue.labels, is_request=False) else choose_search_words(parsed)
        )
        for page in iterate(words):
            read.update((issue.number, issue) for issue in page if issue.number != state.issue.number)

    seconds = max(1.0, services.seconds_left() * MEMORY_SHARE)
    await step.attempt("rules", lambda: in_thread(read_pages), seconds)
    past = sorted(dict(read).values(), key=lambda issue: -issue.number)
    return {"past_issues": past, "past_issue_count": len(past), "steps": step.records}


async def compare_past_issues(state: BugTriageState, runtime: Runtime[Services]) -> dict[str, Any]:
    """Compare the issue with the past ones, and find its place anew: past fixes count in it."""
    services = runtime.context
    if not state.past_issues or state.index is None:
        return {"past_issues": []}
    step = Step("recall", services)
    codebase, past, parsed = services.codebase, state.past_issues, state.parsed

    def look_back() -> dict[str, Any]:
        codebase.add_past_issues(past)
        learned = codebase.learn_from_labels(parsed, past)
        kind_reading = read_kind(parsed, state.issue.labels, learned.kinds)
        if state.kind_reading:  # what labels others put on other issues must not decide about security
            kind_reading = kind_reading.model_copy(update={"security": state.kind_reading.security})
        places = codebase.find_places(parsed)
        return {
            "similar_issues": codebase.find_similar_issues(state.issue, parsed, past, MAX_SIMILAR),
            "learned": learned,
            "kind_reading": kind_reading,
            "best_place": places.best,
            "likely_files": places.likely,
        }

    attempt = await step.attempt("rules", lambda: in_thread(look_back), RULES_SECONDS)
    return {**(attempt.result or {}), "past_issues": [], "steps": step.records}


def find_questions(issue: Issue) -> tuple[list[EarlierQuestions], str]:
    """Return what our comment has asked before it was updated, oldest first, and what it asks now."""
    comment = find_our_comment(issue)
    state = parse_state(comment.body) if comment else None
    return (state.earlier, state.questions) if state else ([], "")


def find_executed_code(issue: Issue) -> ExecutedCode | None:
    """Return what the issue's example executes, as far as our comment on it remembers a run."""
    reproduced = read_state(issue).reproduced
    return reproduced.executed_code if reproduced else None


def find_earlier_report(issue: Issue) -> EarlierReport | None:
    """Return what our comment on the issue remembered at the event.

    A run that starts again finds what it wrote itself, which would change its prompts: their answers are paid for.
    """
    comment = find_our_comment(issue)
    written = (comment.edited_at or comment.created_at) if comment else None
    if comment is None or written is None or issue.snapshot_time is None or written >= issue.snapshot_time:
        return None
    state = parse_state(comment.body)
    return EarlierReport(suspects=state.suspects, asked=state.asked) if state else None
