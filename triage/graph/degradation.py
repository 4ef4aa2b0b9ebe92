"""What a run gives up for its budget, one rung after the other: rounds, web search, the main model, models at all."""

from typing import get_args

from triage.domain.run import DegradationLevel, Limits, Usage

LEVELS: tuple[DegradationLevel, ...] = get_args(DegradationLevel)
NO_WEB_SHARE, FAST_MODEL_SHARE, RULES_SHARE = 0.30, 0.20, 0.05
"""Share of the scarcer of tokens and dollars that is left when web search, the main model, and all models go.

With the default caps the writer's three calls take 12 to 18 of 100 parts and a web search 5 (measured), so that the
writer keeps the main model unless the searches were dear.
"""


def compute_share_left(spent: Usage, limits: Limits) -> float:
    """What is left of the scarcer of tokens and dollars, 0 to 1. Dollars count where the prices are known."""
    shares = [1 - spent.tokens / limits.tokens if limits.tokens else 0.0]
    shares.append(1 - spent.priced_usd / limits.usd if limits.usd else 0.0)
    return max(0.0, min(shares))


def compute_share_spent(usage: Usage, limits: Limits) -> float:
    """What this usage takes of the scarcer cap."""
    return 1 - compute_share_left(usage, limits)


def choose_level(spent: Usage, last_round: Usage, limits: Limits) -> DegradationLevel:
    """How far down the run is.

    Args:
        spent: By the whole run so far.
        last_round: By the searches and the critic of the last round: the next will take about as much, and what it
            leaves must do for the writer on the main model.
        limits: The caps.
    """
    left = compute_share_left(spent, limits)
    if left < RULES_SHARE:
        return "rules"
    if left < FAST_MODEL_SHARE:
        return "fast model"
    if left < NO_WEB_SHARE:
        return "no web search"
    if left - compute_share_spent(last_round, limits) < FAST_MODEL_SHARE:
        return "no further rounds"
    return "whole"


def is_at_least(now: DegradationLevel, asked: DegradationLevel) -> bool:
    """Whether a run that is `now` so far down has given up what goes at `asked`."""
    return LEVELS.index(now) >= LEVELS.index(asked)
