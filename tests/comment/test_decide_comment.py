"""When a report is worth a comment."""

from typing import Any

import pytest

from tests.comment.sample_reports import DEGRADED, FEATURE, FULL, RULES, USED_SKILLS, change_report, missing
from triage.comment.decide_comment import decide_comment
from triage.domain.code import FoundPlace, Span
from triage.domain.effect import CommentMode
from triage.domain.report import RunReport

PLACE = FoundPlace(sign="trace", span=Span(path="src/ledger/dates.py", start=1, end=7), line=4, probability=0.9)
SILENT = RULES.model_copy(update={"missing_information": [], "found": None})
ASKING = SILENT.model_copy(update={"missing_information": [missing("version", "Which version?", "")]})
FOUND = SILENT.model_copy(update={"found": PLACE})


def by_model(**changes: Any) -> RunReport:
    return change_report(FULL, found=None, missing_information=[], **changes)


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (SILENT, None),
        (SILENT.model_copy(update={"skills": USED_SKILLS}), None),
        (FEATURE, None),
        (FOUND, "found"),
        (FOUND.model_copy(update={"kind": "question"}), None),
        (ASKING, "question"),
        (ASKING.model_copy(update={"kind": "not_actionable"}), "question"),
        (ASKING.model_copy(update={"found": PLACE}), "found"),
        (by_model(verdict="CONFIRMED"), "analysis"),
        (by_model(verdict="UNCERTAIN"), "analysis"),
        (by_model(verdict="CHALLENGED"), None),
        (by_model(verdict=None), None),
        (by_model(why=" "), None),
        (by_model(kind="question"), None),
        (DEGRADED.model_copy(update={"found": None, "missing_information": []}), None),
    ],
)
def test_only_what_is_sure_or_asked_notifies(report: RunReport, reason: str | None):
    assert decide_comment(report, "auto") == reason
    assert decide_comment(report, "always") == (reason or "always")
    assert decide_comment(report, "never", is_asked=True, has_comment=True) is None


@pytest.mark.parametrize("mode", ["auto", "always"])
@pytest.mark.parametrize(("report", "reason"), [(FOUND, "found"), (SILENT, None)])
def test_whoever_asks_is_answered_and_no_comment_becomes_stale(
    report: RunReport, reason: str | None, mode: CommentMode
):
    assert decide_comment(report, mode, is_asked=True) == (reason or "asked")
    assert decide_comment(report, mode, has_comment=True) == (reason or "update")
    assert decide_comment(report, mode, is_asked=True, has_comment=True) == (reason or "update")
