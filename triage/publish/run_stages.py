"""A run as its decisions and what came of each. What picture and tables are drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from triage.domain.report import RunReport
from triage.domain.run import DegradationLevel, Outcome, PlannerDecision, StepName, StepRecord, ToolExecution

DEGRADATION_LEVELS: tuple[DegradationLevel, ...] = get_args(DegradationLevel)


@dataclass(frozen=True)
class AgentTurn:
    """One agent's turn: the model's try, and the rules' where they took over."""

    step: StepName
    attempts: list[StepRecord]

    @property
    def is_answered(self) -> bool:
        """Something came of it."""
        return self.attempts[-1].outcome is Outcome.SUCCESS

    @property
    def is_as_planned(self) -> bool:
        """It was answered as planned."""
        return self.is_answered and len(self.attempts) == 1 and not self.shortfall_count and not self.failed_tool_count

    @property
    def shortfall_count(self) -> int:
        """Parts of the answer that came otherwise than planned."""
        return sum(len(record.shortfalls) for record in self.attempts)

    @property
    def tools(self) -> list[ToolExecution]:
        """Every call of a tool."""
        return [tool for record in self.attempts for tool in record.tools]

    @property
    def failed_tool_count(self) -> int:
        """Calls of tools that gave nothing."""
        return sum(tool.outcome is not Outcome.SUCCESS for tool in self.tools)


@dataclass(frozen=True)
class Stage:
    """A decision of the supervisor and the turns that it started side by side; the index comes before the first."""

    number: int
    round: int
    decision: PlannerDecision | None
    new_level: DegradationLevel | None
    """The rung of the budget's ladder that was reached with this decision."""
    turns: list[AgentTurn]
    unfinished: list[str]
    """Agents that were chosen and left no record: the run was cut."""


def split_into_stages(report: RunReport) -> list[Stage]:
    """The run in order."""
    decisions = {decision.step: decision for decision in report.decisions}
    found: list[Stage] = []
    deepest = 0
    for number in sorted({*decisions, *(record.iteration for record in report.steps)}):
        decision = decisions.get(number)
        records = [record for record in report.steps if record.iteration == number]
        started = [record for record in records if record.step != "supervisor"]
        before = found[-1].round if found else 1
        reached = DEGRADATION_LEVELS.index(decision.rung) if decision else 0
        found.append(
            Stage(
                number=number,
                round=max([before, *(record.round for record in records)]),
                decision=decision,
                new_level=DEGRADATION_LEVELS[reached] if reached > deepest else None,
                turns=_group_by_agent(started),
                unfinished=_unfinished_agents(decision, started),
            )
        )
        deepest = max(deepest, reached)
    return found


def _group_by_agent(records: Sequence[StepRecord]) -> list[AgentTurn]:
    names = list(dict.fromkeys(record.step for record in records))
    return [AgentTurn(name, [record for record in records if record.step == name]) for name in names]


def _unfinished_agents(decision: PlannerDecision | None, started: Sequence[StepRecord]) -> list[str]:
    ended = {record.step for record in started}
    return [name for name in decision.selected if name not in ended] if decision else []


def has_model_answer(report: RunReport) -> bool:
    """Some agent's answer is a model's."""
    return any(
        record.engine == "model" and record.outcome is Outcome.SUCCESS and record.step != "supervisor"
        for record in report.steps
    )


def was_model_asked(report: RunReport) -> bool:
    """A model was asked at least once, answered or not."""
    return any(
        record.calls or (record.engine == "model" and record.outcome is not Outcome.SKIPPED) for record in report.steps
    )
