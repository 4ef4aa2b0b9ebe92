"""What is said about an issue. Each statement is a value with the facts that make it; `say.decide` makes the list.

`rule` is the published name of what made it, and `speaks` says whether it alone is worth a comment. What does not speak
stands on the page of the job, in the answer to somebody who asks, and below what speaks.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from triage.domain.code import LastChange, LaterChange, LaterFix, PathChange, Place, QuotedLine, Suspect
from triage.domain.findings import MissingInformation, Severity, WebResult
from triage.domain.issue import FailingPackage
from triage.domain.past_issues import SimilarIssue
from triage.domain.task import Subject
from triage.domain.value import Value


class Said(Value):
    """What every statement has."""

    rule: str
    """The published name of what made it."""
    speaks: bool
    """Whether it alone is worth a comment."""


class SecurityNotice(Said):
    """The issue may report a vulnerability: nothing else is said."""

    rule: Literal["security"] = "security"
    speaks: bool = True
    policy: str | None = None
    """Path of the repository's SECURITY.md."""


class KnownIssue(Said):
    """An earlier issue is probably the same, or a pull request is for it."""

    rule: Literal["duplicate"] = "duplicate"
    speaks: bool = True
    issue: SimilarIssue
    """The earlier issue, or the pull request."""


class FixedSince(Said):
    """A commit after the reporter's version is probably the fix."""

    rule: Literal["fixed"] = "fixed"
    speaks: bool
    fix: LaterFix
    """The commit."""


class ChangedBetween(Said):
    """The commits between a version that worked and one that does not, or the commit that the report blames."""

    rule: Literal["regression"] = "regression"
    speaks: bool
    worked_in: str
    """A tag or a commit."""
    broken_in: str
    """A tag or a commit; `HEAD` for the indexed one."""
    is_blamed: bool
    """The report names the commit itself."""
    total: int
    """Number of commits between them that change code."""
    commits: list[PathChange]
    """Those that fit the report, or that a model's explanation names."""


class NotOurs(Said):
    """No frame of the trace is in this repository."""

    rule: Literal["elsewhere"] = "elsewhere"
    speaks: bool = True
    package: FailingPackage
    """The package in whose code the trace ends."""
    reports: list[WebResult] = Field(default_factory=list)
    """The package's issues with the same message."""


class Documented(Said):
    """A line of the repository that answers a question, or that has what a feature request asks for."""

    rule: Literal["documented"] = "documented"
    speaks: bool = True
    line: QuotedLine
    """The line."""
    is_question: bool
    """Whether the issue is a question; else it asks for a feature."""
    answer: str = ""
    """In a model's words."""


class Cause(Said):
    """A model's explanation: what it cites was shown to it, and no critic refuses it."""

    rule: Literal["analysis"] = "analysis"
    speaks: bool
    is_request: bool = False
    """It says where a feature would go."""
    is_confirmed: bool
    """By the critic: then it stands first."""
    severity: Severity | None
    """None where nothing says how bad it is."""
    severity_reason: str
    """What says so."""
    summary: str
    """The cause in a sentence."""
    place: Suspect | None
    """The first suspect."""
    touches: list[str]
    """Paths, if a fix needs more than one file."""
    why: str
    """How the cause leads to the symptom."""
    fix_idea: str
    """What to change."""
    check: str
    """What would prove or refute it."""


class FoundPlaces(Said):
    """Where facts of the report lead: a trace, a message, quoted code, a name."""

    rule: Literal["found"] = "found"
    speaks: bool
    places: list[Place] = Field(min_length=1)
    """The first is shown with its lines."""
    later_change: LaterChange | None = None
    """Of the first place's lines."""
    last_change: LastChange | None = None
    """The commit that changed these lines last."""
    owners: list[str] = Field(default_factory=list)
    """Of the first place's file, by CODEOWNERS: logins and teams."""


class LikelyFiles(Said):
    """Files that fit the report by words, paths and frames, likeliest first. Never worth a comment by themselves."""

    rule: Literal["files"] = "files"
    speaks: Literal[False] = False
    files: list[Suspect] = Field(alias="places")
    """At most three."""


class OpenQuestions(Said):
    """What only the reporter can say."""

    rule: Literal["question"] = "question"
    speaks: bool = True
    questions: list[MissingInformation]
    """In the order in which they are asked."""


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
    | FoundPlaces
    | LikelyFiles
    | OpenQuestions,
    Field(discriminator="rule"),
]
