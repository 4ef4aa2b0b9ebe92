"""Was it right? Compares what a report, or our comment, says with the fix that came later."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from triage.backtest.results import (
    RANKED,
    CaseResult,
    DuplicateResult,
    FixKind,
    IssueResult,
    NamedPlace,
    Outcome,
    PastCase,
    PlaceResult,
    RankedFile,
)
from triage.domain.past_issues import ClosedIssue, ClosingFix, OurComment, PastIssue, SimilarIssue, TriagedIssue
from triage.domain.report import RunReport
from triage.domain.task import Subject
from triage.find.files.file_roles import classify_file
from triage.say.comment import decide_comment
from triage.say.hidden_state import find_named_files, hash_label


def is_product_code(path: str) -> bool:
    """Return whether a path is code of the product: no test, example, generated documentation or data."""
    return classify_file(path).is_product_code


def judge_report(case: PastCase, report: RunReport, chances: Mapping[str, float]) -> CaseResult:
    """Return what the report said and whether the fix agrees. `chances` has the chance of each ranked file."""
    files = [RankedFile(path=one.path, edited=one.path in case.edited) for one in report.suspects]
    return CaseResult(
        case=case,
        kind=report.kind,
        status=report.status,
        files=files,
        chance=chances.get(files[0].path, 0.0) if files else 0.0,
        place=_judge_place(report, case.edited),
        is_any_named_right=_judge_named_files(report, case.edited),
        comment_reason=decide_comment(report, "auto"),
        duplicate=report.possible_duplicate.number if report.possible_duplicate else None,
        seconds=report.seconds,
        usd=report.usage.priced_usd,
        has_price=report.usage.usd is not None,
        by_model=report.usage.calls > 0,
    )


def _judge_place(report: RunReport, edited: Collection[str]) -> NamedPlace | None:
    place = report.best_place
    if place is None:
        return None
    path = place.span.path
    return NamedPlace(sign=place.sign, path=path, chance=place.probability, edited=path in edited)


def _judge_named_files(report: RunReport, edited: Collection[str]) -> bool | None:
    named = find_named_files(report)
    return any(path in edited for path in named.paths) if named else None


def judge_duplicate(issue: PastIssue, similar: Sequence[SimilarIssue], groups: Mapping[int, int]) -> DuplicateResult:
    """Return whether the earlier issue that a report names is of the same group as the issue."""
    named = next((one for one in similar if one.named), None)
    same = named is not None and groups.get(named.number, named.number) == groups[issue.number]
    return DuplicateResult(
        number=issue.number,
        title=issue.title,
        original=groups[issue.number],
        named=named.number if named else None,
        outcome="none" if named is None else "found" if same else "other",
    )


def judge_issue(issue: TriagedIssue) -> IssueResult:
    """Return what came of our comment on a closed issue."""
    comment = issue.comment
    carried = {hash_label(label) for label in issue.labels}
    edited = [path for path in (issue.fix.files if issue.fix else []) if is_product_code(path)]
    kind = _classify_fix(issue.fix, edited)
    place = _judge_named_place(comment, edited, issue.closed_at) if kind == "code" else None
    answered = _is_answered(issue) if comment.asked else None
    return IssueResult(
        number=issue.number,
        title=issue.title,
        closed_at=issue.closed_at,
        fix=kind,
        edited=edited,
        place=place,
        edited_by_others=not comment.is_ours_alone,
        answered=answered,
        outcomes=judge_outcomes(issue, comment, place, is_answered=bool(answered)),
        labels=len(comment.labels),
        labels_on_issue=sum(label in carried for label in comment.labels),
        hidden_as=comment.hidden_as,
        thumbs_up=comment.thumbs_up,
        thumbs_down=comment.thumbs_down,
    )


def judge_outcomes(
    issue: ClosedIssue,
    comment: OurComment | None = None,
    place: PlaceResult | None = None,
    *,
    is_answered: bool = False,
) -> dict[Subject, Outcome]:
    """Return what came of each thing that our comment said, or that it could have said. A person's word counts most."""
    found: dict[Subject, Outcome] = {"question": "right"} if is_answered else {}
    if place and place.by != "files":
        found["cause" if place.by == "model" else "place"] = "right" if place.any_right else "wrong"
    elif not place and issue.fix and issue.fix.is_whole and any(map(is_product_code, issue.fix.files)):
        found["place"] = "missed"
    if issue.is_duplicate:
        found["known"] = "right" if comment and "known" in comment.said else "missed"
    return found | dict.fromkeys(comment.wrong if comment else (), "wrong")


def _classify_fix(fix: ClosingFix | None, edited: list[str]) -> FixKind:
    if fix is None:
        return "none"
    if not fix.is_whole:
        return "too large"
    return "code" if edited else "no code"


def _judge_named_place(comment: OurComment, edited: Collection[str], closed_at: datetime) -> PlaceResult | None:
    named = comment.prediction
    if named is None or named.at > closed_at:
        return None
    return PlaceResult(
        named=named.paths,
        by=named.by,
        first_right=named.paths[0] in edited,
        any_right=any(path in edited for path in named.paths[:RANKED]),
    )


def _is_answered(issue: TriagedIssue) -> bool:
    return any(issue.comment.posted_at < at <= issue.closed_at for at in issue.reporter_wrote_at)
