"""What is left of a run's budget, and what the run gives up to stay within it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from triage.domain.run import DegradationLevel, Limits, StepRecord, Usage

LEVELS: tuple[DegradationLevel, ...] = get_args(DegradationLevel)
NO_WEB_SHARE, FAST_MODEL_SHARE, RULES_SHARE = 0.30, 0.20, 0.05
"""When less than this share of tokens or dollars is left, web search, the main model, or all models go.

With the default caps the writer's three calls take 12 to 18 percent, and a web search 5 percent (measured). So the
writer keeps the main model unless the searches were expensive.
"""


@dataclass(frozen=True)
class RemainingBudget:
    limits: Limits
    seconds_left: float
    share_left: float = 1.0
    """Of tokens or dollars, whichever is less, from 0 to 1. All of it when no model is asked."""
    level: DegradationLevel = "whole"

    def has_given_up(self, level: DegradationLevel) -> bool:
        """Return whether the run has given up what goes at this level."""
        return LEVELS.index(self.level) >= LEVELS.index(level)


def measure_budget(
    limits: Limits, seconds_left: float, spent: Usage | None, steps: Sequence[StepRecord]
) -> RemainingBudget:
    """Return what is left after these steps. `spent` is None when no model is asked."""
    if spent is None:
        return RemainingBudget(limits, seconds_left)
    last = max((step.round for step in steps if step.step == "critic"), default=0)
    last_round = [step for step in steps if step.step in ("codebase_search", "critic") and step.round == last]
    level = choose_level(spent, sum(map(_usage_without_tools, last_round), Usage()), limits)
    return RemainingBudget(limits, seconds_left, compute_share_left(spent, limits), level)


def _usage_without_tools(step: StepRecord) -> Usage:
    # Looking up is left out when the budget is low. The last call answers, in whatever mode.
    calls = [call.usage for call in step.calls[:-1] if call.mode != "tools"]
    return sum([*calls, step.calls[-1].usage], Usage()) if step.calls else step.usage


def compute_share_left(spent: Usage, limits: Limits) -> float:
    """Return the share of tokens or dollars that is left, whichever is less, from 0 to 1."""
    shares = [1 - spent.tokens / limits.tokens if limits.tokens else 0.0]
    shares.append(1 - spent.priced_usd / limits.usd if limits.usd else 0.0)
    return max(0.0, min(shares))


def choose_level(spent: Usage, last_round: Usage, limits: Limits) -> DegradationLevel:
    """Return the degradation level of a run.

    The next round takes about as much as the searches and the critic of the last one, and must leave enough for the
    writer on the main model.
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
