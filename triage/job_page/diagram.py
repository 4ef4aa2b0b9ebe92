"""Splits a run into stages, and draws them as a Mermaid flowchart.

Rounded nodes are supervisor decisions, the boxes to their right are the agents that they started, the last rounded
node is the status of the run. Each round of the critic is a row. The text is our own words, numbers and model names.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from triage.comment import wording
from triage.domain.report import RunReport
from triage.domain.run import DegradationLevel, Outcome, PlannerDecision, Status, StepName, StepRecord


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


MAX_STAGES = 30
"""GitHub renders no chart of more than 50,000 characters."""
MAX_COLUMNS = 5
"""GitHub scales the picture to the width of the page: with more columns, its text is too small to read."""
MAX_MODEL_CHARS = 24
_MODEL_NAME = re.compile(r"[A-Za-z0-9._:/-]{1,80}")
_COMPACT = (
    '%%{init: {"flowchart": {"rankSpacing": 26, "nodeSpacing": 22, "padding": 9, "wrappingWidth": 320, '
    '"subGraphTitleMargin": {"top": 2, "bottom": 8}}}}%%'
)
_STYLES = """\
  classDef good fill:#dafbe1,stroke:#1a7f37,color:#1f2328
  classDef warn fill:#fff8c5,stroke:#9a6700,color:#1f2328
  classDef bad fill:#ffebe9,stroke:#cf222e,color:#1f2328
  classDef none fill:#eaeef2,stroke:#6e7781,color:#1f2328,stroke-dasharray:4 3
  classDef rules fill:#f6f8fa,stroke:#6e7781,color:#1f2328
  classDef model fill:#ddf4ff,stroke:#0969da,color:#1f2328
  classDef overruled fill:#fff1e5,stroke:#bc4c00,color:#1f2328"""
_STATUS_STYLES = {Status.COMPLETE: "good", Status.DEGRADED: "warn", Status.SKIPPED: "none", Status.FAILED: "bad"}


def render_diagram(report: RunReport) -> str:
    """Return a fenced Mermaid block; empty if nothing ran."""
    stages = split_into_stages(report)
    if not stages:
        return ""
    rows = _split_into_rows(stages[:MAX_STAGES])
    left_out = len(stages) - MAX_STAGES
    more = f"{wording.format_count(left_out, 'more decision')}<br/>" if left_out > 0 else ""
    text = f"{more}<b>{report.status.value}</b><br/>{wording.format_seconds(report.seconds)}"
    status = f'(["{text}"]):::{_STATUS_STYLES[report.status]}'
    lines = [*_draw_row(rows[0], status)] if len(rows) == 1 else [*_draw_rows(rows, status)]
    head = "flowchart LR" if len(rows) == 1 else "flowchart TB"
    return "\n".join(["```mermaid", _COMPACT, head, *(f"  {line}" for line in lines), _STYLES, "```"])


def _split_into_rows(stages: Sequence[Stage]) -> list[list[Stage]]:
    rows: list[list[Stage]] = []
    for stage in stages:
        row = [*rows[-1], stage] if rows else []
        columns = (stage is stages[-1]) + sum(bool(one.decision) + bool(one.turns or one.unfinished) for one in row)
        if rows and rows[-1][-1].round == stage.round and columns <= MAX_COLUMNS:
            rows[-1].append(stage)
        else:
            rows.append([stage])
    return rows


def _draw_rows(rows: Sequence[list[Stage]], status: str) -> Iterator[str]:
    # Arrows connect the frames, not the nodes inside: Mermaid ignores a frame's direction if they connect nodes.
    has_rounds = rows[0][0].round != rows[-1][0].round
    last_round = 0
    for number, row in enumerate(rows, start=1):
        title = f"Round {row[0].round}" if has_rounds and row[0].round != last_round else " "
        last_round = row[0].round
        yield f'subgraph r{number}["{title}"]'
        yield "  direction LR"
        yield from (f"  {line}" for line in _draw_row(row, status if number == len(rows) else ""))
        yield "end"
    yield from (f"r{number} --> r{number + 1}" for number in range(1, len(rows)))
    yield from (f"style r{number + 1} fill:none,stroke:#8c959f,color:#768390" for number in range(len(rows)))


def _draw_row(row: Sequence[Stage], status: str) -> Iterator[str]:
    columns: list[list[str]] = []
    for stage in row:
        if stage.decision:
            yield f"d{stage.number}{_draw_decision(stage, stage.decision)}"
            columns.append([f"d{stage.number}"])
        boxes = [_draw_turn(turn) for turn in stage.turns]
        boxes += [f'["<b>{wording.format_agent(name)}</b><br/>did not end"]:::none' for name in stage.unfinished]
        names = [f"a{stage.number}_{index}" for index in range(len(boxes))]
        yield from (f"{name}{box}" for name, box in zip(names, boxes, strict=True))
        columns += [names] if names else []
    if status:
        yield f"status{status}"
        columns.append(["status"])
    yield from (f"{' & '.join(left)} --> {' & '.join(right)}" for left, right in pairwise(columns))


def _draw_decision(stage: Stage, decision: PlannerDecision) -> str:
    lines = [f"<b>{decision.number}</b> {decision.origin}"]
    if decision.refused:
        names = set(decision.proposed)
        one = f"{wording.format_agent(decision.proposed[0])} refused" if len(names) == 1 else "no proposal"
        lines.append(f"✗ {len(names)} agents refused" if len(names) > 1 else f"✗ {one}")
    if stage.new_level:
        lines.append(f"budget: {stage.new_level}")
    elif decision.forced:
        lines.append("a limit decided")
    is_overruled = decision.refused or decision.forced or stage.new_level
    return f'(["{"<br/>".join(lines)}"]):::{"overruled" if is_overruled else decision.origin}'


def _draw_turn(turn: AgentTurn) -> str:
    attempts = [_describe_attempt(record) for record in turn.attempts]
    lines = [f"<b>{wording.STEPS[turn.step]}</b>", *attempts]
    shortfalls = sum(len(record.shortfalls) for record in turn.attempts)
    if shortfalls:
        lines.append(f"✗ {wording.format_count(shortfalls, 'part')} not as planned")
    tools = [tool for record in turn.attempts for tool in record.tools]
    failed = sum(tool.outcome is not Outcome.SUCCESS for tool in tools)
    if tools:
        lines.append(wording.format_count(len(tools), "tool call") + (f", {failed} failed" if failed else ""))
    is_answered = turn.attempts[-1].outcome is Outcome.SUCCESS
    is_as_planned = len(turn.attempts) == 1 and not shortfalls and not failed
    style = "bad" if not is_answered else "good" if is_as_planned else "warn"
    return f'["{"<br/>".join(lines)}"]:::{style}'


def _describe_attempt(record: StepRecord) -> str:
    # The name comes from an endpoint: anything that is not a plain name is left out.
    name = wording.model_name(record).partition(",")[0]
    short = name.rpartition("/")[2] if _MODEL_NAME.fullmatch(name) else ""
    who = "" if record.is_lookup else f"{wording.truncate(short or record.engine, MAX_MODEL_CHARS)} "
    if record.outcome is Outcome.SUCCESS:
        return f"{who}✓ {wording.format_seconds(record.seconds)}"
    if record.outcome is Outcome.SKIPPED:
        return f"{who}✗ not asked"
    reason = "refused" if record.is_refused else wording.OUTCOMES[record.outcome]
    return f"{who}✗ {reason}, {wording.format_seconds(record.seconds)}"
