"""Past issues: their fixes, and what they say about a new issue."""

from typing import Literal

from pydantic import AwareDatetime, Field

from triage.domain.code import PlaceSign
from triage.domain.task import Subject
from triage.domain.value import Value

StateReason = Literal["", "completed", "not_planned", "duplicate", "reopened"]
"""Why an issue has its state, by GitHub's `IssueStateReason` in small letters."""


class PastFix(Value):
    """A merged pull request, or a commit, that closed an issue."""

    number: int | None = None
    """Of the pull request."""
    commit: str | None = None
    """Full SHA of the commit, or of the merge."""
    title: str = ""
    milestone: str = ""
    files: list[str] = Field(default_factory=list)
    """Paths that it changed, not all of a large one."""
    at: AwareDatetime | None = None
    """When it was merged, or committed."""
    commits: int = 1
    """Commits that it put onto the branch, `commit` being the last: more than one if it was merged by rebasing."""


class PastIssue(Value):
    """Another issue of the repository, or a pull request that is open or merged. Its texts are a stranger's."""

    number: int
    is_pull_request: bool = False
    title: str
    body: str = ""
    """Visible text, cut."""
    author: str = ""
    labels: list[str] = Field(default_factory=list)
    issue_type: str = ""
    state: Literal["open", "closed"] = "open"
    state_reason: StateReason = ""
    created_at: AwareDatetime
    updated_at: AwareDatetime | None = None
    closed_at: AwareDatetime | None = None
    milestone: str = ""
    duplicate_of: int | None = None
    """The issue of which a person said that this is a duplicate."""
    fixes: list[PastFix] = Field(default_factory=list)
    suspects: list[str] = Field(default_factory=list)
    """Paths that our own report on it named."""
    wrong_subjects: list[Subject] = Field(default_factory=list)
    """What a person called wrong in our comment on it."""


class OpenGap(Value):
    """What the critic misses in the code."""

    text: str
    failed_resolves: int
    """Rounds in a row that looked for it and did not find it."""


class SimilarIssue(Value):
    """A past issue or a pull request that is like this one, and how it ended."""

    number: int
    """Its number in this repository."""
    is_pull_request: bool = False
    """Whether it is a pull request."""
    title: str
    """Its title, a stranger's text."""
    state: Literal["open", "closed"] = "open"
    """Whether it is open."""
    ended: str = ""
    """Of a closed one: how, in words of ours, such as `fixed in 1.4`, `not planned`, `duplicate of #7` or `merged`."""
    score: float
    """Probability that both report the same, from 0 to 1, in two digits."""
    is_probably_same: bool = Field(False, alias="named")
    """Whether it may be named as possibly the same: at most one issue and one pull request, and none that the reporter
    names already."""
    reasons: list[str] = Field(default_factory=list)
    """What both share, in words of ours, strongest first. Words of the issue stand in backticks."""
    fix_files: list[str] = Field(default_factory=list)
    """Paths that its fixes changed."""
    suspects: list[str] = Field(default_factory=list)
    """Paths that our own report on it named."""


class LearnedLabel(Value):
    """A label that similar issues of the repository carry."""

    name: str
    probability: float


class LearnedFromLabels(Value):
    """What the labels of the repository's past issues say about an issue."""

    labels: list[LearnedLabel] = Field(default_factory=list)
    """Likeliest first, each with a probability of a half or more."""
    kinds: dict[Literal["bug", "feature_request", "question"], float] = Field(default_factory=dict)
    """The probability of each kind; empty where fewer than 50 issues have a label that names one."""


PredictedBy = PlaceSign | Literal["files", "model"]
"""What leads to the first file: a sign in the report, or a model."""
