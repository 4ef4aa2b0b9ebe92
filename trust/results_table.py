"""What was measured, as a table to read and as a page of the documentation."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from trust.measure import Measure, MeasureResult

COLUMNS = ("Measure", "Cases", "Failures", "Goal", "Measured", "Judge sees")
MAX_FAILURES_SHOWN = 20
"""Failures of one measure that are told in words."""
MAX_FAILURE_CHARS = 300


@dataclass(frozen=True)
class Row:
    """A measure, what became of it, and what its judge found where the defence was taken away."""

    measure: Measure
    result: MeasureResult
    without_defence: MeasureResult
    seconds: float

    @property
    def detects_failures(self) -> bool:
        """The judge found what there was to find."""
        return bool(self.without_defence.failures)

    @property
    def is_met(self) -> bool:
        """The goal is met, by cases that were tried, before a judge that sees."""
        return self.detects_failures and self.result.cases > 0 and not self.result.failures

    def cells(self) -> tuple[str, ...]:
        """As `HEAD` names them."""
        tried, goal = self.result, self.measure.goal
        sees = "yes" if self.detects_failures else "NO"
        return self.measure.name, f"{tried.cases:,}", f"{len(tried.failures):,}", goal, tried.measured, sees


def render_table(rows: Sequence[Row]) -> str:
    """A Markdown table, with columns as wide as what they hold."""
    lines = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    drawn = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([drawn[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *drawn[1:]])


def list_failures(rows: Sequence[Row]) -> list[str]:
    """Each failure as a line that neither a terminal nor a job's log obeys."""
    lines: list[str] = []
    for row in rows:
        told = (
            row.result.failures
            if row.detects_failures
            else [*row.result.failures, "the judge saw nothing where it had to"]
        )
        lines += [f"- {row.measure.name}: `{escape_failure(words)}`" for words in told[:MAX_FAILURES_SHOWN]]
        if len(told) > MAX_FAILURES_SHOWN:
            lines.append(f"- {row.measure.name}: {len(told) - MAX_FAILURES_SHOWN} more")
    return lines


def escape_failure(text: str) -> str:
    """Printing ASCII on one line, everything else as Python writes it, cut; and no old form of a runner's command."""
    shown = text.encode("unicode_escape").decode("ascii").replace("##[", "## [").replace("`", "'")
    return shown if len(shown) <= MAX_FAILURE_CHARS else f"{shown[:MAX_FAILURE_CHARS]}..."


PAGE_TEMPLATE = """# Trust

What strangers' text, hostile repositories and broken servers could do, tried and counted. `make trust` prints this
table: offline, without a real model, in about twenty minutes on two cores. It ends with exit code 1 when a goal is
missed.

{table}

Version {version}, {date}, {machine}, {cases}.{failures}

The judge of a row is never the code that is judged. Each row is also tried with the defence taken away; *judge sees*
says that this was noticed.

## What the rows mean

{meanings}

## Running it

| command | does |
|---|---|
| `make trust` | all of it |
| `make trust ARGS="--share 0.1"` | a tenth of the cases of each row, spread evenly, the same every time |
| `make trust ARGS="--only events"` | the rows whose name contains the word; may be given again |
| `make trust ARGS="--write docs/trust.md"` | all of it, and this page anew |

A sample of each row, and each proof that its judge sees, run with the tests (`tests/trust`).
"""


def render_page(rows: Sequence[Row], version: str, when: datetime, share: float) -> str:
    """The page of the documentation."""
    missed = list_failures(rows)
    return PAGE_TEMPLATE.format(
        table=render_table(rows),
        version=version,
        date=f"{when:%Y-%m-%d}",
        machine=f"Python {platform.python_version()}, {os.cpu_count()} cores",
        cases="all cases" if share >= 1 else f"{share:.0%} of the cases",
        failures="\n\nFailures:\n\n" + "\n".join(missed) if missed else "",
        meanings="\n".join(f"- **{row.measure.name}**: {row.measure.description}" for row in rows),
    )
