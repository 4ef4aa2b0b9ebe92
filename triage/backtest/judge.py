"""Was it right? Compares what a report, or our comment, says with the fix that came later, and counts how often."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, get_args

from pydantic import AwareDatetime, Field

from triage.backtest.closed_issues import ClosedIssue, ClosingFix, OurComment
from triage.domain.findings import Kind
from triage.domain.past_issues import PredictedBy
from triage.domain.report import CommentReason, RunReport
from triage.domain.run import Status
from triage.domain.task import Subject
from triage.domain.value import Value
from triage.find.files.file_roles import classify_file
from triage.say.decide import decide_comment
from triage.say.hidden_state import find_named_files, hash_label

RANKED = 3
"""Files of a report that count: the first, and among the first three."""


MIN_CASES_FOR_PERCENT = 20
"""Small numbers stay numbers."""


class Rate(Value):
    """How many of some cases."""

    hits: int = 0
    cases: int = 0

    @property
    def fraction(self) -> str:
        return f"{self.hits:,} of {self.cases:,}"

    def __str__(self) -> str:
        if not self.cases:
            return "none yet"
        if self.cases < MIN_CASES_FOR_PERCENT:
            return self.fraction
        percent = 100 * self.hits / self.cases
        # 99.9 % is not 100 %, and one of a thousand is not none.
        rounded = f"{percent:.2g}" if percent < 1 else f"{min(percent, 99):.0f}" if percent < 100 else "100"
        return f"{self.fraction} ({rounded} %)"


def count_rate(values: Iterable[bool | None]) -> Rate:
    """Return how many are true; None is no case."""
    known = [value for value in values if value is not None]
    return Rate(hits=sum(known), cases=len(known))


class PastCase(Value):
    """An issue, as it was when it was opened, and the files that its fix edited."""

    name: str
    """`#12`, or seven digits of the commit whose message stands in for an issue."""
    number: int | None = None
    title: str
    body: str = ""
    author: str = ""
    opened_at: AwareDatetime
    base: str
    """Full SHA of the commit before the fix."""
    fix: str
    """Full SHA of the fix; of several, of the first."""
    edited: list[str]
    """Product files of the base that the fix edited."""
    url: str = ""
    wrong: list[Subject] = Field(default_factory=list)
    """What a person called wrong in our comment on it: it is not said again."""


class RankedFile(Value):
    path: str
    edited: bool
    """Whether the fix edited it."""


class PlaceResult(Value):
    """Whether the files that a comment names first were edited by the fix."""

    named: list[str]
    by: PredictedBy
    first_right: bool
    any_right: bool


class CaseResult(Value):
    """What the triage said, and whether the fix agrees."""

    case: PastCase
    kind: Kind | None
    status: Status
    files: list[RankedFile] = Field(default_factory=list)
    """As the report lists them, likeliest first."""
    place: PlaceResult | None = None
    """None if a comment names no file."""
    comment_reason: CommentReason | None = None
    """Why `comment: auto` would have written a comment; None if it would not have."""
    duplicate: int | None = None
    """The earlier issue that the report names as possibly the same."""
    seconds: float = 0.0
    """Index and triage."""
    usd: float = 0.0
    has_price: bool = True
    """Whether the price of each model that answered is known."""
    by_model: bool = False

    @property
    def rank(self) -> int | None:
        """Place of the first edited file among the listed ones, from 1 on; None if none of them was edited."""
        return next((number for number, file in enumerate(self.files, start=1) if file.edited), None)

    @property
    def is_among_ranked(self) -> bool:
        return self.rank is not None and self.rank <= RANKED


Outcome = Literal["right", "wrong", "missed"]
FixKind = Literal["code", "no code", "too large", "none"]
"""Of the closing fix: edits product code, edits none, GitHub does not list all of its files, or there is none."""


class IssueResult(Value):
    """What came of our comment on one closed issue. The title is a stranger's."""

    number: int
    title: str
    fix: FixKind
    edited: list[str] = Field(default_factory=list)
    """Product files that the fix edited."""
    place: PlaceResult | None = None
    """None without a fix that edits code, and if the comment named no place before the issue was closed."""
    edited_by_others: bool = False
    """Somebody else edited the comment: what it says is not counted."""
    answered: bool | None = None
    """Whether the reporter wrote between our comment and the close; None if nothing was asked."""
    labels: Rate = Rate()
    """Of the labels that we suggested or added, those that the issue has."""
    outcomes: dict[Subject, Outcome] = Field(default_factory=dict)
    """What came of what the comment said, and what it could have said."""


