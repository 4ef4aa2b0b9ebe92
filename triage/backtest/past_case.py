"""An issue whose fix is known, and what the triage made of it."""

from typing import Literal

from pydantic import AwareDatetime, Field

from triage.domain.code import MatchSource
from triage.domain.findings import Kind, MissingKind
from triage.domain.report import SpeakReason
from triage.domain.run import Status
from triage.domain.value import Value

RANKED = 3
"""Files of a report that count: the first, and among the first three."""


class FixCommit(Value):
    """A commit of the checkout that says that it fixes something."""

    commit: str
    """Full SHA."""
    message: str
    at: AwareDatetime
    is_fix: bool
    """Whether it is mainly a fix, by its message."""


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


class RankedFile(Value):
    path: str
    edited: bool
    """Whether the fix edited it."""


class LikelyPlace(Value):
    """Where a trace, a message or a name leads, however unsure."""

    sign: MatchSource
    path: str
    chance: float
    edited: bool
    named: bool
    """Whether the thresholds of the project let the report name it."""


class CaseResult(Value):
    """What the triage said, and whether the fix agrees."""

    case: PastCase
    kind: Kind
    status: Status
    files: list[RankedFile] = Field(default_factory=list)
    """As the report lists them, likeliest first."""
    chance: float = 0.0
    """Of the first file, from 0 to 1."""
    place: LikelyPlace | None = None
    speaks: SpeakReason | None = None
    """Why `comment: auto` would have written a comment; None if it would not have."""
    duplicate: int | None = None
    """The earlier issue that the report names as possibly the same."""
    asked: list[MissingKind] = Field(default_factory=list)
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
    score: float = 0.0
    outcome: Literal["found", "other", "none"]
    """Whether the named issue is of the same group, another one, or none was named."""
