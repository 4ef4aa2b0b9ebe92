"""The table has every issue of the list; comments and the table's issue are written only if asked for."""

import pytest

from testing.fake_backlog import FakeBacklogFiles
from testing.fakes import FakeGitHub
from tests.backlog.backlog_values import list_issue, make_plan, make_report
from tests.jobs.run_harness import RunHarness
from triage.backlog.backlog import BatchRecord, Caps, LeftOut
from triage.backlog.backlog_results import NOT_BEGUN
from triage.backlog.merge_backlog import MergeJob, merge_backlog, read_results
from triage.base.errors import PermissionMissing
from triage.domain.code import BestPlace, Span
from triage.domain.effect import Policy

FOUND = BestPlace(sign="trace", span=Span(path="a.py", start=1, end=2), line=1, probability=0.9, text="E: x")
NUMBERS = [5, 4, 3, 2]


@pytest.fixture
def folder() -> FakeBacklogFiles:
    left_out = [LeftOut(number=1, title="Bot", reason="A bot opened it.")]
    plan = make_plan([[5, 4], [3, 2]], left_out=left_out, repository="o/r", server_url="https://github.test")
    folder = FakeBacklogFiles(plan, [[list_issue(5), list_issue(4)], [list_issue(3), list_issue(2)]])
    for number, batch in ((5, 1), (4, 1), (3, 2)):
        folder.append(batch, BatchRecord(number=number, reserved=Caps(usd=1, tokens=10)))
        report = make_report(number, best_place=FOUND if number != 4 else None)
        folder.append(batch, BatchRecord(number=number, spent=Caps(usd=0.5, tokens=5), report=report))
    folder.append(2, BatchRecord(number=2, reserved=Caps(usd=1, tokens=10)))
    folder.append(2, BatchRecord(number=77, report=make_report(77)))  # of no list
    return folder


@pytest.fixture
def harness() -> RunHarness:
    issues = {number: list_issue(number).issue for number in NUMBERS}
    return RunHarness(github=FakeGitHub(issues=issues), policy=Policy(comment="auto"))


def test_results_have_each_issue_once(folder: FakeBacklogFiles) -> None:
    results, issues = read_results(folder)
    assert sorted(report.issue.number or 0 for report in results.reports) == [3, 4, 5]
    assert [(one.number, one.reason) for one in results.not_triaged] == [(2, NOT_BEGUN), (1, "A bot opened it.")]
    assert results.not_triaged[0].title == "Issue 2"
    assert sorted(issues) == [2, 3, 4, 5]
    assert results.spent == Caps(usd=2.5, tokens=25), "with what the killed triage could take"


async def test_nothing_is_written_to_github_unless_asked_for(folder: FakeBacklogFiles, harness: RunHarness) -> None:
    page = await merge_backlog(MergeJob(folder, harness.build_context()))
    assert harness.github.posted == []
    assert folder.tables[0][0] == page
    assert harness.output.summaries == [page]


async def test_comments_where_there_is_something_to_say(folder: FakeBacklogFiles, harness: RunHarness) -> None:
    page = await merge_backlog(MergeJob(folder, harness.build_context(), max_comments=10))
    assert sorted(number for number, _ in harness.github.posted) == [3, 5]
    assert "Comments: 2 issues were written to" in page
    assert harness.output.summaries == [page], "single reports write no page"


async def test_no_more_comments_than_allowed(folder: FakeBacklogFiles, harness: RunHarness) -> None:
    page = await merge_backlog(MergeJob(folder, harness.build_context(), max_comments=1))
    assert [number for number, _ in harness.github.posted] == [5]
    assert "1 more have something to say" in page


async def test_a_token_that_may_not_write_is_tried_once(folder: FakeBacklogFiles, harness: RunHarness) -> None:
    harness.github.errors["post_comment"] = PermissionMissing("The token may not write.")
    page = await merge_backlog(MergeJob(folder, harness.build_context(), max_comments=10))
    assert "Comments: 0 issues were written to" in page
    assert harness.output.annotations[0][:2] == ("error", "The token may not write.")


async def test_a_locked_issue_gets_no_comment(folder: FakeBacklogFiles, harness: RunHarness) -> None:
    folder.batches[0][0] = list_issue(5, locked=True)
    await merge_backlog(MergeJob(folder, harness.build_context(), max_comments=10))
    assert [number for number, _ in harness.github.posted] == [3]
