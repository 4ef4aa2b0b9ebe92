"""Renders results as a table and as a page of the documentation."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from trust.measure import Measure, MeasureResult

COLUMNS = ("Measure", "Cases", "Failures", "Goal", "Measured", "Detects failures")
MAX_FAILURES_SHOWN = 20
MAX_FAILURE_CHARS = 300
BLIND = "it did not detect failures without the defence"


@dataclass(frozen=True)
class Row:
    measure: Measure
    result: MeasureResult
    without_defence: MeasureResult
    seconds: float

    @property
    def detects_failures(self) -> bool:
        return bool(self.without_defence.failures)

    @property
    def is_met(self) -> bool:
        """Whether cases were tried, none failed, and the measure detects failures."""
        return self.detects_failures and self.result.cases > 0 and not self.result.failures

    def cells(self) -> tuple[str, ...]:
        result = self.result
        counts = f"{result.cases:,}", f"{len(result.failures):,}"
        return self.measure.name, *counts, self.measure.goal, result.measured, "yes" if self.detects_failures else "NO"


def render_table(rows: Sequence[Row]) -> str:
    """Returns the table for a terminal, which a page can hold too."""
    lines = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    rendered = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([rendered[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *rendered[1:]])


def list_failures(rows: Sequence[Row]) -> list[str]:
    """Returns each failure as a line that neither a terminal nor the log of a job interprets."""
    lines: list[str] = []
    for row in rows:
        failures = [*row.result.failures, *([] if row.detects_failures else [BLIND])]
        lines += [f"- {row.measure.name}: `{escape_failure(failure)}`" for failure in failures[:MAX_FAILURES_SHOWN]]
        if len(failures) > MAX_FAILURES_SHOWN:
            lines.append(f"- {row.measure.name}: {len(failures) - MAX_FAILURES_SHOWN} more")
    return lines


def escape_failure(text: str) -> str:
    """Returns one line of printable ASCII, truncated, without the old form of a runner command."""
    escaped = text.encode("unicode_escape").decode("ascii").replace("##[", "## [").replace("`", "'")
    return escaped if len(escaped) <= MAX_FAILURE_CHARS else f"{escaped[:MAX_FAILURE_CHARS]}..."


PAGE_TEMPLATE = """# Trust

What strangers' text, hostile repositories and broken servers can do, tried and counted by `make trust`: offline,
without a real model, in about half an hour on two cores. No row is judged with the code that it judges, and a few cases
of each are also tried without the defence, where they must fail. Each row says what was tried, and what a failure is.

{rows}

Version {version}, {date}, {machine}, {cases}.{failures}
"""


def render_page(rows: Sequence[Row], version: str, when: datetime, share: float) -> str:
    """Returns the page of the documentation."""
    missed = list_failures(rows)
    return PAGE_TEMPLATE.format(
        rows="\n".join(map(describe_row, rows)),
        version=version,
        date=f"{when:%Y-%m-%d}",
        machine=f"Python {platform.python_version()}, {os.cpu_count()} cores",
        cases="all cases" if share >= 1 else f"{share:.0%} of the cases",
        failures="\n\nFailures:\n\n" + "\n".join(missed) if missed else "",
    )


def describe_row(row: Row) -> str:
    measure, result = row.measure, row.result
    figures = f"{result.cases:,} cases, {len(result.failures):,} failures"
    measured = f", {result.measured}" if result.measured else ""
    goal = f" (goal: {measure.goal})" if re.search("[1-9]", measure.goal) else ""
    return f"- **{measure.name}**: {figures}{measured}{goal}. {measure.description}"
