"""The issue as the event brought it, from payloads that may be invalid."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.base.errors import BadInput
from triage.domain.issue import IssueComment
from triage.domain.task import RunKey, TriageTask, Trigger
from triage.domain.value import parse_timestamp
from triage.run.may_run.admission import rules_only_reason
from triage.run.may_run.event import (
    EDITED,
    Event,
    check_command_comment,
    check_trigger_comment,
    parse_event,
    restore_issue_at_trigger,
    to_run_key,
)

AT = datetime(2026, 11, 21, 9, tzinfo=UTC)
WHEN = "2026-11-21T09:00:00Z"
LATER = "2026-11-21T09:00:07Z"
ISSUE: dict[str, Any] = {
    "number": 7,
    "title": "It breaks",
    "body": "Badly.",
    "user": {"login": "mona", "type": "User"},
    "created_at": WHEN,
    "updated_at": LATER,
}
COMMENT: dict[str, Any] = {
    "id": 5,
    "body": "/triage",
    "user": {"login": "mona"},
    "created_at": WHEN,
    "updated_at": WHEN,
}
COMMAND = TriageTask(number=7, trigger=Trigger.COMMAND, actor="mona")
OPENED = TriageTask(number=7, trigger=Trigger.OPENED, actor="mona")


def event_of(**payload: Any) -> Event:
    found = parse_event({"issue": ISSUE} | payload)
    assert found is not None
    return found


def test_an_issue_event_has_the_time_of_its_last_change():
    issue = event_of().issue
    assert (issue.title, issue.body, issue.author, issue.snapshot_time) == (
        "It breaks",
        "Badly.",
        "mona",
        AT + timedelta(seconds=7),
    )
    assert issue.thread == []
    assert event_of(issue=ISSUE | {"updated_at": None}).issue.snapshot_time == AT


def test_a_comment_event_has_its_comment():
    event = event_of(comment=COMMENT)
    assert event.issue.snapshot_time == AT
    assert event.comment == IssueComment(author="mona", body="/triage", created_at=AT, edited_at=AT, comment_id=5)
    assert event_of(comment=COMMENT | {"created_at": None}).issue.snapshot_time is None, (
        "the issue's times are of something else"
    )


class TestACommandInALongThread:
    WORDS = "/triage fix " + "x" * 2_000

    def skip_reason(self, body: str, **fields: Any) -> str:
        event = event_of(comment=COMMENT | {"body": self.WORDS})
        shown = {"comment_id": 5, "created_at": AT, "edited_at": AT, "body": body, "is_shortened": True} | fields
        thread = [IssueComment(author="mona", **shown)]
        issue = event.issue.model_copy(update={"thread": thread})
        assert check_trigger_comment(COMMAND, issue, event) == check_command_comment(issue, event)
        return check_command_comment(issue, event)

    def test_it_counts_although_only_its_begin_is_known(self):
        assert self.skip_reason(self.WORDS[:1_000]) == ""

    @pytest.mark.parametrize(
        "change",
        [
            {"body": "/triage fix y"},
            {"edited_at": AT + timedelta(seconds=1)},
            {"edited_at": None},
            {"created_at": None},
        ],
    )
    def test_an_edit_or_an_unknown_time_is_a_no(self, change: dict[str, Any]):
        assert self.skip_reason(**({"body": self.WORDS[:1_000]} | change)) == EDITED

    def test_the_run_reads_it_whole(self):
        event = event_of(comment=COMMENT | {"body": self.WORDS})
        assert event.comment
        shortened = event.comment.model_copy(update={"body": "/triage", "is_shortened": True})
        issue = event.issue.model_copy(update={"thread": [shortened]})
        assert restore_issue_at_trigger(issue, event, AT, AT).thread == [event.comment]


ODD = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.lists(st.text(max_size=3), max_size=2)
)
TIMES = (
    ODD
    | st.datetimes().map(lambda time: f"{time.isoformat()}Z")
    | st.sampled_from(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"])
)


@given(number=ODD, body=ODD, at=TIMES, edited=TIMES, login=ODD)
def test_any_payload_is_routed_or_refused(number: Any, body: Any, at: Any, edited: Any, login: Any):
    comment = {"id": number, "body": body, "created_at": at, "updated_at": edited, "user": {"login": login}}
    try:
        event = parse_event({"issue": ISSUE | {"updated_at": edited, "body": body}, "comment": comment})
    except BadInput:
        return
    assert event is not None
    run = to_run_key(COMMAND, event)
    assert (run is None) is (event.issue.snapshot_time is None)
    assert not check_trigger_comment(COMMAND, event.issue, event)
    restore_issue_at_trigger(event.issue, event, AT, AT)


@given(TIMES)
def test_invalid_timestamps_are_none(written: Any):
    read = parse_timestamp(written)
    if read is not None:
        assert read.tzinfo is not None
        assert read - timedelta(days=1) < read < read + timedelta(days=1)
        assert int(read.timestamp()) < 10**11


@pytest.mark.parametrize(
    ("task", "payload", "run"),
    [
        (OPENED, {}, RunKey(at=AT + timedelta(seconds=7))),
        (COMMAND, {"comment": COMMENT}, RunKey(at=AT, comment_id=5)),
        (COMMAND, {"comment": COMMENT | {"id": "x"}}, RunKey(at=AT)),
        (TriageTask(number=7, trigger=Trigger.BY_NUMBER), {}, None),
    ],
)
def test_the_record_of_a_run(task: TriageTask, payload: dict[str, Any], run: RunKey | None):
    assert to_run_key(task, event_of(**payload)) == run


@each_row(
    ("recent_issues", "runs", "max_runs", "is_limited"),
    [
        (range(1, 51), 0, 50, False),
        (range(1, 52), 0, 50, True),
        (range(100, 149), 0, 50, False),
        (range(100, 150), 0, 50, True),
        ([], 4, 50, False),
        ([], 5, 50, True),
        ([], 2, 3, False),
        ([], 3, 3, True),
        ([7], 0, 0, True),
        ([], 0, 100_000, False),
    ],
)
def test_issues_and_runs_on_one_issue_count(recent_issues: range, runs: int, max_runs: int, is_limited: bool):
    remembered = [RunKey(at=AT - timedelta(hours=1), comment_id=place) for place in range(runs)]
    old = [RunKey(at=AT - timedelta(hours=24))] * 99
    assert bool(rules_only_reason(recent_issues, 7, [*remembered, *old], AT, max_runs)) is is_limited
