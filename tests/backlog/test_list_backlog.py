"""The list has every issue, or says why not, and where it goes on."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.apps import make_app
from testing.each_row import each_row
from testing.fakes import NOW, FakeProgressLog
from tests.backlog.backlog_values import list_issue
from triage.app.settings import Settings
from triage.backlog.backlog import MAX_ISSUES, Backlog, LeftOut
from triage.backlog.list_backlog import BY_BOT, NO_PAST, check_issue, list_backlog
from triage.base.errors import BadInput, GitHubUnavailable
from triage.domain.issue import Issue
from triage.domain.past_issues import PastFix, PastIssue
from triage.domain.project_config import ProjectConfig
from triage.outside.github.read_past_issues import MAX_BODY_CHARS


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
