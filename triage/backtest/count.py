"""Counts how often it was right. Every figure can be counted again from the results."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, get_args

from pydantic import AwareDatetime, Field

from triage.backtest.results import CaseResult, DuplicateResult, IssueResult, Outcome, PastCase
from triage.domain.code import MatchSource
from triage.domain.past_issues import PredictedBy
from triage.domain.run import Status
from triage.domain.task import Subject
from triage.domain.value import Value

MIN_CASES_FOR_PERCENT = 20
"""Small numbers stay numbers."""
MAX_RUN = 20
"""Examples. Each takes minutes: two versions are built, and the example is run twice on each."""
CASE_BANDS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


class Rate(Value):
    """How many of some cases."""

    hits: int = 0
    cases: int = 0

    @property
    def fraction(self) -> str:
        return f"{self.hits:,} of {self.cases:,}"

    def __str__(self) -> str:
        if not self.cases:
            return "none yet"
        return f"{self.fraction} ({self._format_percent()})" if self.cases >= MIN_CASES_FOR_PERCENT else self.fraction

    def _format_percent(self) -> str:
        # 99.9 % is not 100 %, and one of a thousand is not none.
        percent = 100 * self.hits / self.cases
        return f"{min(percent, 99):.0f} %" if 1 <= percent < 100 else f"{percent:.2g} %" if percent < 1 else "100 %"


class Band(Value):
    """The cases whose first file has a chance from `low` to below `high`. The highest band has 1.0."""

    low: float
    high: float
    mean_chance: float
    first: Rate
    """First files that the fix edited."""


def count_rate(values: Iterable[bool | None]) -> Rate:
    """Return how many are true; None is no case."""
    known = [value for value in values if value is not None]
    return Rate(hits=sum(known), cases=len(known))


def count_bands(judged: Sequence[tuple[float, bool]]) -> list[Band]:
    """Return the bands that have a case, lowest first, from the chance of each first file and whether it is right."""
    bands = []
    for low, high in pairwise(CASE_BANDS):
        inside = [one for one in judged if low <= one[0] < high or one[0] == high == 1.0]
        if inside:
            mean = statistics.fmean(chance for chance, _ in inside)
            rate = count_rate(is_right for _, is_right in inside)
            bands.append(Band(low=low, high=high, mean_chance=round(mean, 2), first=rate))
    return bands


class BacktestScore(Value):
    issues: int
    first: Rate
    """The first file was edited."""
    ranked: Rate
    """One of the first three was."""
    bugs: Rate
    """Read as a bug."""
    bands: list[Band] = Field(default_factory=list)
    comments: Rate
    """`comment: auto` would have written one."""
    comment_reasons: dict[str, int] = Field(default_factory=dict)
    """Comments by their reason."""
    named: Rate
    """Comments that name a place which the fix edited, of those that name one."""
    named_by_sign: dict[MatchSource, Rate] = Field(default_factory=dict)
    any_named: Rate
    """Of the reports that name likely files: one of them was edited."""
    analysed: Rate
    """The same for comments with a model's analysis, by the first file."""
    duplicates: Rate
    """Marked duplicates of which an earlier report of the same group was named."""
    wrong_duplicates: int = 0
    """Marked duplicates of which an issue of another group was named."""
    unmarked_named: Rate
    """Fixed issues, which nobody marked as a duplicate, of which an earlier issue was named."""
    incomplete: int = 0
    """Runs that were cut or degraded. They are not in the bands."""
    seconds: float = 0.0
    median_seconds: float = 0.0
    usd: float = 0.0
    has_price: bool = True
    by_model: bool = False


class ExampleScore(Value):
    """What the issues' examples are worth."""

    found: Rate
    """Issues with an example."""
    tried: int = 0
    """Examples that were to be run on the commit before the fix and on the fix."""
    ran: int = 0
    failed: int = 0
    """Before the fix, as the report says."""
    fixed: int = 0
    """And not at the fix."""


class BacktestOutcome(Value):
    """Everything that a backtest found, as `--json` prints it and as the pages show it."""

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
    results: list[CaseResult] = Field(default_factory=list)
    duplicates: list[DuplicateResult] = Field(default_factory=list)
    examples: ExampleScore | None = None
    """None for messages of commits."""


