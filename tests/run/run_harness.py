"""Flows over fakes."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from testing import factories
from testing.fakes import (
    NOW,
    FakeCodebase,
    FakeGitHub,
    FakeModel,
    FakeOutput,
    FakeProgressLog,
    fake_job,
    fake_services,
)
from triage.agents.services import Services
from triage.domain.effect import Policy
from triage.domain.issue import IssueComment
from triage.domain.run import Status
from triage.domain.task import IssueTask, TriageTask, Trigger
from triage.run.job_context import JobContext
from triage.run.may_run.event import Event
from triage.run.triage_issue import run_task

OPENED = TriageTask(number=7, trigger=Trigger.OPENED, actor="reporter")
BY_HAND = TriageTask(number=7, trigger=Trigger.BY_NUMBER)


@dataclass
class RunHarness:
    """A flow over fakes, and what it did."""

    github: FakeGitHub = field(default_factory=lambda: FakeGitHub(issues={7: factories.issue()}))
    output: FakeOutput = field(default_factory=FakeOutput)
    policy: Policy = field(default_factory=lambda: Policy(comment="always"))
    services: Services = field(default_factory=lambda: fake_services(codebase=FakeCodebase(factories.FILES)))

    event: Event | None = None
    progress: FakeProgressLog = field(default_factory=FakeProgressLog)
    max_model_runs: int | None = None

    def build_context(self) -> JobContext:
        return fake_job(
            self.github,
            self.services,
            output=self.output,
            progress=self.progress,
            policy=self.policy,
            repository=factories.repository(labels=[]),
            now=lambda: NOW,
            event=self.event,
            max_model_runs=self.max_model_runs,
            open_services=self._open_services,
        )

    def _open_services(self, *, by_rules: bool = False) -> Services:
        return fake_services(codebase=FakeCodebase(factories.FILES)) if by_rules else self.services

    def use_model(self) -> FakeModel:
        """Let a model answer; it records its prompts."""
        model = FakeModel(factories.answers())
        self.services = fake_services(codebase=FakeCodebase(factories.FILES), model=model)
        return model

    def while_indexing(self, meanwhile: Callable[[], None]) -> None:
        """Let something happen while the agents work."""
        self.services = fake_services(codebase=FakeCodebase(factories.FILES, on_index=meanwhile))

    def run(self, task: IssueTask) -> Status:
        return asyncio.run(run_task(task, self.build_context()))

    def set_thread(self, *comments: IssueComment, **changes: Any) -> None:
        self.github.issues[7] = factories.issue(thread=list(comments), **changes)

    @property
    def writes(self) -> int:
        return len(self.github.posted) + len(self.github.edited) + len(self.github.labelled)


def our_comment(body: str) -> IssueComment:
    return IssueComment(author="github-actions[bot]", body=body, ours=True, by_bot=True, comment_id=55, created_at=NOW)
