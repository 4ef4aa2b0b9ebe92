"""A desk over fakes."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from testing import factories
from testing.fakes import NOW, FakeCodebase, FakeGitHub, FakeJournal, FakeModel, FakeRunner, services
from triage.domain.effect import Policy
from triage.domain.issue import Exchange, Issue
from triage.domain.task import Task, TriageIssue, Trigger
from triage.flows.flow_context import Desk, Ending
from triage.flows.triage_issue import carry_out
from triage.ports import Services

OPENED = TriageIssue(number=7, trigger=Trigger.OPENED, actor="reporter")
BY_HAND = TriageIssue(number=7, trigger=Trigger.REQUESTED)


@dataclass
class Office:
    """A desk over fakes, and what it did."""

    github: FakeGitHub = field(default_factory=lambda: FakeGitHub(issues={7: factories.issue()}))
    runner: FakeRunner = field(default_factory=FakeRunner)
    policy: Policy = field(default_factory=Policy)
    given: Services = field(default_factory=lambda: services(codebase=FakeCodebase(factories.FILES)))

    told: Issue | None = None
    journal: FakeJournal = field(default_factory=FakeJournal)
    most_model_runs: int | None = None

    def desk(self) -> Desk:
        return Desk(
            github=self.github,
            runner=self.runner,
            journal=self.journal,
            policy=self.policy,
            repository=factories.repository(labels=[]),
            services=lambda: self.given,
            now=lambda: NOW,
            told=self.told,
            most_model_runs=self.most_model_runs,
            by_rules=lambda: services(codebase=FakeCodebase(factories.FILES)),
        )

    def ask_a_model(self) -> FakeModel:
        """Have a model answer, which keeps its prompts."""
        model = FakeModel(factories.answers())
        self.given = services(codebase=FakeCodebase(factories.FILES), model=model)
        return model

    def while_indexing(self, meanwhile: Callable[[], None]) -> None:
        """Have something happen while the agents are at work."""
        self.given = services(codebase=FakeCodebase(factories.FILES, indexing=meanwhile))

    def run(self, task: Task) -> Ending:
        return asyncio.run(carry_out(task, self.desk(), asyncio.Event()))

    def thread(self, *said: Exchange, **changes: Any) -> None:
        self.github.issues[7] = factories.issue(thread=list(said), **changes)

    @property
    def writes(self) -> int:
        return len(self.github.posted) + len(self.github.edited) + len(self.github.labelled)


def ours(body: str) -> Exchange:
    return Exchange(author="github-actions[bot]", body=body, ours=True, by_bot=True, comment_id=55, created_at=NOW)