def score_results(results: Sequence[CaseResult], duplicates: Sequence[DuplicateResult]) -> BacktestScore:
    complete = [result for result in results if result.status is Status.COMPLETE]
    named = [result.place for result in results if result.place]
    by_sign = {sign: count_rate(one.edited for one in named if one.sign == sign) for sign in get_args(MatchSource)}
    reasons = Counter(str(result.comment_reason) for result in results if result.comment_reason)
    seconds = [result.seconds for result in results]
    judged = [(result.chance, result.is_first_right) for result in complete if result.files]
    return BacktestScore(
        issues=len(results),
        first=count_rate(result.is_first_right for result in results),
        ranked=count_rate(result.is_among_ranked for result in results),
        bugs=count_rate(result.kind in ("bug", None) for result in results),
        bands=count_bands(judged),
        comments=count_rate(result.comment_reason is not None for result in results),
        comment_reasons=dict(reasons.most_common()),
        named=count_rate(place.edited for place in named),
        named_by_sign={sign: rate for sign, rate in by_sign.items() if rate.cases},
        any_named=count_rate(result.is_any_named_right for result in results),
        analysed=count_rate(result.is_first_right for result in results if result.comment_reason == "analysis"),
        duplicates=count_rate(one.outcome == "found" for one in duplicates),
        wrong_duplicates=sum(one.outcome == "other" for one in duplicates),
        unmarked_named=count_rate(result.duplicate is not None for result in results),
        incomplete=len(results) - len(complete),
        seconds=round(sum(seconds), 1),
        median_seconds=round(statistics.median(seconds), 1) if seconds else 0.0,
        usd=sum(result.usd for result in results),
        has_price=all(result.has_price for result in results),
        by_model=any(result.by_model for result in results),
    )


class Scorecard(Value):
    triaged: int
    """Closed issues with a comment of ours."""
    fixed: int
    """Those that were closed by a fix that edits product code."""
    not_counted: dict[str, int] = Field(default_factory=dict)
    """Closed issues by why they are not in `fixed`: `no code`, `too large`, `none`."""
    first: Rate
    """The first file that the comment named is among those that the fix edited."""
    any: Rate
    """One of the first three is."""
    outcomes: dict[Subject, dict[Outcome, int]] = Field(default_factory=dict)
    """How often what the comments said was right or wrong, and how often it was missed, also without a comment."""
    by: dict[PredictedBy, Rate] = Field(default_factory=dict)
    """The first file right, by what led to it."""
    answered: Rate
    labels: Rate
    hidden: Rate
    hidden_reasons: dict[str, int] = Field(default_factory=dict)
    thumbs_up: Rate
    """Comments with at least one."""
    thumbs_down: Rate
    edited_by_others: int = 0


def count_issues(results: Sequence[IssueResult], silent: Sequence[Mapping[Subject, Outcome]] = ()) -> Scorecard:
    places = [one.place for one in results if one.place]
    fixed = [one for one in results if one.fix == "code"]
    outcomes = [*(one.outcomes for one in results if not one.edited_by_others), *silent]
    counted = {subject: Counter(one[subject] for one in outcomes if subject in one) for subject in get_args(Subject)}
    signs: list[PredictedBy] = [*get_args(MatchSource), "files", "model"]
    by = {sign: count_rate(place.first_right for place in places if place.by == sign) for sign in signs}
    return Scorecard(
        triaged=len(results),
        fixed=len(fixed),
        not_counted=dict(Counter(one.fix for one in results if one.fix != "code")),
        first=count_rate(place.first_right for place in places),
        any=count_rate(place.any_right for place in places),
        outcomes={subject: dict(counts) for subject, counts in counted.items() if counts},
        by={sign: rate for sign, rate in by.items() if rate.cases},
        answered=count_rate(one.answered for one in results),
        labels=Rate(
            hits=sum(one.labels_on_issue for one in results),
            cases=sum(one.labels for one in results),
        ),
        hidden=count_rate(None if one.hidden_as is None else bool(one.hidden_as) for one in results),
        hidden_reasons=dict(Counter(one.hidden_as for one in results if one.hidden_as)),
        thumbs_up=count_rate(_is_positive(one.thumbs_up) for one in results),
        thumbs_down=count_rate(_is_positive(one.thumbs_down) for one in results),
        edited_by_others=sum(one.edited_by_others for one in results),
    )


def _is_positive(count: int | None) -> bool | None:
    return None if count is None else count > 0


ExampleResult = Literal["not run", "no failure", "fails after the fix", "fixed"]


OPEN_EXAMPLES = "triage.past_examples"
"""In the `meta` of a command's context: a function from an `App` to `reproduce.past_examples.PastExamples`."""


def score_examples(has_example: Iterable[bool], results: Sequence[ExampleResult] = ()) -> ExampleScore:
    counts = Counter(results)
    ran = len(results) - counts["not run"]
    return ExampleScore(
        found=count_rate(has_example),
        tried=len(results),
        ran=ran,
        failed=ran - counts["no failure"],
        fixed=counts["fixed"],
    )


def choose_examples(cases: Sequence[PastCase], has_example: Sequence[bool]) -> list[PastCase]:
    """Return the cases whose example is run, the newest."""
    return [case for case, has in zip(cases, has_example, strict=True) if has][:MAX_RUN]
