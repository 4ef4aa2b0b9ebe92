"""What a backtest and a scorecard judge, and what came out, one value for each issue."""

from typing import Literal

from pydantic import AwareDatetime, Field

from triage.domain.code import MatchSource
from triage.domain.findings import Kind
from triage.domain.past_issues import PredictedBy
from triage.domain.report import CommentReason
from triage.domain.run import Status
from triage.domain.task import Subject
from triage.domain.value import Value

RANKED = 3
"""Files of a report that count: the first, and among the first three."""


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


class NamedPlace(Value):
    """The place that a report names, by a trace, a message or a name."""

    sign: MatchSource
    path: str
    chance: float
    edited: bool


class CaseResult(Value):
    """What the triage said, and whether the fix agrees."""

    case: PastCase
    kind: Kind | None
    status: Status
    files: list[RankedFile] = Field(default_factory=list)
    """As the report lists them, likeliest first."""
    chance: float = 0.0
    """Of the first file, from 0 to 1."""
    place: NamedPlace | None = None
    is_any_named_right: bool | None = None
    """Whether the fix edited one of the files that the comment names as the likely ones; None if it names none."""
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
    def is_first_right(self) -> bool:
        return self.rank == 1

    @property
    def is_among_ranked(self) -> bool:
        return self.rank is not None and self.rank <= RANKED


class DuplicateResult(Value):
    """An issue that somebody marked as a duplicate, and what the triage would have named."""

    number: int
    title: str
    original: int
    named: int | None = None
    outcome: Literal["found", "other", "none"]
    """Whether the named issue is of the same group, another one, or none was named."""


Outcome = Literal["right", "wrong", "missed"]
FixKind = Literal["code", "no code", "too large", "none"]
"""Of the closing fix: edits product code, edits none, GitHub does not list all of its files, or there is none."""


class PlaceResult(Value):
    """Whether the files that our comment named first were edited by the fix."""

    named: list[str]
    by: PredictedBy
    first_right: bool
    any_right: bool


class IssueResult(Value):
    """What came of our comment on one closed issue. The title is a stranger's."""

    number: int
    title: str
    closed_at: AwareDatetime
    fix: FixKind
    edited: list[str] = Field(default_factory=list)
    """Product files that the fix edited."""
    place: PlaceResult | None = None
    """None without a fix that edits code, and if the comment named no place before the issue was closed."""
    edited_by_others: bool = False
    """Somebody else edited the comment: what it says is not counted."""
    answered: bool | None = None
    """Whether the reporter wrote between our comment and the close; None if nothing was asked."""
    labels: int = 0
    """Labels that we suggested or added."""
    labels_on_issue: int = 0
    """Those of them that the issue has."""
    outcomes: dict[Subject, Outcome] = Field(default_factory=dict)
    """What came of what the comment said, and what it could have said."""
    hidden_as: str | None = None
    thumbs_up: int | None = None
    thumbs_down: int | None = None
