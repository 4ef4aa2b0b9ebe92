"""What the jobs and the graph of a fix need from outside, as protocols: they must not import processes or SDKs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from pydantic import Field

from triage.domain.issue import Issue
from triage.domain.proposal import BaseFile, EditablePath, ExampleResult, PatchProposal, PullRequest
from triage.domain.value import Value


class PatchCommit(Value):
    """One commit of a patch: what it changes on its parent."""

    files: Mapping[str, BaseFile]
    """By path, each with its mode and the whole text."""
    message: str


class CommitRequest(Value):
    """A patch as it is stored."""

    issue: int
    base: str
    commits: list[PatchCommit]
    """The tests and then all else, or everything in one. The last message has what `commit_text` reads back."""


class ProposalStore(Protocol):
    """Patches as commits below `refs/triage/proposals`. Raises as `ports.GitHub`.

    No file of a checkout is written, and no hook runs.
    """

    def list_proposals(self, issue: int) -> list[PatchProposal]:
        """The issue's proposals and those that are branches already, oldest first. Other commits are left out.

        `refs/triage/proposals/<issue>/*` and `refs/heads/triage/<issue>-*`.
        """

    def list_expired(self, limit: int) -> list[PatchProposal]:
        """Proposals of any issue that are older than their lifetime by GitHub's clock."""

    def store(self, request: CommitRequest) -> PatchProposal:
        """Create the commits, and the next free ref of the issue.

        A draft that is stored already is not stored again: the same draft gives the same proposal.

        Raises:
            PermissionMissing: The token may not write contents.
        """

    def delete(self, stored: PatchProposal) -> None:
        """Delete the ref of a proposal, if it still leads to the proposal's commit. Never a branch."""

    def read_files(self, proposal: PatchProposal) -> dict[str, BaseFile]:
        """The files that the patch changes, by path, as it leaves them.

        Raises:
            CannotPublish: A commit between holds something else, so the difference of the two ends does not show all.
        """

    def read_commits(self, proposal: PatchProposal) -> list[PatchCommit]:
        """The proposal's commits, the first one first. Raises as `read_files`."""

    def is_on_default_branch(self, commit: str) -> bool:
        """Whether the default branch leads to this commit now, or to one that stands on it."""

    def has_other_workflows(self, commit: str) -> bool:
        """Whether the workflow files of a commit are others than those of the default branch now."""

    def list_changed_on_base(self, proposal: PatchProposal) -> list[str]:
        """Paths of the patch whose file on the default branch is another one now than at the proposal's base."""

    def read_code_owners(self) -> str | None:
        """The text of CODEOWNERS at the newest commit of the default branch; None if there is no such file.

        Raises:
            CannotPublish: It is no plain text file, or larger than GitHub takes.
        """

    def create_branch(self, name: str, commit: str) -> bool:
        """Create a branch at a commit. False if the name is taken and leads to another commit."""

    def find_pull_request(self, branch: str, commit: str) -> PullRequest | None:
        """The open pull request from a branch of this repository whose head is the commit."""

    def open_pull_request(self, branch: str, commit: str, title: str, body: str) -> PullRequest:
        """Open a draft pull request into the default branch, unless one of the commit is open: that is returned.

        Raises:
            PullRequestRefused: GitHub does not let this token open one.
        """

    def build_compare_url(self, branch: str) -> str:
        """The page on which a person opens the pull request."""


class BaseFiles(Protocol):
    """Files of the commit that a patch starts from."""

    @property
    def commit(self) -> str:
        """Full SHA."""

    def read(self, path: str) -> BaseFile | str | None:
        """The file; why it is neither changed nor shown; None if there is nothing at the path.

        Reasons are "a symbolic link", "not UTF-8", or "a file with what looks like a secret".
        """

    def list_editable(self) -> Sequence[EditablePath]:
        """All files that a patch of their modules may change, sorted by path."""

    def list_names(self, folder: str) -> Collection[str]:
        """Names of everything in a folder, such as `src/`; of the top folder for an empty string. Empty if none."""

    def is_test(self, path: str) -> bool:
        """Whether a file is part of the tests, by its folder and name."""

    def find_skip_reason(self, path: str, text: str) -> str:
        """Why nobody edits such a file by hand ("vendored", "generated", "lock file"); empty for any other file."""

    def count_syntax_errors(self, path: str, text: str) -> int | None:
        """Errors that a parser of the file's language finds; None without a parser. Takes up to two seconds."""


class ReportExample(Protocol):
    """Code of the report that uses the project and can be run. Running it is up to others."""

    @property
    def code(self) -> str:
        """As it is run: a stranger's."""

    @property
    def files(self) -> Mapping[str, str]:
        """By name: `example.sh`, which prints `runs` of the project in its folder, and what it needs.

        Empty if it would run files that are not in a commit.
        """

    def describe(self, runs: bytes = b"") -> str:
        """For a model: the code, what was changed in it, what the report shows. With `runs` on the base, their end."""

    def compare(self, before: bytes, after: bytes) -> ExampleResult:
        """What `runs` on the base and with a change say. Both are a stranger's words."""


OpenExample = Callable[[Issue], ReportExample | None]
"""Reads the example of a report. Slow."""


class CheckResult(Value):
    """How a command of the project ended in a clean work tree."""

    is_ok: bool
    output: str
    """The end of what it printed, at most 8,000 characters."""
    failed: list[str] = Field(default_factory=list)
    """Names of the tests that failed, by the JUnit reports that it wrote."""
