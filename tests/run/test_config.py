"""The project's own settings, from the flow to what is written."""

import asyncio
import json
from dataclasses import replace

import pytest

from testing import factories
from testing.each_row import each_row
from testing.fakes import FakeCodebase, FakeGitHub, FakeModel, fake_services
from tests.run.run_harness import OPENED, RunHarness
from triage.base.errors import GitHubUnavailable
from triage.domain.effect import Policy
from triage.domain.project_config import Labels, ProjectConfig
from triage.domain.run import Status
from triage.domain.task import TriageTask
from triage.run.may_run.event import Event
from triage.run.triage_issue import run_task

OPTS = ProjectConfig(opt_in_label="triage", opt_out_label="no-triage")


def run(harness: RunHarness, config: ProjectConfig, task: TriageTask = OPENED) -> Status:
    return asyncio.run(run_task(task, replace(harness.build_context(), config=config)))


@each_row("by_model", [False, True])
@each_row(
    ("config", "labels"),
    [
        (ProjectConfig(), ["bug", "crash"]),
        (ProjectConfig(labels=Labels(allow=["CRASH"])), ["crash"]),
        (ProjectConfig(labels=Labels(allow=["nothing"])), []),
        (ProjectConfig(opt_out_label="bug"), ["crash"]),
    ],
)
def test_only_labels_that_are_allowed_are_told_and_added(config: ProjectConfig, labels: list[str], by_model: bool):
    ticket = factories.ticket(labels=["bug", "crash"])
    model = FakeModel(factories.answers(TicketDraft=ticket)) if by_model else None
    issue = factories.issue(title="The program crashes with a segmentation fault")
    harness = RunHarness(
        github=FakeGitHub(issues={7: issue}, existing_labels=["bug", "crash"]),
        policy=Policy(labels="apply"),
        services=fake_services(codebase=FakeCodebase(factories.FILES), model=model),
    )
    run(harness, config)
    assert json.loads(harness.output.values["ticket-labels"]) == labels
    assert harness.github.labelled == ([(7, labels)] if labels else [])


@pytest.mark.parametrize(("labels", "status"), [(["no-triage"], Status.SKIPPED), (["triage"], Status.DEGRADED)])
def test_the_events_labels_decide_where_github_cannot_be_asked(labels: list[str], status: Status):
    github = FakeGitHub(errors={"fetch_issue": GitHubUnavailable("GitHub is down.")})
    assert run(RunHarness(github=github, event=Event(issue=factories.issue(labels=labels))), OPTS) is status
