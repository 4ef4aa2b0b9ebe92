"""Decides whether a report is worth a comment, which notifies everybody who watches the issue."""

from triage.domain.effect import CommentMode
from triage.domain.report import RunReport, SpeakReason
from triage.domain.run import Outcome

NOTHING_TO_SAY = "Nothing sure enough to say: no comment (comment: always writes one)."


def decide_comment(
    report: RunReport, mode: CommentMode, *, is_asked: bool = False, has_comment: bool = False
) -> SpeakReason | None:
    """Returns why the issue gets a comment; None if the report stays on the page of the job.

    `is_asked` says that a person asked for this run, and `has_comment` that a comment of ours stands on the issue. It
    is brought up to date even if nothing is sure any more: what it said may be wrong now.
    """
    if mode == "never":
        return None
    if reason := _find_reason(report):
        return reason
    if has_comment:
        return "update"
    if is_asked:
        return "asked"
    return "always" if mode == "always" else None


def _find_reason(report: RunReport) -> SpeakReason | None:
    if report.security:
        return "security"
    if report.possible_duplicate:
        return "duplicate"
    if report.kind == "bug" and report.found:
        return "found"
    if report.kind == "bug" and _is_analysed(report):
        return "analysis"
    return "question" if report.missing_information else None


def _is_analysed(report: RunReport) -> bool:
    """Returns whether a model wrote what the cause is, and the critic did not reject it."""
    is_by_model = any(
        step.step == "writer" and step.engine == "model" and step.outcome is Outcome.SUCCESS for step in report.steps
    )
    return is_by_model and report.verdict in ("CONFIRMED", "UNCERTAIN") and bool(report.why.strip())
