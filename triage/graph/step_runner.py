"""The wrapper around every node: clock, timeout, budget, gate, record. It never raises.

This is one of the places that catch everything: whatever breaks inside an agent becomes a failed step, and its
twin by rules takes over in the same step.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from triage.agents.agent import Agent, AgentAnswer
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFindingBase
from triage.domain.run import DegradationLevel, Engine, ModelCall, Outcome, StepName, StepRecord, ToolExecution, Usage
from triage.errors import CostLimitExceeded, TriageError
from triage.graph.capabilities import restrict_input, restrict_services
from triage.graph.degradation import is_at_least
from triage.graph.tool_runner import record_tool_calls
from triage.ports import MeasuredUsage, Model, Services

A = TypeVar("A", bound=AgentFindingBase)
T = TypeVar("T")

RULES_SECONDS = 20.0
"""What a twin may take even when the run's time is up: without it there is no report. It needs milliseconds."""
MIN_MODEL_SECONDS = 0.9
"""With less than this a model is not asked at all."""
PASSED = "passed"
_unfinished: ContextVar[list[StepRecord] | None] = ContextVar("unfinished", default=None)


@dataclass
class StepRecorder:
    """What identifies the records of one node's run."""

    step: StepName
    services: Services
    round: int = 1
    iteration: int = 0
    level: DegradationLevel = "whole"
    records: list[StepRecord] = field(default_factory=list)


@dataclass(frozen=True)
class AgentResult(Generic[A]):
    """How an agent's turn ended: its answer, or none when model and twin both failed."""

    answer: A | None
    engine: Engine
    declined: bool = False
    """The model answered with `error` set: the supervisor decides again."""


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """How one try ended."""

    result: T | None = None
    """What came in time, also when the gate refused it."""
    failure: str = ""
    usable: bool = False
    cause: Exception | None = None


@dataclass(frozen=True)
class GateResult:
    """What the gate makes of a result that came in time."""

    failure: str | None = None
    usable: bool = True
    shortfalls: list[str] = field(default_factory=list)


async def run_agent(agent: Agent[A], case: AgentInput, trail: StepRecorder, *, by_rules: bool) -> AgentResult[A]:
    """Ask the model, or the twin when there is no model, when it failed, or when it declined before.

    The agent is handed what its powers cover, and nothing else. Down the budget's ladder all agents go to the fast
    model, and then to their twins.
    """
    services, case = restrict_services(trail.services, agent.capabilities), restrict_input(case, agent.capabilities)

    def judged(consulted: AgentAnswer[A]) -> GateResult:
        if consulted.answer.error is not None:
            return GateResult("the agent declined to answer")
        refused = agent.check_answer(consulted.answer, case, services)
        return GateResult(refused, usable=refused is None, shortfalls=consulted.shortfalls)

    seconds, began = _compute_model_seconds(trail), services.clock()
    for model in [] if by_rules else _choose_models(trail):
        turn = partial(agent.answer_with_model, case, services, model)
        tried = await _attempt(trail, "model", turn, judged, seconds - (services.clock() - began))
        if tried.usable and tried.result is not None:
            return AgentResult(tried.result.answer, "model", declined=tried.result.answer.error is not None)
        if not isinstance(tried.cause, CostLimitExceeded):
            break

    async def twin() -> AgentAnswer[A]:
        return AgentAnswer(await agent.answer_with_rules(case, services))

    ruled = await _attempt(trail, "rules", twin, judged, RULES_SECONDS)
    return AgentResult(ruled.result.answer if ruled.usable and ruled.result else None, "rules")


def _choose_models(trail: StepRecorder) -> list[Model]:
    """Models to ask, in turn: the second only when the first is too dear for what is left."""
    model = trail.services.model
    if model is None or is_at_least(trail.level, "rules"):
        return []
    return [model.with_fast_model()] if is_at_least(trail.level, "fast model") else [model, model.with_fast_model()]


def _compute_model_seconds(trail: StepRecorder) -> float:
    """An agent's time; for the writer all that is left."""
    services = trail.services
    if trail.step == "writer":
        return min(services.limits.agent_seconds, services.seconds_left())
    return services.agent_seconds()


async def ask_model(
    trail: StepRecorder, call: Callable[[], Awaitable[T]], gate: Callable[[T], str | None], seconds: float
) -> Attempt[T]:
    """A model's answer that has no twin here: the caller decides what stands in."""

    def judged(result: T) -> GateResult:
        refused = gate(result)
        return GateResult(refused, usable=refused is None)

    return await _attempt(trail, "model", call, judged, seconds)


