"""Splits a run into stages, for the picture and the tables: a supervisor decision and the agents that it started."""

from dataclasses import dataclass

from triage.domain.report import RunReport
from triage.domain.run import DegradationLevel, PlannerDecision, StepName, StepRecord


@dataclass(frozen=True)
class AgentTurn:
    """One turn of an agent: the attempt of the model, and the attempt of the rules where they took over."""

    step: StepName
    attempts: list[StepRecord]


@dataclass(frozen=True)
class Stage:
    """A supervisor decision and the turns that it started in parallel. The index is a stage without a decision."""

    number: int
    round: int
    decision: PlannerDecision | None
    new_level: DegradationLevel | None
    """The degradation level, if the run had not reached it before."""
    turns: list[AgentTurn]
    unfinished: list[str]
    """Selected agents without a record: the run was cancelled."""


def split_into_stages(report: RunReport) -> list[Stage]:
    decisions = {decision.number: decision for decision in report.decisions}
    stages: list[Stage] = []
    seen_levels: set[DegradationLevel] = {"whole"}
    for number in sorted({*decisions, *(record.iteration for record in report.steps)}):
        decision = decisions.get(number)
        records = [record for record in report.steps if record.iteration == number]
        agent_records = [record for record in records if record.step != "supervisor"]
        names = list(dict.fromkeys(record.step for record in agent_records))
        last_round = stages[-1].round if stages else 1
        new_level = decision.budget_level if decision and decision.budget_level not in seen_levels else None
        stages.append(
            Stage(
                number=number,
                round=max([last_round, *(record.round for record in records)]),
                decision=decision,
                new_level=new_level,
                turns=[AgentTurn(name, [one for one in agent_records if one.step == name]) for name in names],
                unfinished=[name for name in decision.selected if name not in names] if decision else [],
            )
        )
        if new_level:
            seen_levels.add(new_level)
    return stages
