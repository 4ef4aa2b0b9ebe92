"""The wrapper around every node: clock, timeout, gate, record. It never raises.

This is one of the places that catch everything: whatever breaks inside an agent becomes a failed step, and its
twin by rules takes over in the same step.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from triage.agents.agent import Agent, Consulted
from triage.domain.case import Case
from triage.domain.findings import AgentFindingBase
from triage.domain.run import Engine, Outcome, StepName, StepRecord, ToolExecution, Usage
from triage.errors import TriageError
from triage.ports import Meter, Services

A = TypeVar("A", bound=AgentFindingBase)
T = TypeVar("T")

RULES_SECONDS = 20.0
"""What a twin may take even when the run's time is up: without it there is no report. It needs milliseconds."""
LEAST_SECONDS = 1.0
"""With less than this a model is not asked at all."""


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


@dataclass(frozen=True)
class _Judged:
    """What is wrong with a result that came in time."""

    failure: str | None = None
    usable: bool = True
    shortfalls: list[str] = field(default_factory=list)


async def consult(agent: Agent[A], case: Case, trail: Trail, *, by_rules: bool) -> Answered[A]:
    """Ask the model, or the twin when there is no model, when it failed, or when it declined before."""
    services = trail.services

    def judged(consulted: Consulted[A]) -> _Judged:
        if consulted.answer.error is not None:
            return _Judged("the agent declined to answer")
        refused = agent.objection(consulted.answer, case, services)
        return _Judged(refused, usable=refused is None, shortfalls=consulted.shortfalls)

    if services.model is not None and not by_rules:
        model = services.model
        seconds = _model_seconds(agent.name, services)
        consulted = await _attempt(trail, "model", lambda: agent.by_model(case, services, model), judged, seconds)
        if consulted is not None:
            return Answered(consulted.answer, "model", declined=consulted.answer.error is not None)

    async def twin() -> Consulted[A]:
        return Consulted(await agent.by_rules(case, services))

    ruled = await _attempt(trail, "rules", twin, judged, RULES_SECONDS)
    return Answered(ruled.answer if ruled else None, "rules")


def _model_seconds(name: StepName, services: Services) -> float:
    """An agent's time, what the writer needs being kept for it."""
    kept = 0.0 if name == "writer" else services.limits.writer_seconds
    return min(services.limits.agent_seconds, services.seconds_left() - kept)


async def run_plain(trail: Trail, call: Callable[[], Awaitable[T]], seconds: float) -> T | None:
    """A node that is no agent, under the same wrapper."""
    return await _attempt(trail, "rules", call, lambda _: _Judged(), seconds)


async def _attempt(
    trail: Trail,
    engine: Engine,
    call: Callable[[], Awaitable[T]],
    judged: Callable[[T], _Judged],
    seconds: float,
) -> T | None:
    """One try, recorded. None when it failed, ran out of time, or the gate refused the result."""
    timer = _Timer(trail, engine, seconds)
    if engine == "model" and seconds < LEAST_SECONDS:
        timer.record(Outcome.SKIPPED, "no time left for a model")
        return None
    try:
        with timer:
            result = await asyncio.wait_for(call(), seconds)
        judgement = judged(result)
    except TimeoutError:
        timer.record(Outcome.TIMED_OUT, f"no answer within {seconds:.0f} seconds")
    except TriageError as error:
        timer.record(Outcome.FAILED, str(error))
    except Exception as error:  # noqa: BLE001 - a node's failure must not cost the report
        timer.record(Outcome.FAILED, f"unexpected {type(error).__name__}")
    else:
        outcome = Outcome.FAILED if judgement.failure else Outcome.SUCCESS
        timer.record(outcome, judgement.failure, judgement.shortfalls)
        return result if judgement.usable else None
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
        self._meter: Meter | None = None
        if services.model is not None and self._engine == "model":
            self._meter = self._stack.enter_context(services.model.metered(self._seconds))
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
