"""Nothing of the memory of a past issue is from later."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.backtest.samples import AT, fixed_issue
from triage.backtest.known_then import list_groups, recall_known_then
from triage.domain.past_issues import PastFix, PastIssue

DAY = timedelta(days=1)


def test_issues_are_as_they_were():
    closed = fixed_issue(
        1,
        PastFix(commit="c", at=AT + 2 * DAY),
        PastFix(commit="d", at=AT + 9 * DAY),
        closed_at=AT + 3 * DAY,
        state_reason="duplicate",
        duplicate_of=0,
        suspects=["a.py"],
        milestone="1.4",
    )
    later = fixed_issue(2, created_at=AT + 6 * DAY)
    [before] = recall_known_then([closed, later], AT + DAY, 10)
    assert (before.state, before.closed_at, before.fixes, before.duplicate_of) == ("open", None, [], None)
    assert (before.suspects, before.milestone, before.state_reason) == ([], "", "")
    [after] = recall_known_then([closed, later], AT + 5 * DAY, 10)
    assert (after.state, after.duplicate_of, [fix.commit for fix in after.fixes]) == ("closed", 0, ["c"])


def test_a_fix_without_a_date_is_known_from_the_close_on():
    issue = fixed_issue(1, PastFix(commit="c"), closed_at=AT + 3 * DAY)
    assert recall_known_then([issue], AT + 2 * DAY, 10)[0].fixes == []
    assert len(recall_known_then([issue], AT + 4 * DAY, 10)[0].fixes) == 1


def test_the_newest_are_remembered():
    past = [fixed_issue(number) for number in (3, 1, 2)]
    assert [issue.number for issue in recall_known_then(past, AT + DAY, 2)] == [3, 2]


days = st.integers(0, 20).map(lambda number: AT + number * DAY)


@given(st.lists(st.tuples(days, days, days), max_size=8), days)
def test_no_date_of_what_is_known_is_later(dates, at):
    past = [
        PastIssue(
            number=number, title="x", state="closed", created_at=a, closed_at=b, fixes=[PastFix(commit="c", at=c)]
        )
        for number, (a, b, c) in enumerate(dates)
    ]
    for issue in recall_known_then(past, at, 100):
        assert issue.created_at < at
        assert issue.closed_at is None or issue.closed_at <= at
        assert all(fix.at is None or fix.at < at for fix in issue.fixes)


def test_duplicates_of_duplicates_are_one_group_and_circles_end():
    past = [
        fixed_issue(1),
        fixed_issue(2, duplicate_of=1),
        fixed_issue(3, duplicate_of=2),
        fixed_issue(5, duplicate_of=6),
        fixed_issue(6, duplicate_of=5),
        fixed_issue(8, duplicate_of=99),
    ]
    groups = list_groups(past)
    assert [groups[number] for number in (1, 2, 3)] == [1, 1, 1]
    assert groups[8] == 99
    assert {groups[5], groups[6]} <= {5, 6}
