"""A local repository in memory, for the port `PatchWorkspace`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from triage.base.errors import BranchTaken
from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import CheckResult, CommitRequest


def _pass(_: Mapping[str, BaseFile]) -> CheckResult:
    return CheckResult(is_ok=True, output="")


@dataclass
class FakeWorkspace:
    check: Callable[[Mapping[str, BaseFile]], CheckResult] = _pass
    """Answers for the project's check of these files."""
    commits: dict[str, CommitRequest] = field(default_factory=dict)
    """By id."""
    branches: dict[str, str] = field(default_factory=dict)
    """Commits by name."""
    checked: list[tuple[str, str, Mapping[str, BaseFile]]] = field(default_factory=list)
    """Base, command and files of each check."""

    def run_check(self, base: str, files: Mapping[str, BaseFile], command: str, seconds: float) -> CheckResult:
        del seconds
        self.checked.append((base, command, files))
        return self.check(files)

    def write_commits(self, request: CommitRequest) -> str:
        commit = f"{len(self.commits) + 1:040x}"
        self.commits[commit] = request
        return commit

    def has_branch(self, name: str) -> bool:
        return name in self.branches

    def create_branch(self, name: str, commit: str) -> None:
        if self.branches.setdefault(name, commit) != commit:
            raise BranchTaken(f"The branch {name} exists.")
