"""What a person is asked to approve, before and after it is a commit, and what GitHub says about it.

What is carried out is the value whose id the person named, and nothing else (`triage.fix.check_command`).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from triage.domain.value import Value

PROPOSAL_LIFETIME = timedelta(days=7)
"""An older proposal is not carried out."""
MAX_REVISIONS = 3
"""Times that a patch is made again with a person's words."""

Approvers = Literal["write", "owners"]
"""Who may approve a patch."""
TestsOutcome = Literal["", "proved", "unproved", "failed", "unclear", "uncounted", "none"]
"""What the project's tests said of a patch; empty if nobody reported it. They pass, and the new test fails without it
(proved), or no more is known (unproved); fail only with it (failed), or also without (unclear); pass, but fewer ran, or
nobody counted (uncounted); did not run (none)."""
ExampleOutcome = Literal["", "fixed", "still", "other", "broken", "changed", "unchanged", "not-run"]
"""What became of the report's example with a patch; empty if nobody ran it. What failed before is fixed, still fails or
in another way (other); what did not is broken, or prints something else (changed), or the same (unchanged)."""


class ExampleResult(Value):
    outcome: ExampleOutcome = ""
    reason: str = ""
    """Why it could not be run, in words of ours."""


CommitId = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
TextHash = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
"""Of an issue's title and body, see `say.hidden_state.hash_text`."""
ID_CHARS = 12
ProposalId = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
"""The first digits of a patch's last commit."""


class Proposal(Value):
    """A patch as commits on GitHub that a person may approve. All but `ref` is read from the commits themselves."""

    issue: int
    issue_text_hash: TextHash
    created_at: datetime
    """Time of the last commit by GitHub's clock, in whole seconds."""
    base: CommitId
    test_commit: CommitId | None = None
    """The commit with the tests alone, as `commit` has them too; none if the patch has no test, or nothing else."""
    commit: CommitId
    """The whole patch. Its parent is `test_commit`, or `base` without one."""
    revision: int = Field(0, ge=0, le=MAX_REVISIONS)
    """How often it was made again with a person's words."""
    ref: str = ""
    """`refs/triage/proposals/<issue>/<id>`, until somebody has decided."""

    @property
    def id(self) -> ProposalId:
        """What people see and name. Git computes it from everything that would be done."""
        return self.commit[:ID_CHARS]

    @property
    def commits(self) -> list[str]:
        """All commits on the base, the first one first."""
        return [self.test_commit, self.commit] if self.test_commit else [self.commit]


class ProposalStatus(StrEnum):
    NONE = "none"
    AWAITING = "awaiting"
    APPROVED = "approved"
    REJECTED = "rejected"


class PendingMutation(Value):
    """A branch that a person is asked about. It is made only after their yes, and as it is here."""

    commit: CommitId
    branch: str


class PullRequest(Value):
    number: int
    url: str


FileMode = Literal["100644", "100755"]
"""As git writes it: a plain file, or one that may be executed."""
RequestKind = Literal["Bug", "Story"]
"""What is wrong, or what is wished."""

MAX_FILES = 20
MAX_REQUEST_CHARS = 400
MAX_FILE_CHARS = 1_000_000


class TextFile(Value):
    """A regular text file of a commit."""

    text: str
    """With its own line ends."""
    mode: FileMode = "100644"


class PatchCommit(Value):
    """One commit of a patch: what it changes on its parent."""

    files: Mapping[str, TextFile]
    """By path, each with its mode and the whole text."""
    message: str


class PatchedFile(Value):
    """A file as the patch has it."""

    path: str
    description: str = ""
    """What changes in it and why, in a line. A model's words."""
    is_new_file: bool = False
    text: Annotated[str, Field(max_length=MAX_FILE_CHARS)]
    """The whole file, with the line ends of the commit's file."""


class EditablePath(NamedTuple):
    """A file of the commit that people edit by hand."""

    path: str
    language: str
    """Name of its programming language, if it has a parser; empty for other files."""
    is_test: bool
    is_product_code: bool
    """Code that is neither a test nor documentation, an example or a benchmark."""


class Patch(Value):
    """A change that a model wrote and code has checked. Jobs pass it on as a file."""

    version: Literal[1] = 1
    repository: str
    """`owner/name`, or the folder's name at a terminal."""
    issue: int | None
    issue_title: str
    issue_text_hash: TextHash
    base: CommitId
    kind: RequestKind = "Bug"
    summary: str
    """One line. A model's words, as are cause, reasons and descriptions."""
    root_cause: str | None = None
    """Of a bug."""
    acceptance_criteria: list[str] = Field(default_factory=list, max_length=20)
    modules: list[str] = Field(default_factory=list, max_length=50)
    """Names of those that it is limited to, see `triage.fix.patch.modules`."""
    changes: list[PatchedFile] = Field(default_factory=list, max_length=MAX_FILES)
    """All files that are no tests. They are the second commit."""
    tests: list[PatchedFile] = Field(default_factory=list, max_length=MAX_FILES)
    """All files that are tests by folder and name. They are the first commit, which must fail without the second."""
    no_test_reason: str = ""
    checked: str = Field("", max_length=500)
    """What the project's own check said, in words of ours; empty if none was run."""
    unverified: list[str] = Field(default_factory=list, max_length=20)
    """What nobody checked, in the model's words."""
    revision: int = Field(0, ge=0, le=MAX_REVISIONS)
    revision_words: str = Field("", max_length=MAX_REQUEST_CHARS)
    """What a person said of the version before."""

    @property
    def files(self) -> list[PatchedFile]:
        """The files as the whole patch leaves them, what is fixed before its tests."""
        return [*self.changes, *self.tests]

    @property
    def has_test_commit(self) -> bool:
        """Whether the tests are a commit of their own: without another change there is nothing that they can prove."""
        return bool(self.tests and self.changes)
