"""Runs the work of a node under a clock, a timeout and a gate, and records it. It never raises.

This is one of the places that catch everything: whatever breaks inside an agent becomes a failed step, and the agent's
rules answer in the same step.
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
from triage.domain.run import DegradationLevel, Engine, Outcome, StepName, StepRecord, ToolExecution, Usage
from triage.errors import CostLimitExceeded, TriageError
from triage.graph.capabilities import restrict_input, restrict_services
from triage.graph.degradation import is_at_least
from triage.graph.tool_runner import record_tool_calls
from triage.ports import MeasuredUsage, Model, Services

A = TypeVar("A", bound=AgentFindingBase)
T = TypeVar("T")

RULES_SECONDS = 20.0
"""Limit for rules, also when the run's time is up: without them there is no report. They need milliseconds."""
MIN_MODEL_SECONDS = 0.9
"""With less time than this no model is asked."""
PASSED = "passed"
_unfinished: ContextVar[list[StepRecord] | None] = ContextVar("unfinished", default=None)


@dataclass
class StepRecorder:
    """Collects the records of one node, one for each attempt."""

    step: StepName
    services: Services
    round: int = 1
    iteration: int = 0
    level: DegradationLevel = "whole"
    records: list[StepRecord] = field(default_factory=list)


@dataclass(frozen=True)
class AgentResult(Generic[A]):
    """How an agent's turn ended."""

    answer: A | None
    """None when model and rules both failed."""
    engine: Engine
    declined: bool = False
    """The model answered with `error` set: the supervisor decides again."""


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """How one attempt ended."""

    result: T | None = None
    """What came in time, also when the gate refused it."""
    failure: str = ""
    is_usable: bool = False
    cause: Exception | None = None


@dataclass(frozen=True)
class GateResult:
    """What the gate says about a result that came in time."""

    failure: str | None = None
    is_usable: bool = True
    shortfalls: list[str] = field(default_factory=list)


async def run_agent(
    agent: Agent[A], agent_input: AgentInput, recorder: StepRecorder, *, by_rules: bool
) -> AgentResult[A]:
    """Ask the agent's model, then its rules if there is no model or the model fails.

    Args:
        agent: Gets only what its capabilities cover.
        agent_input: What is known so far.
        recorder: Gets a record of each attempt. Its degradation level decides which models are asked.
        by_rules: No model is asked, because it declined before.
    """
    services = restrict_services(recorder.services, agent.capabilities)
    agent_input = restrict_input(agent_input, agent.capabilities)

    def gate(result: AgentAnswer[A]) -> GateResult:
        if result.answer.error is not None:
            return GateResult("the agent declined to answer")
        refusal = agent.check_answer(result.answer, agent_input, services)
        return GateResult(refusal, is_usable=refusal is None, shortfalls=result.shortfalls)

    deadline = services.clock() + _compute_model_seconds(recorder)
    for model in [] if by_rules else _choose_models(recorder):
        call = partial(agent.answer_with_model, agent_input, services, model)
        attempt = await _attempt(recorder, "model", call, gate, deadline - services.clock())
        if attempt.is_usable and attempt.result is not None:
            answer = attempt.result.answer
            return AgentResult(answer, "model", declined=answer.error is not None)
        if not isinstance(attempt.cause, CostLimitExceeded):
            break

    async def call_rules() -> AgentAnswer[A]:
        return AgentAnswer(await agent.answer_with_rules(agent_input, services))

    attempt = await _attempt(recorder, "rules", call_rules, gate, RULES_SECONDS)
    return AgentResult(attempt.result.answer if attempt.is_usable and attempt.result else None, "rules")


def _choose_models(recorder: StepRecorder) -> list[Model]:
    model = recorder.services.model
    if model is None or is_at_least(recorder.level, "rules"):
        return []
    if is_at_least(recorder.level, "fast model"):
        return [model.with_fast_model()]
    return [model, model.with_fast_model()]  # the second only when the first costs more than what is left


def _compute_model_seconds(recorder: StepRecorder) -> float:
    services = recorder.services
    if recorder.step == "writer":
        return min(services.limits.agent_seconds, services.seconds_left())
    return services.agent_seconds()


