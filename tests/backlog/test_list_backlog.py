"""The list has every issue in a batch or with a reason, and ends with a cursor when something is left."""

import json
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from testing.fake_backlog import FakeBacklogFiles, FakeBacklogSource
from testing.fakes import NOW, FakeProgressLog
from tests.backlog.backlog_values import NEWEST, list_issue
from triage.backlog.backlog import MAX_BATCHES, BacklogPage, Caps, Cursor
from triage.backlog.list_backlog import (
    BY_BOT,
    MAX_BODY_CHARS,
    QUIET,
    UNREADABLE,
    UP_TO_DATE,
    ListRequest,
    ListServices,
    describe_list,
    find_skip_reason,
    list_backlog,
    merge_past_issues,
    split_batches,
    to_past_issue,
)
from triage.base.errors import BadInput, GitHubUnavailable
from triage.comment.hidden_state import CommentState, hash_text, render_state
from triage.domain.issue import IssueComment
from triage.domain.past_issues import PastFix, PastIssue
from triage.domain.project_config import ProjectConfig

PAGES = [
    BacklogPage(issues=[list_issue(9), list_issue(8, 1, author_is_bot=True), list_issue(7, 1)], unreadable=[6]),
    BacklogPage(issues=[list_issue(5, 2), list_issue(4, 3)]),
]


def request(**fields: object) -> ListRequest:
    caps = Caps(usd=1, tokens=1_000)
    return ListRequest("o/r", "https://github.com", "is:open", caps, **fields)  # type: ignore[arg-type]


def services(source: FakeBacklogSource, folder: FakeBacklogFiles) -> ListServices:
    return ListServices(
        source.iterate, folder, None, lambda: ["bug", "deploy"], ProjectConfig(), FakeProgressLog(), lambda: NOW
    )


def test_every_issue_is_in_a_batch_or_has_a_reason() -> None:
    folder, source = FakeBacklogFiles(), FakeBacklogSource(PAGES)
    plan = list_backlog(request(batch_size=3), services(source, folder))
    assert plan.batches == [[9, 7], [5, 4]]
    assert [[one.issue.number for one in batch] for batch in folder.batches] == plan.batches
    assert [(one.number, one.reason) for one in plan.left_out] == [(6, UNREADABLE), (8, "A bot opened it.")]
    assert [one.number for one in folder.past] == [9, 8, 7, 5, 4], "all are compared with each other"
    assert plan.labels == ["bug"], "labels that start something are not suggested"
    assert plan.next_cursor == ""
    assert folder.plan == plan


def test_a_limit_ends_with_a_cursor() -> None:
    plan = list_backlog(request(limit=3), services(FakeBacklogSource(PAGES), FakeBacklogFiles()))
    assert plan.batches == [[9, 7]]
    assert plan.next_cursor == "2026-11-20T08:59:59Z/8/7"
    source = FakeBacklogSource([])
    list_backlog(request(cursor=plan.next_cursor), services(source, FakeBacklogFiles()))
    assert source.asked == [("is:open", Cursor(created_at=NEWEST - timedelta(seconds=1), numbers=[8, 7]))]


def test_a_matrix_has_at_most_256_entries() -> None:
    pages = [BacklogPage(issues=[list_issue(number, 1_000 - number) for number in range(600, 0, -1)])]
    plan = list_backlog(request(batch_size=2), services(FakeBacklogSource(pages), FakeBacklogFiles()))
    assert len(plan.batches) == MAX_BATCHES
    assert plan.next_cursor
    outputs = describe_list(plan)
    assert json.loads(outputs["backlog-matrix"]) == {"batch": list(range(1, 257))}
    assert outputs["backlog-issues"] == "512"


def test_an_outage_in_the_middle_ends_with_a_cursor() -> None:
    source = FakeBacklogSource(PAGES, GitHubUnavailable("GitHub answered 500."))
    plan = list_backlog(request(), services(source, FakeBacklogFiles()))
    assert plan.batches == [[9, 7, 5, 4]]
    assert plan.next_cursor == "2026-11-20T08:59:57Z/4"
    assert plan.notes == ["The list ended early: GitHub answered 500."]


def test_an_outage_at_the_start_is_an_error() -> None:
    with pytest.raises(GitHubUnavailable):
        list_backlog(request(), services(FakeBacklogSource([], GitHubUnavailable("No.")), FakeBacklogFiles()))


def test_a_list_of_nothing() -> None:
    folder = FakeBacklogFiles()
    plan = list_backlog(request(), services(FakeBacklogSource([]), folder))
    assert (plan.batches, describe_list(plan)["backlog-issues"]) == ([], "0")


def test_what_cannot_be_asked() -> None:
    with pytest.raises(BadInput):
        list_backlog(request(cursor="yesterday"), services(FakeBacklogSource([]), FakeBacklogFiles()))


def comment(state: CommentState, *, ours: bool = True) -> IssueComment:
    return IssueComment(author="bot", body=f"{render_state(state)}\n\nText", ours=ours, comment_id=5)


SAME = CommentState(text_hash=hash_text("Issue 1", ""), content_hash="0" * 16)


@each_row(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"author_is_bot": True}, BY_BOT),
        ({"labels": ["No-Triage"]}, "The issue carries the project's opt-out label."),
        ({"thread": [comment(SAME)]}, UP_TO_DATE),
        ({"thread": [comment(SAME)], "body": "edited"}, ""),
        ({"thread": [comment(SAME, ours=False)]}, ""),
        ({"thread": [comment(SAME.model_copy(update={"content_hash": ""}))]}, ""),
        ({"thread": [comment(CommentState(quiet=True))]}, QUIET),
    ],
)
def test_why_an_issue_is_left_out(fields: dict[str, Any], reason: str) -> None:
    config = ProjectConfig(opt_out_label="no-triage", opt_in_label="triage-me")
    assert find_skip_reason(list_issue(1, **fields).issue, config, again=False) == reason


def test_again_triages_what_has_a_comment_but_not_what_is_quiet() -> None:
    config = ProjectConfig()
    assert not find_skip_reason(list_issue(1, thread=[comment(SAME)]).issue, config, again=True)
    quiet = list_issue(1, thread=[comment(CommentState(quiet=True))]).issue
    assert find_skip_reason(quiet, config, again=True) == QUIET


@given(st.integers(0, 2_000), st.integers(1, 50))
def test_batches_have_every_issue_once_in_order(count: int, size: int) -> None:
    batches = split_batches(list(range(count)), size)
    assert list(chain.from_iterable(batches)) == list(range(count))
    assert len(batches) == -(-count // size)
    assert not batches or max(map(len, batches)) - min(map(len, batches)) <= 1
    assert all(0 < len(batch) <= size for batch in batches)


def test_issues_are_compared_with_past_ones_and_with_each_other() -> None:
    listed = [list_issue(3, title="Crash", body="<!-- hidden -->" + "x" * 10_000), list_issue(2)]
    known = PastIssue(number=2, title="Known", created_at=listed[0].created_at, fixes=[PastFix(number=9)])
    newest, older = merge_past_issues([known], [to_past_issue(one) for one in listed])
    assert (newest.number, newest.body) == (3, "x" * (MAX_BODY_CHARS - len("<!-- hidden -->")))
    assert older == known, "it has fixes, which the list does not read"
