"""What the table and the CSV file say about one issue."""

from triage.comment.wording import format_probability, has_model_answer
from triage.domain.code import Span
from triage.domain.findings import MissingKind
from triage.domain.report import RunReport

FOUND_BY = {
    "trace": "the trace ends here",
    "message": "the message stands here",
    "name": "the issue names it",
}
MIN_CHANCE = 0.5
"""A smaller chance is not said."""
QUESTIONS: dict[MissingKind, str] = {
    "reproduction": "steps",
    "expected": "what was expected",
    "actual": "what happened",
    "version": "version",
    "environment": "environment",
    "error_output": "error output",
    "configuration": "configuration",
    "other": "a detail",
}


def find_place(report: RunReport) -> tuple[Span | str | None, str]:
    """Returns the likeliest place, and how sure it is in words; None and nothing without one."""
    if found := report.found:
        line = Span(path=found.span.path, start=found.line, end=found.line) if found.line else found.span
        chance = f", {format_probability(found.probability)}" if found.probability >= MIN_CHANCE else ""
        return line, FOUND_BY[found.sign] + chance
    if not report.suspects:
        return None, ""
    first = report.suspects[0]
    is_argued = has_model_answer(report) and report.verdict in ("CONFIRMED", "UNCERTAIN") and bool(report.why)
    return first.span or first.path, "a model's analysis" if is_argued else "shares words, unsure"


def list_questions(report: RunReport) -> list[str]:
    """Returns what the report lacks, in a word or two each."""
    return list(dict.fromkeys(QUESTIONS[missing.kind] for missing in report.missing_information))
