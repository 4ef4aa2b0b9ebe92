"""What a backtest found, counted once: its figures, as the terminal and JSON have them, and its page in HTML."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import compress

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import AwareDatetime, Field

from triage.backtest.judge import CaseResult, Rate, count_rate
from triage.domain.run import Status
from triage.domain.value import Value
from triage.safety.clean_text import clean_text
from triage.say.wording import format_count


class Figure(Value):
    """One thing that was counted or measured, and what it is."""

    name: str
    figure: str
    explanation: str
    rate: Rate | None = None
    """Of what was counted."""


class BacktestOutcome(Value):
    """Everything that a backtest found, as `--json` prints it and as the page shows it."""

    repository: str
    triage_version: str
    at: AwareDatetime
    by_issues: bool
    """False: messages of commits stood in for issues."""
    wanted: int
    """Issues that were asked for."""
    chosen: int
    """Issues to triage; more than there are results if the backtest was stopped."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """Number of fixed issues that could not be used, by reason."""
    figures: list[Figure]
    results: list[CaseResult] = Field(default_factory=list)


def count_figures(results: Sequence[CaseResult], *, by_issues: bool) -> list[Figure]:
    """Return what was counted. What comments say has no figure where they said nothing."""
    places = [one.place for one in results if one.place]
    figures = [
        _count(
            "First file right",
            (one.rank == 1 for one in results),
            "the fix edited the file that the report names first",
        ),
        _count(
            "Among the first three",
            (one.is_among_ranked for one in results),
            "the fix edited one of the first three files",
        ),
        _count(
            "Read as a bug",
            (one.kind in ("bug", None) for one in results),
            "for other issues, no comment names a place",
        ),
    ]
    if by_issues:  # what would be asked about a commit's message means nothing
        comments = (one.comment_reason is not None for one in results)
        reasons = Counter(str(one.comment_reason) for one in results if one.comment_reason)
        listed = ", ".join(f"{reason}: {count}" for reason, count in reasons.most_common())
        figures.append(_count("Comments", comments, listed or "none with comment: auto"))
    sometimes = [
        _count(
            "Named places right",
            (place.first_right for place in places),
            "the fix edited the file that a comment names first",
        ),
        _count(
            "One of the named files right",
            (place.any_right for place in places),
            "the fix edited one of the one to three files that the comment names",
        ),
    ]
    if any(one.duplicate for one in results):
        explanation = "a fixed issue that nobody marked as a duplicate: look whether it is one"
        sometimes.append(_count("Duplicates named", (bool(one.duplicate) for one in results), explanation))
    figures += [one for one in sometimes if one.rate and one.rate.cases]
    return [*figures, *_measure(results)]


def _count(name: str, values: Iterable[bool], explanation: str) -> Figure:
    rate = count_rate(values)
    return Figure(name=name, figure=rate.fraction, explanation=explanation, rate=rate)


def _measure(results: Sequence[CaseResult]) -> list[Figure]:
    """Return the time, and what is incomplete or cost money, if anything."""
    incomplete = sum(one.status is not Status.COMPLETE for one in results)
    share = f"{incomplete} of {len(results)}"
    seconds, usd = [one.seconds for one in results], sum(one.usd for one in results)
    median = statistics.median(seconds) if seconds else 0.0
    each = f"${usd / max(1, len(results)):.3f} for each issue"
    has_price = all(one.has_price for one in results)
    figures = [
        Figure(name="Incomplete", figure=share, explanation="a part failed or took too long"),
        Figure(name="Time", figure=f"{sum(seconds):.0f} s", explanation=f"median {median:.1f} s an issue"),
        Figure(name="Cost", figure=f"${usd:.2f}", explanation=each if has_price else "and what has no known price"),
    ]
    return list(compress(figures, (incomplete, True, any(one.by_model for one in results))))


def describe_source(outcome: BacktestOutcome) -> str:
    """Return what was triaged, and what the figures can say."""
    count, name = len(outcome.results), outcome.repository
    if outcome.by_issues:
        return (
            f"{format_count(count, 'closed issue')} of {name} whose fix is known, each triaged on the commit before "
            "its fix, with what was known when it was opened."
        )
    return (
        f"{count} {'fix' if count == 1 else 'fixes'} of {name}, each triaged on the commit before it. The messages of "
        "the commits stand in for issues. Who writes them knows the cause, and a reporter does not: with --github the "
        "figures say more."
    )


def list_left_out(outcome: BacktestOutcome) -> list[str]:
    """Return one line for each reason for which fixed issues are not among the results."""
    lines = [f"{count} left out: {reason}." for reason, count in outcome.left_out.items()]
    if outcome.chosen < outcome.wanted:
        lines.append(f"Only {outcome.chosen} of the {outcome.wanted} asked for were found.")
    missing = outcome.chosen - len(outcome.results)
    return [*lines, f"{missing} not triaged: the backtest was stopped."] if missing else lines


def render_figures(outcome: BacktestOutcome) -> str:
    figures = [f"{one.name}: {one.figure} ({one.explanation})" for one in outcome.figures]
    return "\n".join([*list_left_out(outcome), *figures]) + "\n"


@cache
def _open_templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("triage.backtest", "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = clean_text
    return environment


def render_html_page(outcome: BacktestOutcome) -> str:
    """Return one file without scripts and without anything from elsewhere. Every text of a stranger is escaped."""
    return (
        _open_templates()
        .get_template("backtest.html.j2")
        .render(
            outcome=outcome,
            source=describe_source(outcome),
            left_out=list_left_out(outcome),
            describe_hit=describe_hit,
        )
    )


def describe_hit(result: CaseResult) -> str:
    """Return how near the report was."""
    if not result.files:
        return "no file named"
    if result.rank is None:
        return "missed"
    return {1: "first", 2: "second", 3: "third"}.get(result.rank, f"number {result.rank}")
