"""Builds searches for the issues of a backlog, newest first, without a limit on how many there are.

GitHub's search returns at most 1,000 results, and its pages shift when issues are closed meanwhile. So each page is a
search of its own, for the issues that are at most as new as the last one found.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from triage.backlog.backlog import Cursor, ListedIssue
from triage.base.errors import BadInput

MAX_QUERY_CHARS = 200
MAX_CURSOR_CHARS = 2_000
_REFUSED = re.compile(r"(?:^|[\s(-])((?:repo|org|user|sort|created|type):|is:(?:pr|pull-request|issue)\b)", re.I)
_CURSOR = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)((?:/[1-9]\d{0,9})*)", re.ASCII)


def check_query(query: str) -> str:
    """Returns a search of GitHub on one line. Raises BadInput for what the list itself sets."""
    text = " ".join(query.split())
    if len(text) > MAX_QUERY_CHARS or not text.isprintable():
        raise BadInput(f"The query must be one line of at most {MAX_QUERY_CHARS} characters.")
    if found := _REFUSED.search(text):
        raise BadInput(
            f"The query must not have `{found[1]}`: the list sets it. Take fewer issues with a limit, or choose them "
            "by label, milestone, assignee or `updated:`."
        )
    return text


def build_search(slug: str, query: str, cursor: Cursor | None) -> str:
    """Returns the search for a checked query, from a cursor on."""
    wanted = f"({query})" if re.search(r"\b(OR|AND|NOT)\b", query) else query
    until = f"created:<={cursor.created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if cursor else ""
    return " ".join(filter(None, [f"repo:{slug} is:issue", wanted, until, "sort:created-desc"]))


def advance_cursor(cursor: Cursor | None, issues: Sequence[ListedIssue]) -> Cursor | None:
    """Returns the cursor after these issues, which were listed from `cursor` on."""
    if not issues:
        return cursor
    last = min(issue.created_at for issue in issues)
    same = [issue.issue.number or 0 for issue in issues if issue.created_at == last]
    earlier = cursor.numbers if cursor and cursor.created_at == last else []
    return Cursor(created_at=last, numbers=list(dict.fromkeys([*earlier, *same])))


def format_cursor(cursor: Cursor | None) -> str:
    if cursor is None:
        return ""
    return f"{cursor.created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" + "".join(f"/{n}" for n in cursor.numbers)


def parse_cursor(text: str) -> Cursor | None:
    """Returns the cursor that `format_cursor` wrote; None for an empty text. Raises BadInput."""
    if not text.strip():
        return None
    found = _CURSOR.fullmatch(text.strip()[:MAX_CURSOR_CHARS])
    try:
        at = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) if found else None
    except ValueError:
        at = None
    if found is None or at is None:
        raise BadInput("The cursor must be one that a list printed, such as 2026-01-31T09:00:00Z/123.")
    return Cursor(created_at=at, numbers=[int(number) for number in found[2].split("/") if number])
