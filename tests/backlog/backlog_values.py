"""Lists and reports for the tests of the backlog."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.say.sample_reports import FULL, RULES_STEPS, change_report
from triage.backlog.backlog_files import Backlog
from triage.domain.issue import Issue
from triage.domain.past_issues import SimilarIssue
from triage.domain.report import RunReport
from triage.domain.run import Usage

NEWEST = datetime(2026, 11, 20, 9, tzinfo=UTC)


def make_backlog(*numbers: int, **fields: Any) -> Backlog:
    defaults: dict[str, Any] = {
        "repository": "acme/ledger",
        "server_url": "https://github.com",
        "query": "is:open label:bug",
        "listed_at": NEWEST,
        "issues": [list_issue(number) for number in numbers],
    }
    return Backlog(**defaults | fields)


def make_report(number: int, title: str = "It breaks", same_as: int | None = None, **fields: Any) -> RunReport:
    """A report by rules without a place, a question or a severity."""
    duplicate = SimilarIssue(number=same_as, title="The same", score=0.8, is_probably_same=True) if same_as else None
    defaults: dict[str, Any] = {
        "issue": FULL.issue.model_copy(update={"number": number, "title": title}),
        "engine": "rules",
        "steps": RULES_STEPS,
        "severity": None,
        "why": "",
        "suspects": [],
        "best_place": None,
        "missing_information": [],
        "possible_duplicate": duplicate,
        "usage": Usage(),
    }
    return change_report(FULL, **defaults | fields)


def list_issue(number: int, seconds_ago: int = 0, **fields: Any) -> Issue:
    opened_at = NEWEST - timedelta(seconds=seconds_ago)
    return Issue(**{"number": number, "title": f"Issue {number}", "author": "mona", "opened_at": opened_at} | fields)
