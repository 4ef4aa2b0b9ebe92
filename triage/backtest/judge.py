"""Compares a report with the fix that came later."""

from collections.abc import Collection, Mapping, Sequence

from triage.backtest.past_case import CaseResult, DuplicateResult, LikelyPlace, PastCase, RankedFile
from triage.comment.decide_comment import decide_comment
from triage.domain.code import FoundPlace
from triage.domain.past_issues import PastIssue, SimilarIssue
from triage.domain.report import RunReport


def judge_report(
    case: PastCase, report: RunReport, place: FoundPlace | None, chances: Mapping[str, float]
) -> CaseResult:
    """Return what the report said and whether the fix agrees.

    `place` is where the issue leads, however unsure; `chances` has the chance of each ranked file.
    """
    edited = set(case.edited)
    files = [RankedFile(path=suspect.path, edited=suspect.path in edited) for suspect in report.suspects]
    return CaseResult(
        case=case,
        kind=report.kind,
        status=report.status,
        files=files,
        chance=chances.get(files[0].path, 0.0) if files else 0.0,
        place=_judge_place(report, place, edited),
        speaks=decide_comment(report, "auto"),
        duplicate=report.possible_duplicate.number if report.possible_duplicate else None,
        asked=[question.kind for question in report.missing_information],
        seconds=report.seconds,
        usd=report.usage.priced_usd,
        has_price=report.usage.usd is not None,
        by_model=report.usage.calls > 0,
    )


def _judge_place(report: RunReport, place: FoundPlace | None, edited: Collection[str]) -> LikelyPlace | None:
    is_first = place is not None and report.suspects and report.suspects[0].path == place.span.path
    if place is None or not is_first or report.kind != "bug":
        return None  # the report would not name it, however sure
    return LikelyPlace(
        sign=place.sign,
        path=place.span.path,
        chance=place.probability,
        edited=place.span.path in edited,
        named=report.found is not None,
    )


def judge_duplicate(issue: PastIssue, similar: Sequence[SimilarIssue], groups: Mapping[int, int]) -> DuplicateResult:
    """Return whether the earlier issue that a report names is of the same group as the issue."""
    named = next((one for one in similar if one.named), None)
    same = named is not None and groups.get(named.number, named.number) == groups[issue.number]
    return DuplicateResult(
        number=issue.number,
        title=issue.title,
        original=groups[issue.number],
        named=named.number if named else None,
        score=similar[0].score if similar else 0.0,
        outcome="none" if named is None else "found" if same else "other",
    )
