"""What a run gives up when its budget runs low: further rounds, web search, the main model, models at all."""

from typing import get_args

from triage.domain.run import DegradationLevel, Limits, Usage

LEVELS: tuple[DegradationLevel, ...] = get_args(DegradationLevel)
NO_WEB_SHARE, FAST_MODEL_SHARE, RULES_SHARE = 0.30, 0.20, 0.05
"""When less than this share of tokens or dollars is left, web search, the main model, or all models go.

With the default caps the writer's three calls take 12 to 18 percent, and a web search 5 percent (measured). So the
writer keeps the main model unless the searches were expensive.
"""


def compute_share_left(spent: Usage, limits: Limits) -> float:
    """Return the share of tokens or dollars that is left, whichever is less, from 0 to 1."""
    shares = [1 - spent.tokens / limits.tokens if limits.tokens else 0.0]
    shares.append(1 - spent.priced_usd / limits.usd if limits.usd else 0.0)
    return max(0.0, min(shares))


def choose_level(spent: Usage, last_round: Usage, limits: Limits) -> DegradationLevel:
    """Return the degradation level of a run.

    Args:
        spent: By the run so far.
        last_round: By the searches and the critic of the last round. The next one takes about as much, and must leave
            enough for the writer on the main model.
        limits: The caps.
    """
    left = compute_share_left(spent, limits)
    if left < RULES_SHARE:
        return "rules"
    if left < FAST_MODEL_SHARE:
        return "fast model"
    if left < NO_WEB_SHARE:
        return "no web search"
    round_share = 1 - compute_share_left(last_round, limits)
    return "no further rounds" if left - round_share < FAST_MODEL_SHARE else "whole"


def is_at_least(current: DegradationLevel, level: DegradationLevel) -> bool:
    """Whether a run at the current level has given up what goes at `level`."""
    return LEVELS.index(current) >= LEVELS.index(level)
