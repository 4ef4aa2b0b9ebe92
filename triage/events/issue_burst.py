"""Limits how many issues and runs a day a model is asked about."""

from collections.abc import Collection
from datetime import datetime

from triage.domain.task import PastRun
from triage.events.admission import WINDOW

MAX_MODEL_RUNS_PER_ISSUE = 5
"""Per issue and window: editing an issue again and again must not cost more than a few runs."""


def rules_only_reason(
    recent_issues: Collection[int], number: int, earlier_runs: Collection[PastRun], now: datetime, max_runs: int
) -> str:
    """Why rules answer instead of a model; empty when a model may answer.

    Args:
        recent_issues: Issues opened within the window.
        number: This issue; it counts whenever it was opened.
        earlier_runs: Earlier runs on this issue. They count like issues, so an author of edits gains nothing.
        now: The current time, by GitHub's clock.
        max_runs: Maximum runs by a model within the window.
    """
    runs_here = 1 + sum(run.at > now - WINDOW for run in earlier_runs)
    if runs_here > MAX_MODEL_RUNS_PER_ISSUE:
        return f"This issue has had its {MAX_MODEL_RUNS_PER_ISSUE} runs by a model in 24 hours: rules answered."
    if len(set(recent_issues) - {number}) + runs_here <= max_runs:
        return ""
    return f"More than {max_runs} issues came within 24 hours (`max-model-runs-per-day`): rules answered this one."
