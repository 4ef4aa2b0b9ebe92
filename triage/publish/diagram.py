"""A picture of what ran, as a Mermaid flowchart: our own step names, numbers and the model's name, nothing else."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise

from triage.domain.run import Outcome, StepRecord
from triage.publish import words

MAX_STEPS = 60
"""GitHub draws no chart with more than 50,000 characters."""
_MODEL = re.compile(r"[A-Za-z0-9._:/-]{1,40}")
_MARKS = {
    Outcome.SUCCESS: "✓",
    Outcome.FAILED: "✗ failed",
    Outcome.TIMED_OUT: "✗ timed out",
    Outcome.SKIPPED: "skipped",
}
_CLASSES = {Outcome.SUCCESS: "good", Outcome.FAILED: "bad", Outcome.TIMED_OUT: "late", Outcome.SKIPPED: "none"}
_STYLES = """\
  classDef good fill:#dafbe1,stroke:#1a7f37,color:#1f2328
  classDef bad fill:#ffebe9,stroke:#cf222e,color:#1f2328
  classDef late fill:#fff8c5,stroke:#9a6700,color:#1f2328
  classDef none fill:#eaeef2,stroke:#6e7781,color:#1f2328"""
Lane = list[tuple[int, StepRecord]]
"""Records of one step in one decision: the model's, then the rules' that took over."""


def diagram(steps: Sequence[StepRecord]) -> str:
    """A fenced Mermaid block; empty when nothing ran.

    Steps of one decision stand side by side; each round of the critic is a row of its own.
    """
    numbered = list(enumerate(steps[:MAX_STEPS]))
    if not numbered:
        return ""
    rounds = list(accumulate((step.round for _, step in numbered), max))
    rows = [list(row) for _, row in groupby(numbered, key=lambda item: rounds[item[0]])]
    drawn = _row(rows[0]) if len(rows) == 1 else _framed(rows)
    head = "flowchart LR" if len(rows) == 1 else "flowchart TB"
    return "\n".join(["```mermaid", head, *(f"  {line}" for line in drawn), _STYLES, "```"])


def _framed(rows: Sequence[Lane]) -> Iterator[str]:
    """Frames under one another; an arrow between frames leaves the direction inside alone."""
    for number, row in enumerate(rows, start=1):
        yield f'subgraph r{number}["Round {number}"]'
        yield "  direction LR"
        yield from (f"  {line}" for line in _row(row))
        yield "end"
    yield from (f"r{number} --> r{number + 1}" for number in range(1, len(rows)))
    yield from (f"style r{number + 1} fill:none,stroke:#8c959f,color:#59636e" for number in range(len(rows)))


def _row(row: Lane) -> list[str]:
    stages = [_lanes(list(stage)) for _, stage in groupby(row, key=lambda item: item[1].iteration)]
    return [*(_node(number, step) for number, step in row), *_arrows(stages)]


def _lanes(stage: Lane) -> list[Lane]:
    """The stage's records side by side, but a twin that took over behind the model that failed."""
    lanes: list[Lane] = []
    for item in stage:
        before = next((lane for lane in lanes if _took_over(lane[-1][1], item[1])), None)
        if before is None:
            lanes.append([item])
        else:
            before.append(item)
    return lanes


def _took_over(failed: StepRecord, twin: StepRecord) -> bool:
    return (
        failed.step == twin.step
        and failed.engine == "model"
        and twin.engine == "rules"
        and failed.outcome is not Outcome.SUCCESS
    )


def _arrows(stages: Sequence[list[Lane]]) -> Iterator[str]:
    for stage in stages:
        for lane in stage:
            yield from (f"s{one[0]} -. rules .-> s{other[0]}" for one, other in pairwise(lane))
    for stage, following in pairwise(stages):
        left = " & ".join(f"s{lane[-1][0]}" for lane in stage)
        right = " & ".join(f"s{lane[0][0]}" for lane in following)
        yield f"{left} --> {right}"


def _node(number: int, step: StepRecord) -> str:
    rows = [f"<b>{words.STEPS[step.step]}</b>"]
    if step.step not in words.MECHANICAL:
        rows.append(_answered_by(step))
    mark = _MARKS[step.outcome]
    rows.append(f"{mark}{' ' if step.outcome is Outcome.SUCCESS else ', '}{words.seconds(step.seconds)}")
    return f's{number}["{"<br/>".join(rows)}"]:::{_CLASSES[step.outcome]}'


def _answered_by(step: StepRecord) -> str:
    """The model's name when it is nothing but a name: it comes from an endpoint."""
    return step.model if step.model and _MODEL.fullmatch(step.model) else step.engine
