"""The project's own settings, from the flow to what is written."""

import asyncio
from dataclasses import replace

import pytest

from testing import factories
from testing.fakes import FakeGitHub
from tests.run.run_harness import OPENED, RunHarness
from triage.base.errors import GitHubUnavailable
from triage.domain.project_config import ProjectConfig
from triage.domain.run import Status
from triage.domain.task import TriageTask
from triage.run.may_run.event import Event
from triage.run.triage_issue import run_task

OPTS = ProjectConfig(opt_in_label="triage", opt_out_label="no-triage")


def run(harness: RunHarness, config: ProjectConfig, task: TriageTask = OPENED) -> Status:
    return asyncio.run(run_task(task, replace(harness.build_context(), config=config)))


@pytest.mark.parametrize(("labels", "status"), [(["no-triage"], Status.SKIPPED), (["triage"], Status.DEGRADED)])
def test_the_events_labels_decide_where_github_cannot_be_asked(labels: list[str], status: Status):
    github = FakeGitHub(errors={"fetch_issue": GitHubUnavailable("GitHub is down.")})
    assert run(RunHarness(github=github, event=Event(issue=factories.issue(labels=labels))), OPTS) is status
