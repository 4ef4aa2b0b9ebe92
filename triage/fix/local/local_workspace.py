"""Implements the port `PatchWorkspace`."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from triage.domain.proposal import BaseFile
from triage.fix.local.git_commands import UserGit
from triage.fix.local.project_command import run_command
from triage.fix.local.temporary_worktree import TemporaryWorktree
from triage.fix.local.write_branch import check_can_commit, create_branch, write_commits
from triage.proposal_ports import CheckResult, CommitRequest

_CLEANUP_SECONDS = 30.0
"""A large work tree is not removed at once."""


class LocalWorkspace:
    """Use it as a context manager: leaving it waits until git, or a check that was cancelled, has cleaned up."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        """Take the checkout, and the environment of git and of the project's commands. Raises BadInput without git."""
        self._git = UserGit(root, environment)
        self._environment = environment
        self._running = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._running.acquire(timeout=_CLEANUP_SECONDS):
            self._running.release()

    def check_can_commit(self) -> None:
        """Raise BadInput if no branch can be made here: no commit yet, or git does not know who the user is."""
        check_can_commit(self._git)

    def run_check(self, base: str, files: Mapping[str, BaseFile], command: str, seconds: float) -> CheckResult:
        """See `PatchWorkspace`. Raises BadInput if git refuses or there is no such command."""
        with self._running:
            worktree = TemporaryWorktree(self._git)
            try:
                worktree.check_out(base, files)
                copied, environment = worktree.copy_dependencies(self._environment)
                result = run_command(command, worktree.folder, environment, seconds)
            finally:
                worktree.remove()
        return CheckResult(is_ok=result.is_ok, output=result.output, copied=copied)

    def has_branch(self, name: str) -> bool:
        """See `PatchWorkspace`."""
        return self._git.resolve(f"refs/heads/{name}") is not None

    def create_branch(self, name: str, commit: str) -> None:
        """See `PatchWorkspace`."""
        with self._running:
            create_branch(self._git, name, commit)

    def write_commits(self, request: CommitRequest) -> str:
        """See `PatchWorkspace`."""
        with self._running:
            return write_commits(self._git, request)
