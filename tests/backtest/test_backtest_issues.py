"""Past issues are triaged one after the other, and know nothing later."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from testing import factories
from testing.fakes import FakeCodebase, fake_services
from tests.backtest.samples import AT, case, fixed_issue
from triage.backtest.backtest_issues import find_duplicates, to_issue, triage_past_issues
from triage.backtest.past_case import CaseResult, PastCase
from triage.domain.issue import Issue, Repository
from triage.domain.past_issues import PastFix, PastIssue, SimilarIssue
from triage.ports import Services

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
    assert all(result.is_first_right for result in results)


def test_only_what_was_known_is_compared():
    later = fixed_issue(3, created_at=AT + timedelta(days=1))
    earlier = fixed_issue(2, PastFix(commit="c", at=AT + timedelta(days=1)), created_at=AT - timedelta(days=1))
    _, known = run([later, earlier])
    assert [[issue.number for issue in one] for one in known] == [[2]] * 3
    assert known[0][0].fixes == []
    assert run([earlier], memory=0)[1] == [[], [], []]


def test_a_cancelled_backtest_keeps_what_is_complete():
    results, _ = run(cancelled_after=1)
    assert [result.case.number for result in results] == [9]


def test_the_issue_has_neither_labels_nor_comments():
    issue = to_issue(CASES[0])
    assert (issue.labels, issue.thread, issue.number, issue.snapshot_time) == ([], [], 9, AT)


class ComparingCodebase(FakeCodebase):
    """Names the first known issue, and keeps what it was asked."""

    def find_similar_issues(self, issue: Issue, parsed: object, past: Sequence[PastIssue], limit: int):
        self.asked = [*getattr(self, "asked", []), (issue.number, [one.number for one in past])]
        return [SimilarIssue(number=one.number, title=one.title, score=0.9, named=True) for one in past[-1:]]


def test_marked_duplicates_are_compared_with_what_was_there_before_them():
    days = timedelta(days=1)
    past = [
        fixed_issue(1, created_at=AT),
        fixed_issue(2, created_at=AT + days),
        fixed_issue(3, created_at=AT + 2 * days, duplicate_of=1),
        fixed_issue(4, created_at=AT + 3 * days, duplicate_of=2),
        fixed_issue(5, created_at=AT + 4 * days, duplicate_of=99),
    ]
    codebase = ComparingCodebase(factories.FILES)
    results = find_duplicates(past, 10, 500, codebase)
    assert codebase.asked == [(4, [3, 2, 1]), (3, [2, 1])]
    assert [(one.number, one.outcome) for one in results] == [(4, "other"), (3, "found")]
    assert len(find_duplicates(past, 1, 500, codebase)) == 1