async def ask_model(
    recorder: StepRecorder, call: Callable[[], Awaitable[T]], check: Callable[[T], str | None], seconds: float
) -> Attempt[T]:
    """Ask a model where no rules stand behind it; the caller decides what takes the place of a failed attempt."""

    def gate(result: T) -> GateResult:
        refusal = check(result)
        return GateResult(refusal, is_usable=refusal is None)

    return await _attempt(recorder, "model", call, gate, seconds)


async def run_step(recorder: StepRecorder, call: Callable[[], Awaitable[T]], seconds: float) -> T | None:
    """Run a node that is no agent. Returns None when it fails."""
    return (await _attempt(recorder, "rules", call, lambda _: GateResult(), seconds)).result


async def _attempt(
    recorder: StepRecorder,
    engine: Engine,
    call: Callable[[], Awaitable[T]],
    gate: Callable[[T], GateResult],
    seconds: float,
) -> Attempt[T]:
    timer = _AttemptTimer(recorder, engine, seconds)
    if engine == "model" and seconds < MIN_MODEL_SECONDS:
        return timer.fail(Outcome.SKIPPED, "no time left for a model")
    try:
        with timer:
            result = await asyncio.wait_for(call(), seconds)
        gate_result = gate(result)
    except asyncio.CancelledError:
        timer.record_cancelled()
        raise
    except TimeoutError as error:
        return timer.fail(Outcome.TIMED_OUT, f"no answer within {seconds:.0f} seconds", error)
    except TriageError as error:
        return timer.fail(Outcome.FAILED, str(error), error)
    except Exception as error:  # noqa: BLE001 - a node's failure must not cost the report
        return timer.fail(Outcome.FAILED, f"unexpected {type(error).__name__}", error)
    timer.finish(gate_result)
    return Attempt(result, gate_result.failure or "", is_usable=gate_result.is_usable)


@contextmanager
def collect_unfinished() -> Iterator[list[StepRecord]]:
    """Collect records of the attempts that are cancelled inside the block: no node's update will hold them."""
    records: list[StepRecord] = []
    token = _unfinished.set(records)
    try:
        yield records
    finally:
        _unfinished.reset(token)


class _AttemptTimer:
    """Measures one attempt (seconds, usage, model calls, tool calls) and records its end."""

    def __init__(self, recorder: StepRecorder, engine: Engine, seconds: float) -> None:
        self._recorder, self._engine, self._seconds = recorder, engine, seconds
        self._started, self._started_at = recorder.services.clock(), recorder.services.now()
        self._usage: MeasuredUsage | None = None
        self._tools: list[ToolExecution] = []

    def __enter__(self) -> None:
        services = self._recorder.services
        services.progress.log_start(self._recorder.step)
        self._stack = ExitStack()
        if services.model is not None:  # by rules too: embeddings are paid
            self._usage = self._stack.enter_context(services.model.measure_usage(self._seconds))
        self._tools = self._stack.enter_context(record_tool_calls())

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def fail(self, outcome: Outcome, reason: str, cause: Exception | None = None) -> Attempt[T]:
        self._save(self._build_record(outcome, reason))
        return Attempt(failure=reason, cause=cause)

    def record_cancelled(self) -> None:
        unfinished = _unfinished.get()
        if unfinished is not None:
            unfinished.append(self._build_record(Outcome.TIMED_OUT, "cut off with the run"))

    def finish(self, gate: GateResult) -> None:
        record = self._build_record(Outcome.FAILED if gate.failure else Outcome.SUCCESS, gate.failure)
        self._save(record.model_copy(update={"gate": gate.failure or PASSED, "shortfalls": gate.shortfalls}))

    def _build_record(self, outcome: Outcome, error: str | None) -> StepRecord:
        services = self._recorder.services
        models = self._usage.models if self._usage and self._engine == "model" else []
        return StepRecord(
            step=self._recorder.step,
            engine=self._engine,
            model=", ".join(models) or None,
            started_at=self._started_at,
            offset_seconds=round(self._started - services.started, 3),
            seconds=round(services.clock() - self._started, 3),
            usage=self._usage.usage if self._usage else Usage(),
            outcome=outcome,
            error=error,
            tools=list(self._tools),
            calls=list(self._usage.calls) if self._usage else [],
            round=self._recorder.round,
            iteration=self._recorder.iteration,
        )

    def _save(self, record: StepRecord) -> None:
        self._recorder.records.append(record)
        self._recorder.services.progress.log_end(record)
