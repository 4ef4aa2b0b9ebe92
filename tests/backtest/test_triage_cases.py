"""Past issues are triaged one after the other, and know nothing later."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from testing.fakes import FakeCodebase, fake_services
from tests.backtest.samples import AT, case, fixed_issue
from triage.agents.services import Services
from triage.backtest.judge import CaseResult, PastCase
from triage.backtest.triage_cases import recall_known_then, to_issue, triage_past_issues
from triage.domain.issue import Repository
from triage.domain.past_issues import PastFix, PastIssue
from triage.say.our_comment import read_comment_state

REPOSITORY = Repository(slug="acme/shop")
FILES = {"shop/cart.py": "def total(prices):\n    return sum(prices)\n"}
CASES = [case(number, title="total of prices is wrong", body="`total` in cart fails") for number in (9, 8, 7)]


def run(
    past: Sequence[PastIssue] = (), memory: int = 500, cancelled_after: int | None = None
) -> tuple[list[CaseResult], list[list[PastIssue]]]:
    cancelled, known = asyncio.Event(), list[list[PastIssue]]()

    def open_services(one: PastCase, issues: Sequence[PastIssue]) -> Services:
        known.append(list(issues))
        if cancelled_after is not None and len(known) > cancelled_after:
            cancelled.set()
        return fake_services(codebase=FakeCodebase(FILES))

    async def collect() -> list[CaseResult]:
        runs = triage_past_issues(CASES, past, memory, REPOSITORY, open_services, cancelled)
        return [result async for result in runs]

    return asyncio.run(collect()), known


def test_each_issue_has_a_result():
    results, _ = run()
    assert [result.case.number for result in results] == [9, 8, 7]
    assert all(result.rank == 1 for result in results)


def test_only_what_was_known_is_compared():
    later = fixed_issue(3, created_at=AT + timedelta(days=1))
    earlier = fixed_issue(2, PastFix(commit="c", at=AT + timedelta(days=1)), created_at=AT - timedelta(days=1))
    _, known = run([later, earlier])
    assert [[issue.number for issue in one] for one in known] == [[2]] * 3
    assert known[0][0].fixes == []
    assert run([earlier], memory=0)[1] == [[], [], []]


def test_what_a_person_called_wrong_is_not_said_again():
    issue = to_issue(CASES[0].model_copy(update={"wrong": ["known"]}))
    assert read_comment_state(issue).wrong_subjects == ["known"]
    assert to_issue(CASES[0]).thread == []


def test_a_cancelled_backtest_keeps_what_is_complete():
    results, _ = run(cancelled_after=1)
    assert [result.case.number for result in results] == [9]


def test_the_issue_has_neither_labels_nor_comments():
    issue = to_issue(CASES[0])
    assert (issue.labels, issue.thread, issue.number, issue.snapshot_time) == ([], [], 9, AT)


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
