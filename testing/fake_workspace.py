"""A local repository in memory, for the port `PatchWorkspace`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from triage.base.errors import BranchTaken
from triage.domain.proposal import BaseFile
from triage.proposal_ports import CheckResult, CommitRequest


def _pass(_: Mapping[str, BaseFile]) -> CheckResult:
    return CheckResult(is_ok=True, output="")


@dataclass
class FakeWorkspace:
    check: Callable[[Mapping[str, BaseFile]], CheckResult] = _pass
    """Answers for the project's check of these files."""
    branches: dict[str, CommitRequest] = field(default_factory=dict)
    checked: list[tuple[str, str, Mapping[str, BaseFile]]] = field(default_factory=list)
    """Base, command and files of each check."""

    def run_check(self, base: str, files: Mapping[str, BaseFile], command: str, seconds: float) -> CheckResult:
        del seconds
        self.checked.append((base, command, files))
        return self.check(files)

    def create_branch(self, request: CommitRequest, name: str) -> str:
        if self.branches.setdefault(name, request) != request:
            raise BranchTaken(f"The branch {name} exists.")
        return name

    def write_commits(self, request: CommitRequest) -> str:
        raise AssertionError("nothing was prepared for commits without a branch")
