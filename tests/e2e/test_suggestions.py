"""Native suggestions from a run to GitHub, over HTTP: a GitHub that has them, and one that does not."""

import asyncio
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeCodebase, FakeOutput, fake_job, fake_services
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from testing.servers.suggesting_github import SuggestingGitHub
from tests.graph.test_memory_nodes import SAME, FakePastIssues, past
from triage.domain.effect import Policy
from triage.domain.past_issues import SimilarIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.run import Status
from triage.domain.task import TriageTask, Trigger
from triage.outside.github.issue_tracker import IssueTracker
from triage.run.triage_issue import run_task

EXISTING = [{"name": "area/dates"}]


def run(
    api: GitHubApi,
    trigger: Trigger = Trigger.OPENED,
    similar: SimilarIssue | None = None,
    config: ProjectConfig | None = None,
    **policy: Any,
) -> FakeOutput:
    tracker = IssueTracker(
        JOB_TOKEN, SLUG, api.url, seconds_between_writes=0.0, reread_seconds=0.0, backoff_seconds=0.0
    )
    codebase = FakeCodebase(factories.FILES, code_owners=["acme/core", "octocat"], similar=[similar] if similar else [])
    source = FakePastIssues([[past(similar.number)]]) if similar else None
    services, output = fake_services(codebase=codebase, past_issues=source), FakeOutput()
    context = fake_job(tracker, services, output=output, policy=Policy(**policy), config=config or ProjectConfig())
    result = asyncio.run(run_task(TriageTask(number=7, trigger=trigger, actor="mona"), context))
    assert result is Status.COMPLETE
    return output


@pytest.fixture
def github():
    with serve_github_api() as api:
        api.labels = ["bug", "area/dates", "deploy"]
        written = factories.issue()
        api.add_issue(title=written.title, body=written.body, labels=list(EXISTING))
        api.graphql = server = SuggestingGitHub(api)
        yield server
        assert not any(line.startswith(f"PATCH /repos/{SLUG}/issues/7") for line in api.request_lines())
        assert api.issues[7].get("type") is None


def pending(github: SuggestingGitHub) -> list[str]:
    return [f"{row['kind']} {row['name']}" for row in github.pending]


@pytest.mark.parametrize(
    ("mode", "suggested", "labels"),
    [
        ("suggest", ["label bug", "type Bug"], ["area/dates"]),
        ("apply", ["type Bug"], ["area/dates", "bug"]),
        ("off", [], ["area/dates"]),
    ],
)
def test_the_input_labels_decides(github: SuggestingGitHub, mode: Any, suggested: list[str], labels: list[str]):
    run(github.api, labels=mode)
    assert pending(github) == suggested
    assert [label["name"] for label in github.api.issues[7]["labels"]] == labels
    assert bool(github.documents) == (mode != "off")


def test_a_later_run_repeats_nothing_even_if_a_person_declined(github: SuggestingGitHub):
    run(github.api, comment="always")
    first = pending(github)
    run(github.api, Trigger.REQUESTED, comment="always")
    assert pending(github) == first
    github.pending.clear()
    github.api.issues[7]["body"] += "\n\nIt also happens in Store.save."
    run(github.api, Trigger.EDITED, comment="always")
    assert pending(github) == []
    assert github.api.issues[7]["labels"] == EXISTING


OPEN = SAME.model_copy(update={"state": "open", "ended": ""})


def test_closing_a_duplicate_is_suggested_and_nothing_is_closed(github: SuggestingGitHub) -> None:
    github.api.issues[3] = github.api.issues[7] | {"number": 3}
    output = run(github.api, similar=OPEN)
    assert "close DUPLICATE 3" in pending(github)
    assert github.api.issues[7]["state"] == "open"
    assert "close `as duplicate of #3` (high confidence: Possibly the same: same error text" in output.summaries[0]
