"""What a run gives up for its budget, one rung after the other: rounds, web search, the main model, models at all."""

from typing import get_args

from triage.domain.run import Limits, Rung, Usage

RUNGS: tuple[Rung, ...] = get_args(Rung)
NO_WEB, FAST, RULES = 0.30, 0.20, 0.05
"""Share of the scarcer of tokens and dollars that is left when web search, the main model, and all models go.

With the default caps the writer's three calls take 12 to 18 of 100 parts and a web search 5 (measured), so that the
writer keeps the main model unless the searches were dear.
"""


def share_left(spent: Usage, limits: Limits) -> float:
    """What is left of the scarcer of tokens and dollars, 0 to 1. Dollars count where the prices are known."""
    shares = [1 - spent.tokens / limits.tokens if limits.tokens else 0.0]
    shares.append(1 - spent.priced / limits.usd if limits.usd else 0.0)
    return max(0.0, min(shares))


def share_of(usage: Usage, limits: Limits) -> float:
    """What this usage takes of the scarcer cap."""
    return 1 - share_left(usage, limits)


def rung(spent: Usage, last_round: Usage, limits: Limits) -> Rung:
    """How far down the run is.

    Args:
        spent: By the whole run so far.
        last_round: By the searches and the critic of the last round: the next will take about as much, and what it
            leaves must do for the writer on the main model.
        limits: The caps.
    """
    left = share_left(spent, limits)
    if left < RULES:
        return "rules"
    if left < FAST:
        return "fast model"
    if left < NO_WEB:
        return "no web search"
    if left - share_of(last_round, limits) < FAST:
        return "no further rounds"
    return "whole"


def reaches(now: Rung, asked: Rung) -> bool:
    """Whether a run that is `now` so far down has given up what goes at `asked`."""
    return RUNGS.index(now) >= RUNGS.index(asked)
