"""Too many issues in a day for a model to read them all. Pure."""

from collections.abc import Collection
from datetime import datetime

from triage.domain.task import PastRun
from triage.events.admission import WINDOW

MAX_MODEL_RUNS_PER_ISSUE = 5
"""Runs that a model may have on one issue in a day: whoever edits has no more than a few."""


def rules_only_reason(opened: Collection[int], number: int, ran: Collection[PastRun], now: datetime, most: int) -> str:
    """Why rules answer in a model's place; empty when a model may.

    Args:
        opened: Issues of the last 24 hours.
        number: This issue, which counts whenever it was opened.
        ran: Earlier runs on it: whoever edits one issue a hundred times must not have more than who opens a hundred.
        now: The present, by GitHub's clock.
        most: Runs that a model may have.
    """
    here = 1 + sum(one.at > now - WINDOW for one in ran)
    if here > MAX_MODEL_RUNS_PER_ISSUE:
        return f"This issue has had its {MAX_MODEL_RUNS_PER_ISSUE} runs by a model in 24 hours: rules answered."
    if len(set(opened) - {number}) + here <= most:
        return ""
    return f"More than {most} issues came within 24 hours (`max-model-runs-per-day`): rules answered this one."
