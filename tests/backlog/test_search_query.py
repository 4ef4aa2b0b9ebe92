"""Searches begin where the last page ended, and users cannot break the paging."""

import pytest

from tests.backlog.backlog_values import NEWEST, list_issue
from triage.backlog.backlog import Cursor
from triage.backlog.search_query import advance_cursor, build_search, check_query, format_cursor, parse_cursor
from triage.base.errors import BadInput


def test_the_search_of_the_first_page() -> None:
    expected = "repo:o/r is:issue is:open label:bug sort:created-desc"
    assert build_search("o/r", check_query(" is:open \n label:bug"), None) == expected


def test_a_choice_of_labels_stays_in_the_repository() -> None:
    assert "is:issue (label:a OR label:b) sort:" in build_search("o/r", check_query("label:a OR label:b"), None)


def test_the_search_of_a_later_page() -> None:
    cursor = Cursor(created_at=NEWEST, numbers=[7])
    assert "created:<=2026-11-20T09:00:00Z" in build_search("o/r", "is:open", cursor)


@pytest.mark.parametrize(
    "query",
    ["repo:a/b", "is:open (repo:a/b)", "-ORG:x", "sort:updated", "created:>2020-01-01", "is:pr", "type:pr", "x" * 201],
)
def test_what_a_query_must_not_have(query: str) -> None:
    with pytest.raises(BadInput):
        check_query(query)


def test_a_query_may_name_what_looks_alike() -> None:
    assert check_query('label:"type: bug" updated:>2026-01-01') == 'label:"type: bug" updated:>2026-01-01'


def test_a_cursor_has_all_issues_of_its_second() -> None:
    first = advance_cursor(None, [list_issue(9), list_issue(8, 1), list_issue(7, 1)])
    assert format_cursor(first) == "2026-11-20T08:59:59Z/8/7"
    assert advance_cursor(first, [list_issue(6, 1)]) == Cursor(created_at=first.created_at, numbers=[8, 7, 6])  # type: ignore[union-attr]
    assert advance_cursor(first, []) == first


def test_a_cursor_is_read_as_it_was_written() -> None:
    cursor = Cursor(created_at=NEWEST, numbers=[12, 3])
    assert parse_cursor(format_cursor(cursor)) == cursor
    assert parse_cursor(" ") is None
    assert format_cursor(None) == ""


@pytest.mark.parametrize("text", ["12", "2026-13-40T00:00:00Z", "2026-11-20T09:00:00Z/x", "2026-11-20T09:00:00Z/0"])
def test_a_cursor_that_nobody_wrote(text: str) -> None:
    with pytest.raises(BadInput, match="cursor"):
        parse_cursor(text)
