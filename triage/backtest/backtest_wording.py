"""Sentences of a backtest, the same at the terminal and on the page."""

from collections.abc import Iterator

from triage.backtest.choose_thresholds import MIN_PLACES, ThresholdChoice
from triage.backtest.outcome import BacktestOutcome
from triage.backtest.past_case import CaseResult
from triage.backtest.score import BacktestScore, Share

SIGNS = {"trace": "the end of a stack trace", "message": "an error message", "name": "a name in the issue"}
_WHOLE = "The whole history was read, as with fetch-depth: 0 in the workflow; without it, fewer files are right."
_SHALLOW = "This clone has only a part of the history; with all of it, as with fetch-depth: 0, more files are right."
SPEAKS = {
    "found": "the place in the code",
    "analysis": "a model's analysis",
    "duplicate": "an earlier issue",
    "question": "a question to the reporter",
    "security": "a possible vulnerability",
}


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
        ("First file right", str(score.first), "the fix edited the file that the report names first"),
        ("Among the first three", str(score.ranked), "the fix edited one of the first three files"),
        ("Read as a bug", str(score.bugs), "for other issues, no comment names a place"),
    ]
    if outcome.by_issues:  # what would be asked about a commit's message means nothing
        figures.append(("Comments", str(score.comments), _list_reasons(score) or "none with comment: auto"))
    if score.named.of:
        by_sign = ", ".join(f"{SIGNS[sign]} ({share})" for sign, share in score.named_by_sign.items())
        figures.append(("Named places right", str(score.named), f"found by {by_sign}"))
    if score.analysed.of:
        figures.append(("Analyses right", str(score.analysed), "the fix edited the first file of a model's analysis"))
    if score.duplicates.of:
        other = f"; for {score.wrong_duplicates}, another issue was named" if score.wrong_duplicates else ""
        figures.append(("Duplicates found", str(score.duplicates), f"that somebody marked as a duplicate{other}"))
    if score.unmarked_named.count:
        explanation = "a fixed issue that nobody marked as a duplicate: look whether it is one"
        figures.append(("Other duplicates named", str(score.unmarked_named), explanation))
    if score.incomplete:
        figures.append(("Incomplete", f"{score.incomplete} of {score.issues}", "a part failed or took too long"))
    figures.append(("Time", f"{score.seconds:.0f} s", f"median {score.median_seconds:.1f} s an issue"))
    if score.by_model:
        each = f"${score.usd / max(1, score.issues):.3f} for each issue"
        figures.append(("Cost", f"${score.usd:.2f}", each if score.has_price else "and what has no known price"))
    return figures


def _list_reasons(score: BacktestScore) -> str:
    listed = ", ".join(f"{SPEAKS.get(reason, reason)}: {count}" for reason, count in score.speaks.items())
    return listed and listed[0].upper() + listed[1:]


def explain_thresholds(outcome: BacktestOutcome) -> str:
    """Return what the backtest says about the thresholds as a whole."""
    changed = [choice.sign for choice in outcome.score.choices if choice.after != choice.before]
    if changed:
        return "Others suit this repository, by these issues. By the next issues, they will look a little worse."
    return f"None changes: that needs {MIN_PLACES} issues that lead to a place in the same way, and a clear gain."


def list_threshold_lines(outcome: BacktestOutcome) -> Iterator[str]:
    """Yield one line for each sign."""
    for choice in outcome.score.choices:
        yield f"{choice.sign}: {choice.after:.2f}  ({_explain_choice(choice)})"


def _explain_choice(choice: ThresholdChoice) -> str:
    if choice.places < MIN_PLACES:
        return f"as it is: {_count(choice.places, 'issue')}" if choice.places else "as it is: no issue"
    now = Share(count=choice.right_before, of=choice.named_before)
    if choice.after == choice.before:
        return f"as it is: {now} places right"
    then = Share(count=choice.right_after, of=choice.named_after)
    return f"was {choice.before:.2f} with {now} places right; now {then}"


def list_left_out(outcome: BacktestOutcome) -> list[str]:
    """Return one line for each reason for which fixed issues are not among the results."""
    lines = [f"{count} left out: {reason}." for reason, count in outcome.left_out.items()]
    if outcome.chosen < outcome.wanted:
        lines.append(f"Only {outcome.chosen} of the {outcome.wanted} asked for were found.")
    missing = outcome.chosen - len(outcome.results)
    return [*lines, f"{missing} not triaged: the backtest was stopped."] if missing else lines


def describe_hit(result: CaseResult) -> str:
    """Return how near the report was."""
    if not result.files:
        return "no file named"
    if result.rank is None:
        return "missed"
    return {1: "first", 2: "second", 3: "third"}.get(result.rank, f"number {result.rank}")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
