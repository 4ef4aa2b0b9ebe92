"""Was it right? Before, the figures of a backtest; since, the page of the scorecard, in Markdown that does nothing."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field

from triage.backtest.count import (
    MIN_CASES_FOR_PERCENT,
    BacktestOutcome,
    BacktestScore,
    ExampleScore,
    Scorecard,
)
from triage.backtest.results import IssueResult
from triage.domain.past_issues import PredictedBy
from triage.domain.value import Value
from triage.safety.safe_markdown import format_code_block
from triage.say.permalink import build_reference_url
from triage.say.report_pages import Fold, Page, render_page
from triage.say.template import MAX_SUMMARY_UNITS, render_block

SIGNS: Mapping[PredictedBy, str] = {
    "trace": "the end of a stack trace",
    "message": "an error message",
    "quote": "quoted code",
    "place": "a file that the issue names",
    "name": "a name in the issue",
    "files": "words that they share",
    "model": "a model's analysis",
}
"""What leads to a file."""
_WHOLE = "The whole history was read, as with fetch-depth: 0 in the workflow; without it, fewer files are right."
_SHALLOW = "This clone has only a part of the history; with all of it, as with fetch-depth: 0, more files are right."
COMMENT_REASONS = {
    "found": "the place in the code",
    "fixed": "a later fix",
    "regression": "the commits between two versions",
    "analysis": "a model's analysis",
    "duplicate": "an earlier issue",
    "question": "a question to the reporter",
    "security": "a possible vulnerability",
}
MAX_LISTED = 100
LOW_SHARE = 0.1
"""Of the bugs with an example."""


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


def describe_source(outcome: BacktestOutcome) -> str:
    """Return what was triaged, and what the figures can say."""
    count, name = len(outcome.results), outcome.repository
    history = _SHALLOW if outcome.is_shallow else _WHOLE
    if outcome.by_issues:
        return (
            f"{_count(count, 'closed issue')} of {name} whose fix is known, each triaged on the commit before its fix, "
            f"with what was known when it was opened. {history}"
        )
    return (
        f"{_count(count, 'fix', 'fixes')} of {name}, each triaged on the commit before it. The messages of the commits "
        "stand in for issues. Who writes them knows the cause, and a reporter does not: with --github the figures say "
        f"more. {history}"
    )


def list_figures(outcome: BacktestOutcome) -> list[tuple[str, str, str]]:
    """Return name, figure and explanation of each result."""
    score = outcome.score
    figures = [
        ("First file right", score.first.fraction, "the fix edited the file that the report names first"),
        ("Among the first three", score.ranked.fraction, "the fix edited one of the first three files"),
        ("Read as a bug", score.bugs.fraction, "for other issues, no comment names a place"),
    ]
    if outcome.by_issues:  # what would be asked about a commit's message means nothing
        figures.append(("Comments", score.comments.fraction, _list_reasons(score) or "none with comment: auto"))
    if score.named.cases:
        by_sign = ", ".join(f"{SIGNS[sign]} ({rate.fraction})" for sign, rate in score.named_by_sign.items())
        figures.append(("Named places right", score.named.fraction, f"found by {by_sign}"))
    if score.any_named.cases:
        explanation = "the fix edited one of the one to three files that the comment names as the likely ones"
        figures.append(("One of the named files right", score.any_named.fraction, explanation))
    if score.analysed.cases:
        explanation = "the fix edited the first file of a model's analysis"
        figures.append(("Analyses right", score.analysed.fraction, explanation))
    if score.duplicates.cases:
        other = f"; for {score.wrong_duplicates}, another issue was named" if score.wrong_duplicates else ""
        explanation = f"that somebody marked as a duplicate{other}"
        figures.append(("Duplicates found", score.duplicates.fraction, explanation))
    if score.unmarked_named.hits:
        explanation = "a fixed issue that nobody marked as a duplicate: look whether it is one"
        figures.append(("Other duplicates named", score.unmarked_named.fraction, explanation))
    figures += _list_example_figures(outcome.examples) if outcome.examples else []
    if score.incomplete:
        figures.append(("Incomplete", f"{score.incomplete} of {score.issues}", "a part failed or took too long"))
    figures.append(("Time", f"{score.seconds:.0f} s", f"median {score.median_seconds:.1f} s an issue"))
    if score.by_model:
        each = f"${score.usd / max(1, score.issues):.3f} for each issue"
        figures.append(("Cost", f"${score.usd:.2f}", each if score.has_price else "and what has no known price"))
    return figures


def _list_example_figures(examples: ExampleScore) -> list[tuple[str, str, str]]:
    """Return how many bugs have an example; if they were run, what that said."""
    found = examples.found
    share = found.hits / max(1, found.cases)
    said = "worth running" if share >= LOW_SHARE else "running them is not worth it here"
    figures = [("With an example", found.fraction, f"{100 * share:.0f} % of your bugs have one: {said}")]
    if examples.tried:
        where = "at the commit before the fix and at the fix"
        figures += [
            ("Examples that ran", f"{examples.ran} of {examples.tried}", where),
            ("Failed before the fix", f"{examples.failed} of {examples.ran}", "as the report says"),
            ("Passed after it", f"{examples.fixed} of {examples.failed}", "the failure was gone at the fix"),
        ]
    return figures


def _list_reasons(score: BacktestScore) -> str:
    listed = ", ".join(
        f"{COMMENT_REASONS.get(reason, reason)}: {count}" for reason, count in score.comment_reasons.items()
    )
    return listed and listed[0].upper() + listed[1:]


def list_left_out(outcome: BacktestOutcome) -> list[str]:
    """Return one line for each reason for which fixed issues are not among the results."""
    lines = [f"{count} left out: {reason}." for reason, count in outcome.left_out.items()]
    if outcome.chosen < outcome.wanted:
        lines.append(f"Only {outcome.chosen} of the {outcome.wanted} asked for were found.")
    missing = outcome.chosen - len(outcome.results)
    return [*lines, f"{missing} not triaged: the backtest was stopped."] if missing else lines


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


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
