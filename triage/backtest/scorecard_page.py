"""The page of the scorecard, in Markdown that does nothing."""

from datetime import datetime

from pydantic import Field

from triage.backtest.backtest_page import SIGNS
from triage.backtest.count import MIN_CASES_FOR_PERCENT, Scorecard
from triage.backtest.judge import IssueResult
from triage.domain.value import Value
from triage.safety.safe_markdown import format_code_block
from triage.say.links import build_reference_url
from triage.say.report_pages import Fold, Page, render_page
from triage.say.template import MAX_SUMMARY_UNITS, render_block

MAX_LISTED = 100


class ScorecardPage(Value):
    """What the page shows, and what `--json` prints: the comments on issues, or those of a shadow week."""

    repository: str
    server_url: str
    asked_since: datetime
    since: datetime
    """All issues that were closed since then are counted."""
    closed: int
    card: Scorecard
    results: list[IssueResult]
    shadow: dict[int, str] = Field(default_factory=dict)
    """Of a shadow week: the comment that each run would have written, by issue; empty if none."""


def render_scorecard(page: ScorecardPage) -> str:
    """Return what came of the comments on closed issues."""
    card = page.card
    since, said = page.since.date().isoformat(), {number: text for number, text in page.shadow.items() if text}
    blocks = [render_block("was_it_right", "head", page.repository, since, page.closed, card, page.shadow, said)]
    if page.since > page.asked_since:
        blocks.append(render_block("was_it_right", "cut", page.since.strftime("%Y-%m-%d %H:%M UTC")))
    if card.triaged:
        blocks.append(render_block("was_it_right", "figures", card))
    if card.by:
        blocks.append(render_block("was_it_right", "signs", card, SIGNS))
    listed = sorted((one for one in page.results if one.place), key=_order_by_result)
    links = [build_reference_url(page.server_url, page.repository, f"issues/{one.number}") for one in listed]
    rows = list(zip(listed, links, strict=True))[:MAX_LISTED]
    folds = [
        Fold(f"Issues ({len(listed)})", render_block("was_it_right", "issues", rows, len(listed) - len(rows))),
        Fold("How this is counted", render_block("was_it_right", "method", card, MIN_CASES_FOR_PERCENT)),
    ]
    folds = folds if listed else folds[1:] if card.triaged else []
    shown = list(said.items())[:MAX_LISTED]
    folds += [Fold(f"#{number}: the comment", format_code_block(text, "markdown")) for number, text in shown]
    markdown = Page(blocks, folds, footer="", links=[link for _, link in rows if link])
    return render_page(markdown, MAX_SUMMARY_UNITS).rstrip() + "\n"


def _order_by_result(result: IssueResult) -> tuple[bool, bool, int]:
    """What was wrong comes first, then the newest."""
    place = result.place
    return bool(place and place.first_right), bool(place and place.any_right), -result.number
