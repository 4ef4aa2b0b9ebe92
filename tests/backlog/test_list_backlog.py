"""The list has every issue in a batch or with a reason, and ends with a cursor when something is left."""

import json
from datetime import timedelta

import pytest

from testing.fake_backlog import FakeBacklogFolder, FakeBacklogSource
from testing.fakes import NOW, FakeProgressLog
from tests.backlog.backlog_values import NEWEST, list_issue
from triage.backlog.backlog import MAX_BATCHES, BacklogPage, Caps, Cursor
from triage.backlog.list_backlog import (
    UNREADABLE,
    ListRequest,
    ListServices,
    describe_list,
    list_backlog,
)
from triage.base.errors import BadInput, GitHubUnavailable
from triage.domain.project_config import ProjectConfig

PAGES = [
    BacklogPage(issues=[list_issue(9), list_issue(8, 1, author_is_bot=True), list_issue(7, 1)], unreadable=[6]),
    BacklogPage(issues=[list_issue(5, 2), list_issue(4, 3)]),
]


def request(**fields: object) -> ListRequest:
    caps = Caps(usd=1, tokens=1_000)
    return ListRequest("o/r", "https://github.com", "is:open", caps, **fields)  # type: ignore[arg-type]


def services(source: FakeBacklogSource, folder: FakeBacklogFolder) -> ListServices:
    return ListServices(
        source, folder, None, lambda: ["bug", "deploy"], ProjectConfig(), FakeProgressLog(), lambda: NOW
    )


def test_every_issue_is_in_a_batch_or_has_a_reason() -> None:
    folder, source = FakeBacklogFolder(), FakeBacklogSource(PAGES)
    plan = list_backlog(request(batch_size=3), services(source, folder))
    assert plan.batches == [[9, 7], [5, 4]]
    assert [[one.issue.number for one in batch] for batch in folder.batches] == plan.batches
    assert [(one.number, one.reason) for one in plan.left_out] == [(6, UNREADABLE), (8, "A bot opened it.")]
    assert [one.number for one in folder.past] == [9, 8, 7, 5, 4], "all are compared with each other"
    assert plan.labels == ["bug"], "labels that start something are not suggested"
    assert plan.next_cursor == ""
    assert folder.plan == plan


def test_a_limit_ends_with_a_cursor() -> None:
    plan = list_backlog(request(limit=3), services(FakeBacklogSource(PAGES), FakeBacklogFolder()))
    assert plan.batches == [[9, 7]]
    assert plan.next_cursor == "2026-11-20T08:59:59Z/8/7"
    source = FakeBacklogSource([])
    list_backlog(request(cursor=plan.next_cursor), services(source, FakeBacklogFolder()))
    assert source.asked == [("is:open", Cursor(created_at=NEWEST - timedelta(seconds=1), numbers=[8, 7]))]


def test_a_matrix_has_at_most_256_entries() -> None:
    pages = [BacklogPage(issues=[list_issue(number, 1_000 - number) for number in range(600, 0, -1)])]
    plan = list_backlog(request(batch_size=2), services(FakeBacklogSource(pages), FakeBacklogFolder()))
    assert len(plan.batches) == MAX_BATCHES
    assert plan.next_cursor
    outputs = describe_list(plan)
    assert json.loads(outputs["backlog-matrix"]) == {"batch": list(range(1, 257))}
    assert outputs["backlog-issues"] == "512"


def test_an_outage_in_the_middle_ends_with_a_cursor() -> None:
    source = FakeBacklogSource(PAGES, GitHubUnavailable("GitHub answered 500."))
    plan = list_backlog(request(), services(source, FakeBacklogFolder()))
    assert plan.batches == [[9, 7, 5, 4]]
    assert plan.next_cursor == "2026-11-20T08:59:57Z/4"
    assert plan.notes == ["The list ended early: GitHub answered 500."]


def test_an_outage_at_the_start_is_an_error() -> None:
    with pytest.raises(GitHubUnavailable):
        list_backlog(request(), services(FakeBacklogSource([], GitHubUnavailable("No.")), FakeBacklogFolder()))


def test_a_list_of_nothing() -> None:
    folder = FakeBacklogFolder()
    plan = list_backlog(request(), services(FakeBacklogSource([]), folder))
    assert (plan.batches, describe_list(plan)["backlog-issues"]) == ([], "0")


def test_what_cannot_be_asked() -> None:
    with pytest.raises(BadInput):
        list_backlog(request(cursor="yesterday"), services(FakeBacklogSource([]), FakeBacklogFolder()))
