"""The page of a backtest: one file without scripts and without anything from elsewhere."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from triage.backtest import backtest_wording
from triage.backtest.calibration_plot import SIZE, make_points
from triage.backtest.outcome import BacktestOutcome
from triage.backtest.past_case import CaseResult
from triage.safety.clean_text import clean_text


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
            source=backtest_wording.describe_source(outcome),
            figures=backtest_wording.list_figures(outcome),
            explained=backtest_wording.explain_thresholds(outcome),
            thresholds=list(backtest_wording.list_threshold_lines(outcome)),
            left_out=backtest_wording.list_left_out(outcome),
            speaks=backtest_wording.SPEAKS,
            signs=backtest_wording.SIGNS,
            describe_hit=backtest_wording.describe_hit,
            group=_group,
            points=make_points(outcome.score.bands),
            size=SIZE,
        )
    )


def _group(result: CaseResult) -> str:
    """Return the class of a row, by which the buttons choose."""
    if result.is_first_right:
        return "first"
    return "ranked" if result.is_among_ranked else "missed"
