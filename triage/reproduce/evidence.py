"""What the steps of a reproduction hand over: `select` to `run` to `report`. Each value is plain, bounded JSON."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from triage.domain.value import Value
from triage.reproduce.example.example import Example, Project, Shown

Outcome = Literal["passed", "failed", "could-not-install", "could-not-run", "timed-out"]
Verdict = Literal[
    "still",
    "fixed",
    "changed",
    "newer",
    "not-reproduced",
    "could-not-install",
    "could-not-run",
    "other-failure",
    "nothing-to-compare",
    "mixed",
]
Measure = Literal["error", "assert", "output", "difference"]
"""What tells whether two versions do the same."""

Searched = Literal[
    "",
    "No first version was searched for: the named version is no release, or does not show it.",
    "It fails in every earlier release that could be run.",
    "No earlier release could be run.",
    "No first version was found within twelve builds.",
    "No first version was found within the time of the job.",
    "No first version was found: the outcome is not the same each time.",
]
"""Why a bisection found nothing; empty without one."""

MAX_TEXT_CHARS = 2_000
MAX_OUTPUT_CHARS = 8_000
MAX_PLACES = 2_000


class FailurePlace(Value):
    path: str = Field(max_length=500)
    """Below the folder that is on the import path, such as `xarray/core/dataset.py`."""
    line: int
    function: str = Field("", max_length=200)


class Failure(Value):
    type: str = Field(max_length=200)
    message: str = Field("", max_length=MAX_TEXT_CHARS)
    causes: list[str] = Field(default_factory=list, max_length=10)
    """Its type and those of the exceptions behind it."""
    frames: list[FailurePlace] = Field(default_factory=list, max_length=100)
    """Outermost first. Those of the example have the path `<example>`, other packages `<other>`."""

    @property
    def text(self) -> str:
        return f"{self.type}: {' '.join(self.message.split())}".removesuffix(": ")


class Execution(Value):
    """One run of the example, as the recorder tells it."""

    outcome: Outcome
    reason: str = Field("", max_length=MAX_TEXT_CHARS)
    """Why it could not run; of a failure, why it says nothing unless the report shows it."""
    failures: list[Failure] = Field(default_factory=list, max_length=10)
    output: str = Field("", max_length=MAX_OUTPUT_CHARS)
    executed: list[FailurePlace] = Field(default_factory=list, max_length=2_000)
    runtime: str = Field("", max_length=40)
    """Such as `Python 3.9.18`."""
    is_traced: bool = True
    """A recorder saw what was executed. Without one, all that is known is what was printed."""


class Target(Value):
    on: str
    """What people call it: `2.4.1`, `main`, a tag or the first characters of a commit."""
    version: str = ""
    """In the registry; empty for a commit."""
    commit: str = ""
    """Full SHA; empty for a release."""
    time: datetime
    """Nothing that is younger is installed."""
    may_build: bool = False
    """What the project's own files name is built from its source if it has no wheel."""
    pythons: list[str] = Field(default_factory=list)
    """Those that it can run on, such as `3.9`, the best first; empty for Node."""
    source_version: str = ""
    """What the build tools of a commit may take for its version, since they get no git repository."""


class Expected(Shown):
    """What the report says that happens."""

    errors: list[Failure] = Field(default_factory=list)
    """Of its tracebacks and error lines, with their messages; `frames` has the last place."""
    title: str = ""
    claims: str = ""
    """Its sentences that say what happens, not what should."""
    report: str = ""
    """What it shows and claims, without the example: an error in it is the reported one."""
    in_session: list[str] = Field(default_factory=list)
    """The types of the errors that the example's own prompts show: each is raised, also the one that is right."""


class Selection(Value):
    """What is to be run, and where."""

    project: Project
    example: Example
    expected: Expected
    is_feature: bool = False
    """It asks for something new: nothing fails, so there is no verdict."""
    targets: list[Target] = Field(max_length=10)
    """The named version or versions first, main last."""
    newest: Target | None = None
    """The newest release, for a main that cannot be installed. It may be the named version."""
    releases: list[str] = Field(default_factory=list)
    """All that a search for a change can name."""
    missing: str = Field("", max_length=200)
    """The version that is named, if it has no tag: the commit whose files say it is run, else the one before it."""


class Run(Value):
    """All runs of the example on one version."""

    on: str = Field(max_length=200)
    commit: str = Field("", max_length=64)
    time: str = Field("", max_length=40)
    """Nothing younger was installed; a date."""
    outcome: Outcome
    runtime: str = Field("", max_length=40)
    reason: str = Field("", max_length=MAX_TEXT_CHARS)
    error: str = Field("", max_length=MAX_TEXT_CHARS + 300)
    place: FailurePlace | None = None
    """Where the error was raised, the last frame of the project."""
    output: str = Field("", max_length=MAX_OUTPUT_CHARS)
    executed: list[FailurePlace] = Field(default_factory=list, max_length=MAX_PLACES)
    repeats: int = Field(0, ge=0, le=100)
    failures: int = Field(0, ge=0, le=100)
    """How many of the repeats had the reported failure."""
    same_failure: bool = False
    is_mixed: bool = False
    is_partial: bool = False
    """The report shows an error that it does not have."""
    is_random: bool = False
    """It prints something else each time, such as random numbers, or each day."""
    is_wished: bool = False
    """It prints what the report wishes."""


class Change(Value):
    """Where the outcome changes: the first release with the new outcome, and the first commit if it was found."""

    release: str = Field("", max_length=200)
    before: str = Field("", max_length=200)
    """The release before it, which was run too."""
    gap: list[str] = Field(default_factory=list, max_length=1_000)
    """The releases between the two, of which nothing could be told: any of them may be the first."""
    gap_reason: str = Field("", max_length=MAX_TEXT_CHARS)
    """Such as `could not be installed: no wheel`."""
    commit: str = Field("", max_length=64)
    subject: str = Field("", max_length=200)


class Evidence(Value):
    verdict: Verdict
    measure: Measure = "difference"
    runs: list[Run] = Field(default_factory=list, max_length=12)
    """The named version first; last what stands for the present, which may be the same."""
    first_bad: Change | None = None
    first_good: Change | None = None
    searched: Searched = ""

    @property
    def versions(self) -> list[Run]:
        """Each run once."""
        return [run for number, run in enumerate(self.runs) if run not in self.runs[:number]]
