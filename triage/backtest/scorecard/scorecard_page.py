"""Renders the page of the scorecard, and the comment with its weeks. Both are Markdown in which nothing is active."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from triage.backtest.scorecard.count_results import MIN_CASES_FOR_PERCENT, Scorecard
from triage.backtest.scorecard.judge_issue import IssueResult
from triage.backtest.scorecard.weekly_trend import Week, render_marker
from triage.comment.inert_page import MAX_SUMMARY_UNITS
from triage.comment.permalink import build_reference_url
from triage.comment.sections import Fold, Page, render_page
from triage.comment.template import render_block
from triage.domain.past_issues import PredictedBy
from triage.domain.value import Value

MAX_LISTED = 100
MAX_SHOWN_WEEKS = 26
MAX_COMMENT_UNITS = 40_000
_BAND_WORDS: Mapping[float, str] = {
    0.9: "9 of 10 or more",
    0.8: "8 of 10",
    0.7: "7 of 10",
    0.5: "5 or 6 of 10",
    0.0: "below 5 of 10",
}
"""As the comment says it (`wording.format_probability`), by the lower end of the band."""
_SIGN_WORDS: Mapping[PredictedBy, str] = {
    "trace": "a stack trace ends there",
    "message": "the error message comes from there",
    "name": "the report names it, or what it defines",
    "model": "a model's analysis",
}


class ScorecardPage(Value):
    """What the page shows."""

    repository: str
    server_url: str
    asked_since: datetime
    since: datetime
    """All issues that were closed since then are counted."""
    closed: int
    card: Scorecard
    results: list[IssueResult]
    weeks: list[Week]


def render_scorecard(page: ScorecardPage) -> str:
    card = page.card
    blocks = [render_block("scorecard", "head", page.repository, page.since.date().isoformat(), page.closed, card)]
    if page.since > page.asked_since:
        blocks.append(render_block("scorecard", "cut", page.since.strftime("%Y-%m-%d %H:%M UTC")))
    if card.triaged:
        blocks.append(render_block("scorecard", "figures", card))
    if card.bands:
        blocks.append(render_block("scorecard", "calibration", card, _BAND_WORDS, _SIGN_WORDS))
    if page.weeks:
        blocks.append(f"### Week by week\n\n{_render_weeks(page.weeks)}")
    listed = [one for one in page.results if one.place]
    listed.sort(key=_order_by_result)
    links = {
        one.number: build_reference_url(page.server_url, page.repository, f"issues/{one.number}") for one in listed
    }
    rows = [(one, links[one.number]) for one in listed[:MAX_LISTED]]
    folds = [
        Fold(f"Issues ({len(listed)})", render_block("scorecard", "issues", rows, len(listed) - len(rows))),
        Fold("How this is counted", render_block("scorecard", "method", card, MIN_CASES_FOR_PERCENT)),
    ]
    folds = folds if listed else folds[1:] if card.triaged else []
    markdown = Page(blocks, folds, footer="", links=[link for _, link in rows if link])
    return render_page(markdown, MAX_SUMMARY_UNITS).rstrip() + "\n"


def _order_by_result(result: IssueResult) -> tuple[bool, bool, int]:
    """What was wrong comes first, then the newest."""
    place = result.place
    return bool(place and place.first_right), bool(place and place.any_right), -result.number


def _link_issue(page: ScorecardPage, number: int) -> str | None:
    return build_reference_url(page.server_url, page.repository, f"issues/{number}")


def render_trend_comment(weeks: Sequence[Week]) -> str:
    """Returns the comment that remembers the weeks in its first line. It has no text of a stranger."""
    intro = (
        "**Was it right?** What came of the comments of this action on issues that were closed since, week by week. "
        "The file is right if the fix edited it. This comment is edited in place; the page of the latest job explains "
        "how each column is counted."
    )
    table = _render_weeks(weeks) if weeks else "Nothing triaged has been closed yet."
    visible = render_page(Page([intro, table], [], footer=""), MAX_COMMENT_UNITS).rstrip()
    return f"{render_marker(weeks)}\n{visible}\n"


def _render_weeks(weeks: Sequence[Week]) -> str:
    shown = list(weeks[: -MAX_SHOWN_WEEKS - 1 : -1])
    return render_block("scorecard", "trend", shown, len(weeks) - len(shown))
