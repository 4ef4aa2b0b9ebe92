"""A picture of the run, as a Mermaid flowchart: our own words, numbers and the models' names, nothing else.

Read from left to right: a pill is a decision of the supervisor, the boxes behind it are the agents that it chose, the
last pill is how the run ended. Each round of the critic is a row.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from triage.domain.fault import is_refused_by_gate
from triage.domain.report import RunReport
from triage.domain.run import Outcome, PlannerDecision, Status, StepRecord
from triage.publish import wording
from triage.publish.run_stages import AgentTurn, Stage, split_into_stages

MAX_STAGES = 30
"""GitHub draws no chart with more than 50,000 characters."""
MAX_LINES = 4
"""Of one agent's box."""
COLUMNS_IN_ROW = 5
"""GitHub fits a picture into the page's width: with more, its words get too small to read."""
MAX_MODEL_CHARS = 24
_MODEL = re.compile(r"[A-Za-z0-9._:/-]{1,80}")
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
  classDef law fill:#fff1e5,stroke:#bc4c00,color:#1f2328"""
_STATUS = {Status.COMPLETE: "good", Status.DEGRADED: "warn", Status.SKIPPED: "none", Status.FAILED: "bad"}


def render_diagram(report: RunReport) -> str:
    """A fenced Mermaid block; empty when nothing ran."""
    found = split_into_stages(report)
    if not found:
        return ""
    rows = _split_into_rows(found[:MAX_STAGES])
    ending = _draw_status(report, len(found) - MAX_STAGES)
    drawn = [*_draw_row(rows[0], ending)] if len(rows) == 1 else [*_draw_rows(rows, ending)]
    head = "flowchart LR" if len(rows) == 1 else "flowchart TB"
    return "\n".join(["```mermaid", _COMPACT, head, *(f"  {line}" for line in drawn), _STYLES, "```"])


def _split_into_rows(found: Sequence[Stage]) -> list[list[Stage]]:
    """One row for each round; a long round takes several."""
    rows: list[list[Stage]] = []
    for stage in found:
        end = 1 if stage is found[-1] else 0
        if rows and rows[-1][-1].round == stage.round and _count_columns([*rows[-1], stage]) + end <= COLUMNS_IN_ROW:
            rows[-1].append(stage)
        else:
            rows.append([stage])
    return rows


def _count_columns(row: Sequence[Stage]) -> int:
    return sum(bool(stage.decision) + bool(stage.turns or stage.unfinished) for stage in row)


def _draw_rows(rows: Sequence[list[Stage]], ending: str) -> Iterator[str]:
    """Frames under one another; an arrow between frames leaves the direction inside alone."""
    several = rows[0][0].round != rows[-1][0].round
    told = 0
    for number, row in enumerate(rows, start=1):
        title = f"Round {row[0].round}" if several and row[0].round != told else " "
        told = row[0].round
        yield f'subgraph r{number}["{title}"]'
        yield "  direction LR"
        yield from (f"  {line}" for line in _draw_row(row, ending if number == len(rows) else ""))
        yield "end"
    yield from (f"r{number} --> r{number + 1}" for number in range(1, len(rows)))
    yield from (f"style r{number + 1} fill:none,stroke:#8c959f,color:#768390" for number in range(len(rows)))


def _draw_row(row: Sequence[Stage], ending: str) -> Iterator[str]:
    """Nodes, then the arrows between them."""
    columns: list[list[str]] = []
    for stage in row:
        if stage.decision:
            yield f"d{stage.number}{_draw_decision(stage, stage.decision)}"
            columns.append([f"d{stage.number}"])
        boxes = [_draw_turn(turn) for turn in stage.turns] + [_draw_unfinished(name) for name in stage.unfinished]
        names = [f"a{stage.number}_{number}" for number in range(len(boxes))]
        yield from (f"{name}{box}" for name, box in zip(names, boxes, strict=True))
        columns += [names] if names else []
    if ending:
        yield f"status{ending}"
        columns.append(["status"])
    yield from (f"{' & '.join(left)} --> {' & '.join(right)}" for left, right in pairwise(columns))


def _draw_decision(stage: Stage, decision: PlannerDecision) -> str:
    lines = [f"<b>{decision.step}</b> {decision.origin}"]
    if decision.refused:
        lines += _describe_refused(decision.proposed)
    if stage.new_level:
        lines.append(f"budget: {stage.new_level}")
    elif decision.forced:
        lines.append("a limit decided")
    bent = decision.refused or decision.forced or stage.new_level
    return f'(["{"<br/>".join(lines)}"]):::{"law" if bent else decision.origin}'


def _describe_refused(proposed: Sequence[str]) -> list[str]:
    """Short, for a pill is narrow."""
    if not proposed:
        return ["✗ no proposal"]
    names = list(dict.fromkeys(proposed))
    return [f"✗ {wording.format_agents(names)} refused" if len(names) == 1 else f"✗ {len(names)} agents refused"]


def _draw_turn(turn: AgentTurn) -> str:
    lines = [
        f"<b>{wording.STEPS[turn.step]}</b>",
        *(_describe_attempt(record) for record in turn.attempts[-MAX_LINES:]),
    ]
    if turn.shortfall_count:
        lines.append(f"✗ {wording.format_count(turn.shortfall_count, 'part')} not as planned")
    if turn.tools:
        failed = f", {turn.failed_tool_count} failed" if turn.failed_tool_count else ""
        lines.append(wording.format_count(len(turn.tools), "tool call") + failed)
    return f'["{"<br/>".join(lines)}"]:::{_style_of(turn)}'


def _style_of(turn: AgentTurn) -> str:
    if turn.is_as_planned:
        return "good"
    return "warn" if turn.is_answered else "bad"


def _describe_attempt(record: StepRecord) -> str:
    who = "" if record.step in wording.STEPS_WITHOUT_AGENT else f"{_short_model_name(record)} "
    if record.outcome is Outcome.SUCCESS:
        return f"{who}✓ {wording.format_seconds(record.seconds)}"
    if record.outcome is Outcome.SKIPPED:
        return f"{who}✗ not asked"
    how = "refused" if is_refused_by_gate(record) else wording.OUTCOMES[record.outcome]
    return f"{who}✗ {how}, {wording.format_seconds(record.seconds)}"


def _short_model_name(record: StepRecord) -> str:
    """The first model's name when it is nothing but a name: it comes from an endpoint."""
    name = wording.model_name(record).partition(",")[0]
    known = name.rpartition("/")[2] if _MODEL.fullmatch(name) else ""
    return wording.truncate(known or record.engine, MAX_MODEL_CHARS)


def _draw_unfinished(name: str) -> str:
    return f'["<b>{wording.format_agents([name])}</b><br/>did not end"]:::none'


def _draw_status(report: RunReport, left_out: int) -> str:
    more = f"{wording.format_count(left_out, 'more decision')}<br/>" if left_out > 0 else ""
    seconds = wording.format_seconds(report.seconds)
    return f'(["{more}<b>{report.status.value}</b><br/>{seconds}"]):::{_STATUS[report.status]}'
