"""What was measured, as a table to read and as a page of the documentation."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from trust.measure import Figure, Measure

HEAD = ("Measure", "Cases", "Failures", "Goal", "Measured", "Judge sees")
MOST_SHOWN = 20
"""Failures of one measure that are told in words."""
LONGEST_SHOWN_CHARS = 300


@dataclass(frozen=True)
class Row:
    """A measure, what became of it, and what its judge found where the defence was taken away."""

    measure: Measure
    tried: Figure
    blind: Figure
    seconds: float

    @property
    def sees(self) -> bool:
        """The judge found what there was to find."""
        return bool(self.blind.failures)

    @property
    def kept(self) -> bool:
        """The goal is met, by cases that were tried, before a judge that sees."""
        return self.sees and self.tried.cases > 0 and not self.tried.failures

    def cells(self) -> tuple[str, ...]:
        """As `HEAD` names them."""
        tried, goal = self.tried, self.measure.goal
        sees = "yes" if self.sees else "NO"
        return self.measure.name, f"{tried.cases:,}", f"{len(tried.failures):,}", goal, tried.measured, sees


def table(rows: Sequence[Row]) -> str:
    """A Markdown table, with columns as wide as what they hold."""
    lines = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    drawn = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([drawn[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *drawn[1:]])


def failures(rows: Sequence[Row]) -> list[str]:
    """Each failure as a line that neither a terminal nor a job's log obeys."""
    lines: list[str] = []
    for row in rows:
        told = row.tried.failures if row.sees else [*row.tried.failures, "the judge saw nothing where it had to"]
        lines += [f"- {row.measure.name}: `{printable(words)}`" for words in told[:MOST_SHOWN]]
        if len(told) > MOST_SHOWN:
            lines.append(f"- {row.measure.name}: {len(told) - MOST_SHOWN} more")
    return lines


def printable(text: str) -> str:
    """Printing ASCII on one line, everything else as Python writes it, cut; and no old form of a runner's command."""
    shown = text.encode("unicode_escape").decode("ascii").replace("##[", "## [").replace("`", "'")
    return shown if len(shown) <= LONGEST_SHOWN_CHARS else f"{shown[:LONGEST_SHOWN_CHARS]}..."


PAGE = """# Trust

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


def page(rows: Sequence[Row], version: str, when: datetime, share: float) -> str:
    """The page of the documentation."""
    missed = failures(rows)
    return PAGE.format(
        table=table(rows),
        version=version,
        date=f"{when:%Y-%m-%d}",
        machine=f"Python {platform.python_version()}, {os.cpu_count()} cores",
        cases="all cases" if share >= 1 else f"{share:.0%} of the cases",
        failures="\n\nFailures:\n\n" + "\n".join(missed) if missed else "",
        meanings="\n".join(f"- **{row.measure.name}**: {row.measure.what}" for row in rows),
    )
