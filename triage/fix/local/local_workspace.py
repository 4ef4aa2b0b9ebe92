"""The local repository: its branches, and a temporary clone of it in which commands of the project run."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import CheckResult, CommitRequest
from triage.fix.local.git_commands import (
    UserGit,
    check_can_commit,
    create_branch,
    remove_repository_variables,
    write_commits,
    write_tree,
)
from triage.fix.local.project_command import run_command, run_example

_CLEANUP_SECONDS = 30.0
"""A large work tree is not removed at once."""


class LocalWorkspace:
    """Use it as a context manager: leaving it waits until git, or a check that was cancelled, has cleaned up."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        """Take the checkout, and the environment of git and of the project's commands. Raises BadInput without git."""
        self._git = UserGit(root, environment)
        self._environment = remove_repository_variables(environment)
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
        """Run a command in a work tree of the base commit with these files, and nothing else. It is removed afterwards.

        Raises:
            BadInput: There is no such command, or git refuses.
        """
        with self._clone(base, files) as folder:
            return run_command(command, folder, self._environment, seconds)

    def run_example(self, base: str, files: Mapping[str, BaseFile], example: Mapping[str, str]) -> bytes:
        """Run an example's files, as `ReportExample.files` names them, where a check would run. Return what it prints.

        Raises BadInput if git refuses.
        """
        with self._clone(base, files) as folder:
            return run_example(example, folder, self._environment)

    @contextmanager
    def _clone(self, base: str, files: Mapping[str, BaseFile]) -> Iterator[Path]:
        # In a work tree of the user's repository, a command would reach its stash, branches, settings and hooks.
        with self._running, TemporaryDirectory(prefix="triage-check-", ignore_cleanup_errors=True) as parent:
            folder = Path(parent).resolve() / self._git.folder.resolve().name
            self._git.run(
                "clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", str(self._git.folder), str(folder)
            )
            own = UserGit(folder, self._environment)
            own.run("remote", "remove", "origin")
            own.run("update-ref", "HEAD", base)
            own.run("read-tree", "--reset", "-u", write_tree(own, base, files))
            yield folder

    def has_branch(self, name: str) -> bool:
        return self._git.resolve(f"refs/heads/{name}") is not None

    def create_branch(self, name: str, commit: str) -> None:
        """Create a branch at a commit. One that is there already is left as it is.

        Raises:
            BranchTaken: The name is taken by another commit.
            BadInput: Git refuses.
        """
        with self._running:
            create_branch(self._git, name, commit)

    def write_commits(self, request: CommitRequest) -> str:
        """Create the commits without a branch, and return the id of the last one. Git deletes them after two weeks.

        Work tree and index are not touched.

        Raises:
            BadInput: Git refuses.
        """
        with self._running:
            return write_commits(self._git, request)
