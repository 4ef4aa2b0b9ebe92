"""Builds past issues."""

from datetime import UTC, datetime, timedelta
from typing import Any

from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue

START = datetime(2026, 1, 1, tzinfo=UTC)
SUBJECTS = (
    "Exporting a ledger as PDF drops the last page",
    "Login with a hardware key hangs in Firefox",
    "Dark theme makes the date picker unreadable",
    "Importing a CSV file with semicolons loses the header",
    "Timezone of recurring invoices is off by one hour",
    "Search ignores accents in customer names",
    "Webhooks are delivered twice after a restart",
    "Rounding of Swiss francs differs between report and invoice",
    "Attachments above ten megabytes fail to upload",
    "Keyboard shortcut for duplicate row does nothing",
)


def past_issue(number: int, title: str, body: str = "", **changes: Any) -> PastIssue:
    return PastIssue(number=number, title=title, body=body, created_at=START + timedelta(days=number), **changes)


def past_issues(count: int = 10, template: str = "") -> list[PastIssue]:
    """Issues 1 to `count`, each about something else, all with the text of the template."""
    return [
        past_issue(number, f"{SUBJECTS[number % 10]} ({number // 10})", f"{template}\nSeen with topic{number}.")
        for number in range(1, count + 1)
    ]


def new_issue(title: str, body: str = "", number: int | None = 100) -> Issue:
    return Issue(number=number, title=title, body=body, snapshot_time=START + timedelta(days=100))
