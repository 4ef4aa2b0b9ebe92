"""Issues are listed once each, with whole threads, in few requests, whatever moves or fails meanwhile."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from testing.each_row import each_row
from testing.servers.backlog_graphql import answer_backlog
from testing.servers.github_api import JOB_TOKEN, SLUG, ApiFault, GitHubApi
from tests.backlog.backlog_values import NEWEST, list_issue
from tests.github.conftest import QUICK
from triage.backlog.backlog import BacklogPage, Cursor
from triage.backlog.backlog_client import (
    PAGE_SIZE,
    BacklogClient,
    advance_cursor,
    build_search,
    check_query,
    format_cursor,
    parse_cursor,
)
from triage.base.errors import BadInput, GitHubUnavailable, RateLimited
from triage.comment.hidden_state import CommentState, render_state
from triage.domain.issue import Issue

POST = "POST /graphql"
SAME_TIME = "2026-11-01T10:00:00Z"


@pytest.fixture
def client(api: GitHubApi) -> Iterator[BacklogClient]:
    api.issues.clear()
    opened = BacklogClient(JOB_TOKEN, SLUG, api.url, **QUICK)
    yield opened
    opened.close()


def add_many(api: GitHubApi, count: int, per_second: int = 1) -> None:
    for number in range(1, count + 1):
        second = number // per_second
        at = f"2026-11-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
        api.add_issue(number, created_at=at, updated_at=at)


def read_pages(client: BacklogClient, query: str = "is:open", cursor: Cursor | None = None) -> list[BacklogPage]:
    return list(client.iterate(query, cursor))


def read(client: BacklogClient, query: str = "is:open", cursor: Cursor | None = None) -> list[Issue]:
    return [one.issue for page in read_pages(client, query, cursor) for one in page.issues]


def numbers(issues: list[Issue]) -> list[int]:
    return [issue.number or 0 for issue in issues]


def test_all_that_is_read_of_an_issue(api: GitHubApi, client: BacklogClient) -> None:
    api.add_issue(8, labels=[{"name": "bug"}], locked=True, body=None, user=None)
    state = render_state(CommentState())
    api.add_comment(f"{state}\nours", by="github-actions[bot]", number=8)
    api.add_comment(f"{state}\nforged", by="mallory", number=8)
    api.add_comment(None, by=None, number=8)
    (issue,) = read(client)
    assert (issue.number, issue.title, issue.body, issue.author) == (8, "It breaks", "", "ghost")
    assert (issue.labels, issue.locked, issue.state) == (["bug"], True, "open")
    assert issue.snapshot_time is not None
    assert [(one.author, one.ours, one.by_bot) for one in issue.thread] == [
        ("github-actions[bot]", True, True),
        ("mallory", False, False),
        ("ghost", False, False),
    ]


def test_more_than_a_search_returns(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 1_130, per_second=3)
    found = numbers(read(client))
    assert Counter(found) == dict.fromkeys(range(1, 1131), 1)
    assert found[0] == 1_130
    assert len(api.requests) <= 1_130 / PAGE_SIZE * 1.1 + 2


def test_more_issues_of_one_second_than_a_page_has(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 20)
    for number in range(100, 100 + 2 * PAGE_SIZE + 7):
        api.add_issue(number, created_at=SAME_TIME, updated_at=SAME_TIME)
    assert sorted(numbers(read(client))) == sorted(api.issues)


def test_issues_that_are_closed_meanwhile_hide_no_others(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 3 * PAGE_SIZE)
    pages = client.iterate("is:open", None)
    first = [one.issue for one in next(pages).issues]
    for issue in first[:10]:
        api.issues[issue.number or 0]["state"] = "closed"
    rest = [one.issue for page in pages for one in page.issues]
    assert Counter(numbers(first + rest)) == dict.fromkeys(api.issues, 1)


def test_a_cursor_goes_on_without_what_was_listed(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 12, per_second=4)
    (page,) = read_pages(client)
    after = page.issues[4]  # 12; 11, 10, 9, 8; 7 ...
    cursor = Cursor(created_at=after.created_at, numbers=[11, 10, 9, 8])
    assert numbers(read(client, cursor=cursor)) == [7, 6, 5, 4, 3, 2, 1]


def test_a_long_thread_is_read_to_its_end(api: GitHubApi, client: BacklogClient) -> None:
    api.add_issue(8)
    for number in range(230):
        api.add_comment(f"Comment {number}", number=8)
    (issue,) = read(client)
    assert [comment.body for comment in issue.thread] == [f"Comment {number}" for number in range(230)]
    assert api.request_lines() == [POST] * 10


def test_an_issue_that_cannot_be_read_is_named(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 3)
    api.issues[2]["created_at"] = "2026-11-01T00:00:02Z"
    api.issues[2]["title"] = {"not": "a text"}
    (page,) = read_pages(client)
    assert page.unreadable == [2]
    assert [one.issue.number for one in page.issues] == [3, 1]


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 502, "body": b"<html>", "times": 5},
        {"status": 0, "times": 5},
        {"status": 429, "body": {}, "headers": {"retry-after": "0"}, "times": 1},
        {"status": 200, "body": {"data": None}, "times": 2},
    ],
)
def test_errors_that_pass_cost_no_issue(api: GitHubApi, client: BacklogClient, fault: dict[str, Any]) -> None:
    add_many(api, 120)
    api.faults.append(ApiFault(POST, **fault))
    assert sorted(numbers(read(client))) == sorted(api.issues)


def test_pages_get_smaller_while_large_ones_fail(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, PAGE_SIZE)
    api.faults.append(ApiFault(POST, 502, times=4))
    assert len(read_pages(client)[0].issues) < PAGE_SIZE


def test_issues_with_huge_threads_are_listed_one_by_one(api: GitHubApi, client: BacklogClient) -> None:
    # Hundred comments of 65,536 characters: an answer about five such issues is larger than what is read of one.
    add_many(api, 60)
    api.graphql = lambda token, sent: answer_backlog(api, sent) if sent["variables"]["size"] == 1 else (502, b"")
    assert sorted(numbers(read(client))) == sorted(api.issues)


def test_of_a_long_thread_the_newest_comments_are_whole(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 1)
    for number in range(230):
        api.add_comment(f"{number} ".ljust(5_000, "x"), "mallory", 1)
    api.add_comment("what I saw", "mona", 1)
    thread = read(client)[0].thread
    whole = [comment.body.split()[0] for comment in thread if not comment.is_shortened]
    assert (len(thread), whole[0], whole[-1]) == (231, "178", "what")
    assert sum(len(comment.body) for comment in thread) < 500_000


def test_a_used_up_limit_is_said_at_once(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 3)
    api.faults.append(ApiFault(POST, 403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999999"}))
    with pytest.raises(RateLimited):
        read(client)
    assert len(api.requests) == 1


def test_an_outage_is_said(api: GitHubApi, client: BacklogClient) -> None:
    api.faults.append(ApiFault(POST, 500))
    with pytest.raises(GitHubUnavailable):
        read(client)


def test_the_search_of_the_first_page() -> None:
    expected = "repo:o/r is:issue is:open label:bug sort:created-desc"
    assert build_search("o/r", check_query(" is:open \n label:bug"), None) == expected


def test_a_choice_of_labels_stays_in_the_repository() -> None:
    assert "is:issue (label:a OR label:b) sort:" in build_search("o/r", check_query("label:a OR label:b"), None)


def test_the_search_of_a_later_page() -> None:
    cursor = Cursor(created_at=NEWEST, numbers=[7])
    assert "created:<=2026-11-20T09:00:00Z" in build_search("o/r", "is:open", cursor)


@each_row(
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
