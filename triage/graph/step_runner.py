"""Runs the work of a node under a clock, a timeout and a check, and records it.

Whatever breaks inside an agent becomes a failed attempt, and the agent's rules answer in the same step. Only the
cancellation of the run is raised.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from triage.agents.agent import Agent, AgentAnswer
from triage.base.errors import CostLimitExceeded, TriageError
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFindingBase
from triage.domain.run import (
    DegradationLevel,
    Engine,
    Outcome,
    StepName,
    StepRecord,
    ToolExecution,
    Usage,
)
from triage.graph.capabilities import restrict_input, restrict_services
from triage.ports import MeasuredUsage, Model, Services

A = TypeVar("A", bound=AgentFindingBase)
T = TypeVar("T")
R = TypeVar("R")

RULES_SECONDS = 20.0
"""Limit for rules, also when the run's time is up: without them there is no report. They need milliseconds."""
MIN_MODEL_SECONDS = 0.9
"""With less time than this no model is asked."""
DECLINED = "the agent declined to answer"
cancelled_steps: ContextVar[list[StepRecord] | None] = ContextVar("cancelled_steps", default=None)
"""Attempts that are cancelled: no node's update will hold them."""
tool_records: ContextVar[list[ToolExecution] | None] = ContextVar("tool_records", default=None)


@dataclass(frozen=True)
class Attempt(Generic[T]):
    outcome: Outcome
    result: T | None = None
    """What came in time, also when it did not pass the check."""
    error: str | None = None
    """Why there is no result, or why it did not pass the check."""
    exception: BaseException | None = None


@dataclass
class Step:
    """One run of one node."""

    name: StepName
    services: Services
    round: int = 1
    iteration: int = 0
    records: list[StepRecord] = field(default_factory=list)
    """One of each attempt."""

    async def attempt(
        self,
        engine: Engine,
        call: Callable[[], Awaitable[T]],
        seconds: float,
        check: Callable[[T], str | None] = lambda _: None,
    ) -> Attempt[T]:
        """Call once, and record seconds, usage, model calls and tool calls.

        `check` returns why a result cannot be used; None when it can.
        """
        services = self.services
        started, started_at = services.clock(), services.now()
        usage: MeasuredUsage | None = None
        tools: list[ToolExecution] = []
        if engine == "model" and seconds < MIN_MODEL_SECONDS:
            attempt = Attempt[T](Outcome.SKIPPED, error="no time left for a model")
        else:
            services.progress.log_start(self.name)
            # By rules too: embeddings are paid.
            measuring = services.model.measure_usage(seconds) if services.model else nullcontext()
            with measuring as usage, collect_records(tool_records) as tools:
                attempt = await _call(call, seconds, check)
        record = StepRecord(
            step=self.name,
            engine=engine,
            model=(", ".join(usage.models) or None) if usage and engine == "model" else None,
            started_at=started_at,
            offset_seconds=round(started - services.started, 3),
            seconds=round(services.clock() - started, 3),
            usage=usage.usage if usage else Usage(),
            outcome=attempt.outcome,
            error=attempt.error,
            shortfalls=attempt.result.shortfalls if isinstance(attempt.result, AgentAnswer) else [],
            answer_check=None if attempt.result is None else attempt.error or "passed",
            tools=tools,
            calls=usage.calls if usage else [],
            round=self.round,
            iteration=self.iteration,
        )
        if isinstance(attempt.exception, asyncio.CancelledError):
            if (cancelled := cancelled_steps.get()) is not None:
                cancelled.append(record)
            raise attempt.exception
        self.records.append(record)
        services.progress.log_end(record)
        return attempt


async def _call(call: Callable[[], Awaitable[T]], seconds: float, check: Callable[[T], str | None]) -> Attempt[T]:
    try:
        result = await asyncio.wait_for(call(), seconds)
        error = check(result)
    except asyncio.CancelledError as exception:
        return Attempt(Outcome.TIMED_OUT, error="cut off with the run", exception=exception)
    except TimeoutError as exception:
        return Attempt(Outcome.TIMED_OUT, error=f"no answer within {seconds:.0f} seconds", exception=exception)
    except TriageError as exception:
        return Attempt(Outcome.FAILED, error=str(exception), exception=exception)
    except Exception as exception:  # noqa: BLE001 - a node's failure must not cost the report
        return Attempt(Outcome.FAILED, error=f"unexpected {type(exception).__name__}", exception=exception)
    return Attempt(Outcome.FAILED if error else Outcome.SUCCESS, result, error)


async def run_agent(
    agent: Agent[A], agent_input: AgentInput, step: Step, level: DegradationLevel = "whole"
) -> tuple[AgentAnswer[A] | None, Engine]:
    """Ask the agent's model, then its rules if there is no model or the model fails.

    The degradation level decides which models are asked; none at `rules`.

    Returns:
        The answer, and who gave it. One with `error` means that the model declined; None that all failed.
    """
    services = restrict_services(step.services, agent.capabilities)
    agent_input = restrict_input(agent_input, agent.capabilities)

    def check(result: AgentAnswer[A]) -> str | None:
        return DECLINED if result.answer.error is not None else agent.check_answer(result.answer, services)

    seconds = services.agent_seconds()
    if agent.name == "writer":
        seconds = min(services.limits.agent_seconds, services.seconds_left())
    deadline = services.clock() + seconds
    for model in _choose_models(services.model, level):
        call = partial(agent.answer_with_model, agent_input, services, model)
        attempt = await step.attempt("model", call, deadline - services.clock(), check)
        if attempt.result and attempt.error in (None, DECLINED):
            return attempt.result, "model"
        if not isinstance(attempt.exception, CostLimitExceeded):
            break

    async def call_rules() -> AgentAnswer[A]:
        return AgentAnswer(await agent.answer_with_rules(agent_input, services))

    attempt = await step.attempt("rules", call_rules, RULES_SECONDS, check)
    return attempt.result if not attempt.error else None, "rules"


def _choose_models(model: Model | None, level: DegradationLevel) -> list[Model]:
    if model is None or level == "rules":
        return []
    if level == "fast model":
        return [model.with_fast_model()]
    return [model, model.with_fast_model()]  # the second only when the first costs more than what is left


@contextmanager
def collect_records(kept: ContextVar[list[R] | None]) -> Iterator[list[R]]:
    """Collect what is added to `cancelled_steps` or `tool_records` inside the block, also in tasks that it starts."""
    records: list[R] = []
    token = kept.set(records)
    try:
        yield records
    finally:
        kept.reset(token)
