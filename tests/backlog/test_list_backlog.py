"""Issues are listed with whole threads, in few requests, whatever fails meanwhile."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.apps import make_app
from testing.each_row import each_row
from testing.fakes import NOW, FakeProgressLog
from testing.servers.github_api import JOB_TOKEN, SLUG, ApiFault, GitHubApi
from tests.backlog.backlog_values import NEWEST, list_issue
from tests.outside.github.conftest import QUICK
from triage.app.settings.inputs import Settings
from triage.backlog.backlog_files import MAX_ISSUES, Backlog, LeftOut
from triage.backlog.list_backlog import (
    BY_BOT,
    MAX_QUERY_CHARS,
    NO_PAST,
    PAGE_SIZE,
    BacklogClient,
    check_issue,
    check_query,
    complete_query,
    continue_query,
    list_backlog,
)
from triage.base.errors import BadInput, GitHubUnavailable, RateLimited
from triage.domain.issue import Issue
from triage.domain.past_issues import PastFix, PastIssue
from triage.domain.project_config import ProjectConfig
from triage.outside.github.read_past_issues import MAX_BODY_CHARS
from triage.say.hidden_state import CommentState, render_state

POST = "POST /graphql"
UNTIL = "created:<=2026-11-20T09:00:00Z"


@pytest.fixture
def client(api: GitHubApi) -> BacklogClient:
    api.issues.clear()
    return BacklogClient(JOB_TOKEN, SLUG, api.url, **QUICK)


def add_many(api: GitHubApi, count: int) -> None:
    for number in range(1, count + 1):
        at = f"2026-11-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        api.add_issue(number, created_at=at, updated_at=at)


def read(client: BacklogClient, query: str = "is:open") -> list[Issue]:
    return [one for page, _ in client.iterate(query) for one in page]


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


def test_as_many_as_a_search_returns_newest_first(api: GitHubApi, client: BacklogClient) -> None:
    add_many(api, 1_130)
    assert numbers(read(client)) == list(range(1_130, 130, -1))
    assert len(api.requests) == 1_000 / PAGE_SIZE
    assert {total for _, total in client.iterate("is:open")} == {1_130}
    assert numbers(read(client, "is:open created:<=2026-11-01T00:02:10Z")) == list(range(130, 0, -1))


def test_a_long_thread_is_read_to_its_end(api: GitHubApi, client: BacklogClient) -> None:
    api.add_issue(8)
    for number in range(230):
        api.add_comment(f"Comment {number}", number=8)
    (issue,) = read(client)
    assert [comment.body for comment in issue.thread] == [f"Comment {number}" for number in range(230)]
    assert api.request_lines() == [POST, *[f"GET /repos/{SLUG}/issues/8/comments"] * 3]


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
    assert len(next(client.iterate("is:open"))[0]) < PAGE_SIZE


def test_issues_with_huge_threads_are_listed_one_by_one(api: GitHubApi, client: BacklogClient) -> None:
    # Hundred comments of 65,536 characters: an answer about five such issues is larger than what is read of one.
    add_many(api, 60)
    api.refuse_graphql = lambda sent: sent["variables"].get("size", 1) > 1
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


@each_row(
    ("query", "search"),
    [
        (" is:open \n label:bug", "is:open label:bug"),
        ("label:a OR label:b", "(label:a OR label:b)"),
        ("label:a OR label:b created:<=2026-11-20T09:00:00Z", "(label:a OR label:b) created:<=2026-11-20T09:00:00Z"),
        ("", ""),
    ],
)
def test_the_newest_come_first(query: str, search: str) -> None:
    parts = [search, "sort:created-desc"]
    assert complete_query(check_query(query)) == " ".join(filter(None, parts))


def test_where_a_list_goes_on() -> None:
    for query in ("is:open", "is:open created:<=2027-01-01T00:00:00Z"):
        assert continue_query(query, NEWEST) == "is:open created:<=2026-11-20T09:00:00Z"


@each_row(
    "query",
    [
        "repo:a/b",
        "is:open (repo:a/b)",
        "-ORG:x",
        "sort:updated",
        "created:>2020-01-01",
        "is:pr",
        "type:pr",
        "x" * 251,
        f"-{UNTIL}",
        f"{UNTIL} x",
        f"(a {UNTIL}) OR b",
        f"a OR {UNTIL}",
        f"NOT {UNTIL}",
        "created:<=2026-01-01",
    ],
)
def test_what_a_query_must_not_have(query: str) -> None:
    with pytest.raises(BadInput):
        check_query(query)


def test_the_longest_query_goes_on() -> None:
    query = continue_query(check_query("x" * MAX_QUERY_CHARS), NEWEST)
    assert check_query(query) == query == f"{'x' * MAX_QUERY_CHARS} {UNTIL}"


def test_a_query_may_name_what_looks_alike() -> None:
    assert check_query('label:"type: bug" updated:>2026-01-01') == 'label:"type: bug" updated:>2026-01-01'


def list_pages(
    *pages: list[Issue],
    total: int = MAX_ISSUES,
    past: Iterable[list[PastIssue]] = (),
    query: str = "is:open \n label:bug",
    progress: FakeProgressLog | None = None,
) -> Backlog:
    def iterate(asked: str) -> Iterator[tuple[list[Issue], int]]:
        assert asked == "is:open label:bug"
        yield from ((page, total) for page in pages)

    app = make_app(Settings(), Path(), "o/r", progress=progress or FakeProgressLog())
    return list_backlog(app, query, iterate, lambda _: iter(past), NOW)


def test_every_issue_is_listed_once_or_has_a_reason() -> None:
    backlog = list_pages([list_issue(9), list_issue(8, author_is_bot=True)], [list_issue(9), list_issue(5)])
    assert [issue.number for issue in backlog.issues] == [9, 5]
    assert backlog.left_out == [LeftOut(number=8, title="Issue 8", reason=BY_BOT)]
    assert [issue.number for issue in backlog.past] == [9, 8, 5], "all are compared with each other"
    assert backlog.next_query == ""


def test_a_list_that_is_not_all_names_the_query_that_goes_on() -> None:
    # One issue came twice: another was opened between two pages.
    listed = [list_issue(number, 1_000 - number) for number in range(1_000, 1, -1)]
    assert list_pages(listed).next_query == ""
    backlog = list_pages(listed, listed[:1], total=MAX_ISSUES + 1)
    assert (len(backlog.issues), backlog.next_query) == (999, "is:open label:bug created:<=2026-11-20T08:43:22Z")


def test_what_was_listed_stays_without_past_issues() -> None:
    def fail() -> Iterator[list[PastIssue]]:
        yield [PastIssue(number=2, title="Known", created_at=NOW)]
        raise GitHubUnavailable("GitHub is down.")

    progress = FakeProgressLog()
    backlog = list_pages([list_issue(3)], past=fail(), progress=progress)
    assert [issue.number for issue in backlog.past] == [3, 2]
    assert progress.lines[-1] == NO_PAST


def test_a_list_of_nothing_and_a_query_that_cannot_be_asked() -> None:
    assert list_pages([]).batches == []
    with pytest.raises(BadInput):
        list_pages([], query="repo:other/one")


@each_row(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"author_is_bot": True}, BY_BOT),
        ({"labels": ["No-Triage"]}, "The issue carries the project's opt-out label."),
    ],
)
def test_why_an_issue_is_left_out(fields: dict[str, Any], reason: str) -> None:
    config = ProjectConfig(opt_out_label="no-triage", opt_in_label="triage-me")
    assert check_issue(list_issue(1, **fields), config) == reason


def test_issues_are_compared_with_past_ones() -> None:
    listed = [list_issue(3, title="Crash", body="<!-- hidden -->" + "x" * 10_000), list_issue(2)]
    known = PastIssue(number=2, title="Known", created_at=NOW, fixes=[PastFix(number=9)])
    newest, older = list_pages(listed, past=[[known]]).past
    assert (newest.number, newest.body) == (3, "x" * (MAX_BODY_CHARS - len("<!-- hidden -->")))
    assert older == known, "it has fixes, which the list does not read"
