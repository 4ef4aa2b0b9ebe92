"""The wrapper around every node: clock, timeout, gate, record. It never raises.

This is one of the two places that catch everything: whatever breaks inside an agent becomes a failed step, and its
twin by rules takes over in the same step.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from triage.agents.agent import Agent, Consulted
from triage.domain.case import Case
from triage.domain.findings import AgentFindingBase
from triage.domain.run import Engine, Outcome, StepName, StepRecord, ToolExecution, Usage
from triage.errors import TriageError
from triage.ports import Services

A = TypeVar("A", bound=AgentFindingBase)
T = TypeVar("T")

RULES_SECONDS = 30.0
"""What a twin may take even when the run's time is up: without it there is no report."""


@dataclass
class Trail:
    """What identifies the records of one node's run."""

    step: StepName
    services: Services
    round: int = 1
    iteration: int = 0
    records: list[StepRecord] = field(default_factory=list)


@dataclass(frozen=True)
class Answered(Generic[A]):
    """How an agent's turn ended: its answer, or none when model and twin both failed."""

    answer: A | None
    engine: Engine
    declined: bool = False
    """The model answered with `error` set: the supervisor decides again."""


async def consult(agent: Agent[A], case: Case, trail: Trail, *, by_rules: bool) -> Answered[A]:
    """Ask the model, or the twin when there is no model, when it failed, or when it declined before."""
    services = trail.services
    if services.model is not None and not by_rules:
        model = services.model
        seconds = max(0.001, min(services.limits.agent_seconds, services.seconds_left()))
        asked = lambda: agent.by_model(case, services, model)  # noqa: E731
        consulted = await _attempt(trail, "model", asked, _gate(agent, case), seconds)
        if consulted is not None:
            return Answered(consulted.answer, "model", declined=consulted.answer.error is not None)

    async def twin() -> Consulted[A]:
        return Consulted(await agent.by_rules(case, services))

    ruled = await _attempt(trail, "rules", twin, _gate(agent, case), RULES_SECONDS)
    return Answered(ruled.answer if ruled else None, "rules")


def _gate(agent: Agent[A], case: Case) -> Callable[[Consulted[A]], str | None]:
    def objection(consulted: Consulted[A]) -> str | None:
        answer = consulted.answer
        if answer.error is not None:
            return None  # not a bad answer but none; the caller sees to it
        return agent.objection(answer, case)

    return objection


async def _attempt(
    trail: Trail,
    engine: Engine,
    call: Callable[[], Awaitable[Consulted[A]]],
    objection: Callable[[Consulted[A]], str | None],
    seconds: float,
) -> Consulted[A] | None:
    """One try, recorded. None when it failed, ran out of time, or the gate refused the answer."""
    timer = _Timer(trail, engine, seconds)
    try:
        with timer:
            consulted = await asyncio.wait_for(call(), seconds)
        refused = objection(consulted)
    except TimeoutError:
        timer.record(Outcome.TIMED_OUT, f"no answer within {seconds:.0f} seconds")
    except TriageError as error:
        timer.record(Outcome.FAILED, str(error))
    except Exception as error:  # noqa: BLE001 - the one place where a node's failure is caught
        timer.record(Outcome.FAILED, f"unexpected {type(error).__name__}")
    else:
        declined = "the agent declined to answer" if consulted.answer.error is not None else refused
        timer.record(Outcome.FAILED if declined else Outcome.SUCCESS, declined, consulted.shortfalls)
        return None if refused else consulted
    return None


class _Timer:
    """Measures one try: seconds, usage, tools."""

    def __init__(self, trail: Trail, engine: Engine, seconds: float) -> None:
        self._trail, self._engine, self._seconds = trail, engine, seconds
        self._began, self._at = trail.services.clock(), trail.services.now()
        self._usage, self._models, self._tools = Usage(), list[str](), list[ToolExecution]()

    def __enter__(self) -> None:
        services = self._trail.services
        services.journal.started(self._trail.step)
        self._stack = ExitStack()
        self._meter = (
            self._stack.enter_context(services.model.metered(self._seconds))
            if services.model is not None and self._engine == "model"
            else None
        )
        self._recorded = self._stack.enter_context(services.search.recorded()) if services.search else []

    def __exit__(self, *_: object) -> None:
        if self._meter is not None:
            self._usage, self._models = self._meter.usage, self._meter.models
        self._tools = list(self._recorded)
        self._stack.close()

    def record(self, outcome: Outcome, error: str | None = None, shortfalls: list[str] | None = None) -> None:
        """Close the try with its outcome; each shortfall is a failed part of its own."""
        services = self._trail.services
        record = StepRecord(
            step=self._trail.step,
            engine=self._engine,
            model=", ".join(self._models) or None,
            started_at=self._at,
            offset_seconds=round(self._began - services.started, 3),
            seconds=round(services.clock() - self._began, 3),
            usage=self._usage,
            outcome=outcome,
            error=error,
            tools=self._tools,
            round=self._trail.round,
            iteration=self._trail.iteration,
        )
        failed_parts = [
            record.model_copy(update={"outcome": Outcome.FAILED, "error": part, "usage": Usage(), "tools": []})
            for part in shortfalls or []
        ]
        for each in [*failed_parts, record]:
            self._trail.records.append(each)
            services.journal.ended(each)


async def run_plain(trail: Trail, call: Callable[[], Awaitable[T]], seconds: float) -> T | None:
    """A node that is no agent, under the same wrapper."""
    result: list[T] = []

    async def work() -> Consulted[Any]:
        result.append(await call())
        return Consulted(_DONE)

    await _attempt(trail, "rules", work, lambda _: None, seconds)
    return result[0] if result else None


_DONE = AgentFindingBase(agent_name="", summary="", confidence=1.0, reasoning="", error=None)
