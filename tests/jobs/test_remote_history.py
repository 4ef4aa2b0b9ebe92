"""Without history in the checkout, GitHub is asked what changed between two versions, once and for the report only."""

import json
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeCodebase, FakeGitHub, fake_services
from tests.jobs.run_harness import OPENED, RunHarness
from triage.base.errors import GitHubUnavailable
from triage.domain.code import PathChange, RegressionWindow, Tag

TAGS = [Tag(name="v1.1", commit="b" * 40), Tag(name="v1.0", commit="a" * 40)]
CHANGES = [PathChange(commit="c" * 40, date="2026-01-01", subject="Parse once", paths=["src/parse.py"])]
WORKED = "\n\nIt worked in 1.0 and fails since 1.1."


def harness(text: str = WORKED, local: RegressionWindow | None = None, **github: Any) -> RunHarness:
    issue = factories.issue()
    issue = issue.model_copy(update={"body": issue.body + text})
    given = FakeGitHub(issues={7: issue}, tags=TAGS, changes=CHANGES, **github)
    codebase = FakeCodebase(factories.FILES, window=local)
    return RunHarness(github=given, services=fake_services(codebase=codebase))


def window(run: RunHarness) -> Any:
    run.run(OPENED)
    return json.loads(run.output.reports[-1])["regression_window"]


def test_the_commits_of_the_suspects_between_both_tags():
    run = harness()
    assert window(run) == {
        "worked_in": "v1.0",
        "broken_in": "v1.1",
        "commits": [CHANGES[0].model_dump()],
        "further": [],
        "total": 1,
        "only_suspects": True,
    }
    [(worked, broken, paths)] = run.github.asked_changes
    assert (worked, broken) == ("a" * 40, "b" * 40)
    assert paths[0] == "src/parse.py"
    assert len(paths) <= 5


def test_an_issue_that_names_no_regression_asks_nothing():
    run = harness("", errors={"list_tags": AssertionError("nobody may ask")})
    assert window(run) is None


def test_a_window_from_the_checkout_is_enough():
    local = RegressionWindow(worked_in="v1.0", broken_in="v1.1", commits=CHANGES, total=1)
    run = harness(local=local, errors={"list_tags": AssertionError("nobody may ask")})
    assert window(run)["worked_in"] == "v1.0"


@pytest.mark.parametrize("method", ["list_tags", "list_changes_between"])
def test_a_failure_costs_only_the_window(method: str):
    run = harness(errors={method: GitHubUnavailable("GitHub answered 502")})
    assert window(run) is None
    assert run.github.posted
    assert any("could not be read: GitHub answered 502" in line for line in run.progress.lines)


def test_a_version_without_a_tag():
    run = harness("\n\nIt worked in 0.7 and fails since 1.1.")
    assert window(run) is None
    assert run.github.asked_changes == []