async def run_step(trail: StepRecorder, call: Callable[[], Awaitable[T]], seconds: float) -> T | None:
    """A node that is no agent, under the same wrapper."""
    return (await _attempt(trail, "rules", call, lambda _: GateResult(), seconds)).result


async def _attempt(
    trail: StepRecorder,
    engine: Engine,
    call: Callable[[], Awaitable[T]],
    judged: Callable[[T], GateResult],
    seconds: float,
) -> Attempt[T]:
    """One try, recorded: failed, out of time, refused by the gate, or usable."""
    timer = _AttemptTimer(trail, engine, seconds)
    if engine == "model" and seconds < MIN_MODEL_SECONDS:
        return timer.fail(Outcome.SKIPPED, "no time left for a model")
    try:
        with timer:
            result = await asyncio.wait_for(call(), seconds)
        judgement = judged(result)
    except asyncio.CancelledError:
        timer.record_cancelled()
        raise
    except TimeoutError as error:
        return timer.fail(Outcome.TIMED_OUT, f"no answer within {seconds:.0f} seconds", error)
    except TriageError as error:
        return timer.fail(Outcome.FAILED, str(error), error)
    except Exception as error:  # noqa: BLE001 - a node's failure must not cost the report
        return timer.fail(Outcome.FAILED, f"unexpected {type(error).__name__}", error)
    timer.finish(judgement)
    return Attempt(result, judgement.failure or "", usable=judgement.usable)


@contextmanager
def collect_unfinished() -> Iterator[list[StepRecord]]:
    """Records of what the tasks started inside the block were at when the run was cut."""
    records: list[StepRecord] = []
    token = _unfinished.set(records)
    try:
        yield records
    finally:
        _unfinished.reset(token)


class _AttemptTimer:
    """Measures one try: seconds, usage, calls, tools."""

    def __init__(self, trail: StepRecorder, engine: Engine, seconds: float) -> None:
        self._trail, self._engine, self._seconds = trail, engine, seconds
        self._began, self._at = trail.services.clock(), trail.services.now()
        self._usage, self._models = Usage(), list[str]()
        self._tools, self._calls = list[ToolExecution](), list[ModelCall]()

    def __enter__(self) -> None:
        services = self._trail.services
        services.progress.log_start(self._trail.step)
        self._stack = ExitStack()
        self._meter: MeasuredUsage | None = None
        if services.model is not None:  # by rules too: vectors are paid
            self._meter = self._stack.enter_context(services.model.measure_usage(self._seconds))
        self._recorded = self._stack.enter_context(record_tool_calls())

    def __exit__(self, *_: object) -> None:
        if self._meter is not None:
            self._usage, self._models = self._meter.usage, self._meter.models
            self._calls = list(self._meter.calls)
        self._tools = list(self._recorded)
        self._stack.close()

    def fail(self, outcome: Outcome, reason: str, cause: Exception | None = None) -> Attempt[T]:
        """Close the try without a result."""
        self._save(self._build_record(outcome, reason))
        return Attempt(failure=reason, cause=cause)

    def record_cancelled(self) -> None:
        """The run was cut while this went on: no update of its node will carry the record."""
        unfinished = _unfinished.get()
        if unfinished is not None:
            unfinished.append(self._build_record(Outcome.TIMED_OUT, "cut off with the run"))

    def finish(self, judgement: GateResult) -> None:
        """Close the try with what the gate said."""
        whole = self._build_record(Outcome.FAILED if judgement.failure else Outcome.SUCCESS, judgement.failure)
        self._save(whole.model_copy(update={"gate": judgement.failure or PASSED, "shortfalls": judgement.shortfalls}))

    def _build_record(self, outcome: Outcome, error: str | None) -> StepRecord:
        services = self._trail.services
        return StepRecord(
            step=self._trail.step,
            engine=self._engine,
            model=(", ".join(self._models) or None) if self._engine == "model" else None,
            started_at=self._at,
            offset_seconds=round(self._began - services.started, 3),
            seconds=round(services.clock() - self._began, 3),
            usage=self._usage,
            outcome=outcome,
            error=error,
            tools=self._tools,
            calls=self._calls,
            round=self._trail.round,
            iteration=self._trail.iteration,
        )

    def _save(self, record: StepRecord) -> None:
        self._trail.records.append(record)
        self._trail.services.progress.log_end(record)
