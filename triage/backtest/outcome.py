"""Everything that a backtest found, as `--json` prints it and as both pages show it."""

from collections.abc import Mapping, Sequence

from pydantic import AwareDatetime, Field

from triage.backtest.choose_thresholds import apply_choices
from triage.backtest.past_case import CaseResult, DuplicateResult
from triage.backtest.score import BacktestScore, score_results
from triage.domain.project_config import Thresholds
from triage.domain.value import Value


class BacktestOutcome(Value):
    repository: str
    triage_version: str
    at: AwareDatetime
    by_issues: bool
    """False: messages of commits stood in for issues."""
    wanted: int
    """Issues that were asked for."""
    chosen: int
    """Issues to triage; more than there are results if the backtest was stopped."""
    is_shallow: bool = False
    """The clone lacks older commits."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """Number of fixed issues that could not be used, by reason."""
    score: BacktestScore
    thresholds: Thresholds
    suited: Thresholds
    """The thresholds that suit the repository."""
    results: list[CaseResult] = Field(default_factory=list)
    duplicates: list[DuplicateResult] = Field(default_factory=list)


def build_outcome(
    repository: str,
    triage_version: str,
    at: AwareDatetime,
    wanted: int,
    chosen: int,
    left_out: Mapping[str, int],
    results: Sequence[CaseResult],
    duplicates: Sequence[DuplicateResult],
    thresholds: Thresholds,
    *,
    by_issues: bool,
    is_shallow: bool = False,
) -> BacktestOutcome:
    score = score_results(results, duplicates, thresholds, by_issues=by_issues)
    return BacktestOutcome(
        repository=repository,
        triage_version=triage_version,
        at=at,
        by_issues=by_issues,
        is_shallow=is_shallow,
        wanted=wanted,
        chosen=chosen,
        left_out=dict(left_out),
        score=score,
        thresholds=thresholds,
        suited=apply_choices(thresholds, score.choices),
        results=list(results),
        duplicates=list(duplicates),
    )
