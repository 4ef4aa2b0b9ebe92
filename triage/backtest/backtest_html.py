"""The page of a backtest in HTML: one file without scripts and without anything from elsewhere."""

import math
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from triage.backtest import page
from triage.backtest.count import BacktestOutcome, Band
from triage.backtest.results import CaseResult
from triage.safety.clean_text import clean_text

PLOT_SIZE = 300
"""Of the square, in the units of the drawing."""
_Z = 1.645
"""Of an interval that holds the truth in nine of ten cases."""
_MIN_RADIUS, _MAX_RADIUS = 4.0, 14.0


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("triage.backtest", "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"clean": clean_text, "percent": lambda value: f"{value:.0%}"}
    return environment


def render_html_page(outcome: BacktestOutcome) -> str:
    """Return the page. Every text of an issue, a path or a commit is escaped."""
    return (
        _environment()
        .get_template("backtest.html.j2")
        .render(
            outcome=outcome,
            score=outcome.score,
            source=page.describe_source(outcome),
            figures=page.list_figures(outcome),
            left_out=page.list_left_out(outcome),
            comment_reasons=page.COMMENT_REASONS,
            signs=page.SIGNS,
            describe_hit=describe_hit,
            group=_group,
            points=make_points(outcome.score.bands),
            size=PLOT_SIZE,
        )
    )


def describe_hit(result: CaseResult) -> str:
    """Return how near the report was."""
    if not result.files:
        return "no file named"
    if result.rank is None:
        return "missed"
    return {1: "first", 2: "second", 3: "third"}.get(result.rank, f"number {result.rank}")


def _group(result: CaseResult) -> str:
    """Return the class of a row, by which the buttons choose."""
    if result.is_first_right:
        return "first"
    return "ranked" if result.is_among_ranked else "missed"


@dataclass(frozen=True)
class Point:
    """A band in the calibration plot: whether files with a chance of 70 % are right in seven of ten cases.

    The y axis points down.
    """

    x: float
    y: float
    radius: float
    top: float
    bottom: float
    """Ends of the interval in which the share of right files lies."""
    label: str


def make_points(bands: list[Band]) -> list[Point]:
    """Return one point for each band: the more issues, the larger."""
    most = max((band.first.cases for band in bands), default=1)
    return [_make_point(band, most) for band in bands]


def _make_point(band: Band, most: int) -> Point:
    right, issues = band.first.hits, band.first.cases
    low, high = compute_interval(right, issues)
    return Point(
        x=round(band.mean_chance * PLOT_SIZE, 1),
        y=round((1 - right / issues) * PLOT_SIZE, 1),
        radius=round(_MIN_RADIUS + (_MAX_RADIUS - _MIN_RADIUS) * math.sqrt(issues / most), 1),
        top=round((1 - high) * PLOT_SIZE, 1),
        bottom=round((1 - low) * PLOT_SIZE, 1),
        label=f"{band.first.fraction} right at a chance of {band.mean_chance:.0%}",
    )


def compute_interval(right: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval of a share (E. B. Wilson, 1927)."""
    share, spread = right / of, _Z**2 / of
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)
