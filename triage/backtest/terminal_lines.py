"""What a backtest prints: a line for each issue as soon as it is there, and the figures at the end."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from triage.backtest.backtest_wording import (
    describe_source,
    explain_thresholds,
    list_figures,
    list_left_out,
    list_threshold_lines,
)
from triage.backtest.outcome import BacktestOutcome
from triage.backtest.past_case import CaseResult
from triage.safety.clean_text import clean_text

_TITLE_CHARS = 60
_PATH_CHARS = 120
_BAR_CELLS = 20


LEGEND = "✓ the fix edited the first file; 2, 3 another one; ✗ none of three. Chance and path are of the first."


def format_result(result: CaseResult, number: int, of: int) -> Text:
    """Return the line of one issue."""
    if result.is_first_right:
        mark, style = "✓", "green"
    elif result.is_among_ranked:
        mark, style = str(result.rank), "yellow"
    else:
        mark, style = "✗", "red"
    line = Text(f"{number:>{len(str(of))}}/{of} ", style="dim")
    line.append(mark, style=style).append(f" {result.case.name:<8} ")
    line.append(f"{result.chance:4.0%} " if result.files else "   – ", style="dim")
    line.append(_cut(result.case.title, _TITLE_CHARS))
    if result.files:
        line.append(f"  {_cut(result.files[0].path, _PATH_CHARS)}", style="dim")
    return line


def render_outcome(outcome: BacktestOutcome) -> Group:
    """Return the figures."""
    figures = Table.grid(padding=(0, 2))
    for name, figure, explanation in list_figures(outcome):
        figures.add_row(name, Text(figure, style="bold", justify="right"), Text(explanation, style="dim"))
    parts: list[RenderableType] = [
        Text(),
        Text(clean_text(describe_source(outcome))),
        *(Text(line, style="dim") for line in list_left_out(outcome)),
        Text(),
        figures,
        Text("\nHow reliable are the percentages?  chance of the first file, and how many were right", style="bold"),
        _render_bands(outcome),
        Text("\nThresholds", style="bold"),
        Text(f"  {explain_thresholds(outcome)}"),
        *(Text(f"  {line}") for line in list_threshold_lines(outcome)),
    ]
    return Group(*parts)


def _render_bands(outcome: BacktestOutcome) -> Table:
    table = Table.grid(padding=(0, 2))
    for band in outcome.score.bands:
        share = band.right / band.issues
        bar = Text("█" * round(share * _BAR_CELLS), style="green").append(
            "░" * (_BAR_CELLS - round(share * _BAR_CELLS)), style="dim"
        )
        label = f"  {band.low:.0%} to {band.high:.0%}"
        table.add_row(label, bar, f"{band.right} of {band.issues}", Text(f"mean {band.mean_chance:.0%}", style="dim"))
    return table


def _cut(text: str, chars: int) -> str:
    line = " ".join(clean_text(text).split())
    return line if len(line) <= chars else line[: chars - 1] + "…"
