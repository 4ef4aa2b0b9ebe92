"""Which files a comment names as the place of the fault."""

from typing import NamedTuple

from triage.comment.wording import has_model_answer
from triage.domain.past_issues import PredictedBy
from triage.domain.report import RunReport

MAX_NAMED = 3


class NamedFiles(NamedTuple):
    paths: list[str]
    """First the one of the headline, then the next ones of the list; at most `MAX_NAMED`."""
    by: PredictedBy
    chance: float
    """That the fix edits the first one, from 0 to 1."""


def find_named_files(report: RunReport) -> NamedFiles | None:
    """Returns the files that the comment on a report names.

    None if it names no place: it asks, redirects a security report, or lists files that only share words with it.
    """
    if report.security or report.kind != "bug":
        return None
    suspects = [suspect.path for suspect in report.suspects]
    if has_model_answer(report):
        return _name(suspects, "model", report.confidence)
    if report.found:
        return _name([report.found.span.path, *suspects], report.found.sign, report.found.probability)
    return None


def _name(paths: list[str], by: PredictedBy, chance: float) -> NamedFiles | None:
    named = list(dict.fromkeys(paths))[:MAX_NAMED]
    return NamedFiles(named, by, min(1.0, max(0.0, chance))) if named else None
