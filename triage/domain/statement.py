"""What is said about an issue. Each statement is a value with the facts that make it; `say.decide` makes the list.

`rule` is the published name of what made it, and `speaks` says whether it alone is worth a comment. What does not speak
stands on the page of the job, in the answer to somebody who asks, and below what speaks.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from triage.domain.code import BestPlace, LastChange, LaterChange, LaterFix, PathChange, QuotedLine, Suspect
from triage.domain.findings import MissingInformation, Severity, WebResult
from triage.domain.issue import FailingPackage
from triage.domain.past_issues import SimilarIssue
from triage.domain.task import Subject
from triage.domain.value import Value


class SecurityNotice(Value):
    """The issue may report a vulnerability: nothing else is said."""

    rule: Literal["security"] = "security"
    speaks: bool = True
    policy: str | None = None
    """Path of the repository's SECURITY.md."""


class KnownIssue(Value):
    """An earlier issue is probably the same, or a pull request is for it."""

    rule: Literal["duplicate"] = "duplicate"
    speaks: bool = True
    issue: SimilarIssue


class FixedSince(Value):
    """A commit after the reporter's version is probably the fix."""

    rule: Literal["fixed"] = "fixed"
    speaks: bool
    fix: LaterFix


class ChangedBetween(Value):
    """The commits between a version that worked and one that does not, or the commit that the report blames."""

    rule: Literal["regression"] = "regression"
    speaks: bool
    worked_in: str
    broken_in: str
    is_blamed: bool
    """The report names the commit itself."""
    total: int
    commits: list[PathChange]
    """Those that fit the report, or that a model's explanation names."""


class NotOurs(Value):
    """No frame of the trace is in this repository."""

    rule: Literal["elsewhere"] = "elsewhere"
    speaks: bool = True
    package: FailingPackage
    reports: list[WebResult] = Field(default_factory=list)
    """The package's issues with the same message."""


class Documented(Value):
    """A line of the documentation that answers a question, or that has what a feature request asks for."""

    rule: Literal["documented"] = "documented"
    speaks: bool = True
    line: QuotedLine
    is_question: bool


class Cause(Value):
    """A model's explanation: what it cites was shown to it, and no critic refuses it."""

    rule: Literal["analysis"] = "analysis"
    speaks: bool
    is_confirmed: bool
    """By the critic: then it stands first."""
    severity: Severity | None
    severity_reason: str
    summary: str
    place: Suspect | None
    touches: list[str]
    """Paths, if a fix needs more than one file."""
    why: str
    fix_idea: str
    check: str


class Leads(Value):
    """Where facts of the report lead: a trace, a message, quoted code, a name."""

    rule: Literal["found"] = "found"
    speaks: bool
    places: list[BestPlace] = Field(min_length=1)
    """The first is shown with its lines."""
    later_change: LaterChange | None = None
    """Of the first place's lines."""
    last_change: LastChange | None = None
    owners: list[str] = Field(default_factory=list)
    """Of the first place's file, by CODEOWNERS: logins and teams."""


class LikelyPlaces(Value):
    """Files that share words with the report, likeliest first. Never worth a comment by themselves."""

    rule: Literal["files"] = "files"
    speaks: Literal[False] = False
    places: list[Suspect]


class OpenQuestions(Value):
    """What only the reporter can say."""

    rule: Literal["question"] = "question"
    speaks: bool = True
    questions: list[MissingInformation]


SUBJECTS: Mapping[str, Subject] = {
    "duplicate": "known",
    "fixed": "fixed",
    "regression": "changed",
    "elsewhere": "elsewhere",
    "documented": "documented",
    "analysis": "cause",
    "found": "place",
    "files": "place",
    "question": "question",
}
"""What each rule speaks of, in the words of who calls it wrong."""
Statement = Annotated[
    SecurityNotice
    | KnownIssue
    | FixedSince
    | ChangedBetween
    | NotOurs
    | Documented
    | Cause
    | Leads
    | LikelyPlaces
    | OpenQuestions,
    Field(discriminator="rule"),
]