def is_product_code(path: str) -> bool:
    """Return whether a path is code of the product: no test, example, generated documentation or data."""
    return classify_file(path).is_product_code


def judge_place(named_paths: Sequence[str], by: PredictedBy, edited: Collection[str]) -> PlaceResult:
    """Return whether the fix edited the first file that a comment names, and whether one of the first three."""
    return PlaceResult(
        named=list(named_paths),
        by=by,
        first_right=named_paths[0] in edited,
        any_right=any(path in edited for path in named_paths[:RANKED]),
    )


def judge_report(case: PastCase, report: RunReport) -> CaseResult:
    """Return what the report said and whether the fix agrees."""
    files = [RankedFile(path=one.path, edited=one.path in case.edited) for one in report.suspects]
    named = find_named_files(report)
    return CaseResult(
        case=case,
        kind=report.kind,
        status=report.status,
        files=files,
        place=judge_place(*named, case.edited) if named else None,
        comment_reason=decide_comment(report, "auto"),
        duplicate=report.possible_duplicate.number if report.possible_duplicate else None,
        seconds=report.seconds,
        usd=report.usage.priced_usd,
        has_price=report.usage.usd is not None,
        by_model=report.usage.calls > 0,
    )


def judge_issue(issue: ClosedIssue, comment: OurComment) -> IssueResult:
    """Return what came of our comment on a closed issue."""
    edited = [path for path in (issue.fix.files if issue.fix else []) if is_product_code(path)]
    kind = _classify_fix(issue.fix, edited)
    state, place = comment.state, None
    named = state.first_named
    if kind == "code" and named and named.at <= issue.closed_at.timestamp():
        place = judge_place(named.paths, named.by, edited)
    carried = {hash_label(label) for label in issue.labels}
    answered = any(comment.posted_at < at <= issue.closed_at for at in issue.reporter_wrote_at)
    return IssueResult(
        number=issue.number,
        title=issue.title,
        fix=kind,
        edited=edited,
        place=place,
        edited_by_others=not comment.is_ours_alone,
        answered=answered if state.asked_kinds else None,
        outcomes=judge_outcomes(issue, comment, place, is_answered=bool(state.asked_kinds) and answered),
        labels=count_rate(label in carried for label in state.label_hashes),
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
    return found | dict.fromkeys(comment.state.wrong_subjects if comment else (), "wrong")


def _classify_fix(fix: ClosingFix | None, edited: list[str]) -> FixKind:
    if fix is None:
        return "none"
    if not fix.is_whole:
        return "too large"
    return "code" if edited else "no code"


class Scorecard(Value):
    triaged: int
    """Closed issues with a comment of ours."""
    fixed: int
    """Those that were closed by a fix that edits product code."""
    not_counted: dict[str, int] = Field(default_factory=dict)
    """Closed issues by why they are not in `fixed`: `no code`, `too large`, `none`."""
    first: Rate
    """The first file that the comment named is among those that the fix edited."""
    any: Rate
    """One of the first three is."""
    outcomes: dict[Subject, dict[Outcome, int]] = Field(default_factory=dict)
    """How often what the comments said was right or wrong, and how often it was missed, also without a comment."""
    answered: Rate
    labels: Rate
    edited_by_others: int = 0


def count_issues(results: Sequence[IssueResult], silent: Sequence[Mapping[Subject, Outcome]] = ()) -> Scorecard:
    """Return the scorecard. `silent` are the outcomes of issues without a comment of ours."""
    places = [one.place for one in results if one.place]
    fixed = [one for one in results if one.fix == "code"]
    outcomes = [*(one.outcomes for one in results if not one.edited_by_others), *silent]
    counted = {subject: Counter(one[subject] for one in outcomes if subject in one) for subject in get_args(Subject)}
    return Scorecard(
        triaged=len(results),
        fixed=len(fixed),
        not_counted=dict(Counter(one.fix for one in results if one.fix != "code")),
        first=count_rate(place.first_right for place in places),
        any=count_rate(place.any_right for place in places),
        outcomes={subject: dict(counts) for subject, counts in counted.items() if counts},
        answered=count_rate(one.answered for one in results),
        labels=Rate(hits=sum(one.labels.hits for one in results), cases=sum(one.labels.cases for one in results)),
        edited_by_others=sum(one.edited_by_others for one in results),
    )
