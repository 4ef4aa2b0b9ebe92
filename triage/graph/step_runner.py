"""Runs the work of a node under a clock, a timeout and a check, and records it.

Whatever breaks inside an agent becomes a failed attempt, and the agent's rules answer in the same step. Only the
cancellation of the run is raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from triage.agents.agent import Agent, AgentResult
from triage.agents.services import Services
from triage.base.errors import TriageError
from triage.base.progress import MeasuredStep, measure_step
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFindingBase
from triage.domain.run import Engine, Outcome, StepName, StepRecord
from triage.graph.capabilities import restrict_input, restrict_services

A = TypeVar("A", bound=AgentFindingBase)
T = TypeVar("T")

RULES_SECONDS = 20.0
"""Limit for rules, also when the run's time is up: without them there is no report. They need milliseconds."""
MIN_MODEL_SECONDS = 0.9
"""With less time than this no model is asked."""
DECLINED = "the agent declined to answer"


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """What became of one call of a model, or of rules."""

    outcome: Outcome
    result: T | None = None
    """What came in time, also when it did not pass the check."""
    error: str | None = None
    """Why there is no result, or why it did not pass the check."""


@dataclass
class StepRecorder:
    """One run of one node. What is tried after a failure belongs to the same record."""

    name: StepName
    services: Services
    round: int = 1
    iteration: int = 0
    record: StepRecord | None = None

    @property
    def records(self) -> list[StepRecord]:
        """What the node adds to the state: the record, if anything was tried."""
        return [self.record] if self.record else []

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
        started = services.clock()
        begun = self.record or StepRecord(
            step=self.name,
            engine=engine,
            started_at=services.now(),
            seconds=0.0,
            outcome=Outcome.SKIPPED,
            round=self.round,
            iteration=self.iteration,
        )
        with measure_step(started + seconds) as measured:
            if engine == "model" and seconds < MIN_MODEL_SECONDS:
                attempt = Attempt[T](Outcome.SKIPPED, error="no time left for a model")
            else:
                services.progress.log_start(self.name)
                try:
                    attempt = await _call_in_time(call, seconds, check)
                except asyncio.CancelledError:
                    ended = Attempt[T](Outcome.TIMED_OUT, error="cut off with the run")
                    unfinished = _record_attempt(begun, engine, ended, measured, services.clock() - started)
                    services.unfinished_steps.append(unfinished)
                    raise
        self.record = _record_attempt(begun, engine, attempt, measured, services.clock() - started)
        services.progress.log_end(self.record)
        return attempt


def _record_attempt(
    record: StepRecord, engine: Engine, attempt: Attempt[T], measured: MeasuredStep, seconds: float
) -> StepRecord:
    """Return the record of the step with one more attempt."""
    result = attempt.result
    # Why an answer was refused may quote it. Telemetry leaves out errors with a colon.
    error = f"no usable answer: {attempt.error}" if attempt.error and result is not None else attempt.error
    return record.model_copy(
        update={
            "engine": engine,
            "model": (", ".join(measured.models) or None) if engine == "model" else None,
            "seconds": round(record.seconds + seconds, 3),
            "usage": sum((call.usage for call in measured.calls), record.usage),
            "outcome": attempt.outcome,
            "error": "; ".join(filter(None, [record.error, error])) or None,
            "shortfalls": result.shortfalls if isinstance(result, AgentResult) else [],
            "tools": [*record.tools, *measured.tools],
            "calls": [*record.calls, *measured.calls],
        }
    )


async def _call_in_time(
    call: Callable[[], Awaitable[T]], seconds: float, check: Callable[[T], str | None]
) -> Attempt[T]:
    """Return the result of a call, or why there is none or it cannot be used."""
    try:
        result = await asyncio.wait_for(call(), seconds)
        error = check(result)
    except TimeoutError:
        return Attempt(Outcome.TIMED_OUT, error=f"no answer within {seconds:.0f} seconds")
    except TriageError as exception:
        return Attempt(Outcome.FAILED, error=str(exception))
    except Exception as exception:  # noqa: BLE001 - a node's failure must not cost the report
        return Attempt(Outcome.FAILED, error=f"unexpected {type(exception).__name__}")
    return Attempt(Outcome.FAILED if error else Outcome.SUCCESS, result, error)


async def run_agent(
    agent: Agent[A], agent_input: AgentInput, recorder: StepRecorder, *, by_rules: bool = False
) -> tuple[AgentResult[A] | None, Engine]:
    """Ask the agent's model, then its rules if there is no model, or if it fails or declines.

    Return the answer, None if all failed, and who gave it.
    """
    services = restrict_services(recorder.services, agent.capabilities)
    agent_input = restrict_input(agent_input, agent.capabilities)

    def check(result: AgentResult[A]) -> str | None:
        # A model's reason is not for notes, which are annotated and logged.
        return DECLINED if result.finding.error is not None else agent.check_answer(result.finding, services)

    if services.model and not by_rules:
        seconds = services.agent_seconds()
        if agent.name == "writer":
            seconds = min(services.limits.agent_seconds, services.seconds_left())
        ask = partial(agent.answer_with_model, agent_input, services, services.model)
        attempt = await recorder.attempt("model", ask, seconds, check)
        if attempt.result and not attempt.error:
            return attempt.result, "model"

    async def call_rules() -> AgentResult[A]:
        return AgentResult(await agent.answer_with_rules(agent_input, services))

    attempt = await recorder.attempt("rules", call_rules, RULES_SECONDS, check)
    return attempt.result if not attempt.error else None, "rules"
