"""The local repository: its branches, and a temporary folder with a repository of its own in which a check runs."""

import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import CheckResult, CommitRequest
from triage.fix.local.copy_dependencies import PathMap, copy_folder, is_same, list_spellings, move_environment
from triage.fix.local.git_commands import (
    UserGit,
    check_can_commit,
    check_has_tree,
    create_branch,
    write_commits,
    write_tree,
)
from triage.fix.local.project_command import run_command, run_example

_REFS = ("refs/tags", "refs/replace")
"""Version tools need the tags. Without its replacements, the history would be another."""
_SETTINGS = ("user.name", "user.email", "core.sparseCheckout", "core.sparseCheckoutCone")
"""The user's name may depend on the folder."""
_FILES = ("shallow", "info/sparse-checkout", "info/exclude", "info/attributes")
"""What is left out of the history and of the work tree, and what git ignores in it."""


def make_repository(git: UserGit, folder: Path, commit: str) -> UserGit:
    """Make a repository with HEAD at the commit, the name of the current branch, and the tags.

    A check in a work tree of the user's repository would reach its stash, branches, settings and hooks.

    Args:
        git: Of the user's repository. Nothing of it is changed.
        folder: Does not exist yet.
        commit: The id of a commit in the user's repository.

    Returns:
        Git that lays out files in the folder with the settings of the user's repository (line ends, filters, a sparse
        checkout). What it stores is in the folder.

    Raises:
        BadInput: Git refuses.
    """
    folder.mkdir()
    own = UserGit(folder, git.environment)
    branch = _find_branch(git)
    formats = f"--object-format={git.run('rev-parse', '--show-object-format')}"
    own.run("init", "--quiet", "--template=", formats, f"--initial-branch={branch or 'main'}")
    _share_objects(git, folder / ".git")
    own.run("update-ref", *([] if branch else ["--no-deref"]), "HEAD", commit)
    refs = git.run("for-each-ref", "--format=create %(refname) %(objectname)", *_REFS)
    own.run("update-ref", "--stdin", stdin=f"{refs}\n".encode() if refs else b"")
    for name in _SETTINGS:
        if value := git.run("config", "--default=", "--get", name):
            own.run("config", name, value)
    return UserGit(
        folder,
        git.environment,
        {
            "GIT_DIR": git.run("rev-parse", "--absolute-git-dir"),
            "GIT_WORK_TREE": str(folder),
            "GIT_INDEX_FILE": str(folder / ".git/index"),
            "GIT_OBJECT_DIRECTORY": str(folder / ".git/objects"),
        },
    )


def _find_branch(git: UserGit) -> str:
    """Return the name of the current branch; empty if HEAD is detached."""
    head = git.run("rev-parse", "--symbolic-full-name", "HEAD")
    return head.removeprefix("refs/heads/") if head.startswith("refs/heads/") else ""


def _share_objects(git: UserGit, own: Path) -> None:
    (own / "info").mkdir()
    (own / "objects/info/alternates").write_bytes(_quote(_find(git, "objects")) + b"\n")
    for name in _FILES:
        if (source := _find(git, name)).is_file():
            shutil.copyfile(source, own / name)


def _find(git: UserGit, name: str) -> Path:
    return (git.folder / git.run("rev-parse", "--git-path", name)).resolve()


def _quote(path: Path) -> bytes:
    data = os.fsencode(path)
    if b"\n" not in data:
        return data  # Tools other than git know no quotes.
    return b'"%s"' % data.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")


COPIED_FOLDERS = ("node_modules", ".venv", "venv", "vendor")
"""Installed dependencies. They are seldom in a commit, and commands of the project need them."""


class TemporaryWorktree:
    """Git writes the files: it refuses paths that lead outside or through symbolic links."""

    def __init__(self, git: UserGit) -> None:
        """Take a name for the folder. Nothing is in it until `check_out`."""
        self._git = git
        self._prefix = git.run("rev-parse", "--show-prefix")
        self._checkout = Path(git.run("rev-parse", "--show-toplevel"))
        temporary = Path(tempfile.gettempdir()).resolve()
        inside = temporary.is_relative_to(self._checkout)
        self._parent = Path(tempfile.mkdtemp(prefix="triage-check-", dir=self._checkout.parent if inside else None))
        self._top = self._parent / self._checkout.name

    @property
    def folder(self) -> Path:
        """What corresponds to the folder of git in the checkout: the top folder, or one below it."""
        return self._top / self._prefix

    def check_out(self, base: str, files: Mapping[str, BaseFile]) -> None:
        """Write the files of the commit and of the patch. HEAD is the commit. Raises BadInput."""
        check_has_tree(self._git, base)
        git = make_repository(self._git, self._top, base)
        files = {self._prefix + path: file for path, file in files.items()}
        git.run("read-tree", "--reset", "-u", write_tree(git, base, files))
        # A sparse checkout leaves files out, also those of the patch.
        if missing := [path for path in files if not os.path.lexists(self._top / path)]:
            git.run("checkout-index", "--force", "--ignore-skip-worktree-bits", "--", *missing)

    def copy_dependencies(self, environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """Copy installed dependencies that the checkout has and the commit does not, and the active environment.

        Returns:
            What was copied, and the environment of a command that works with the copies.

        Raises:
            BadInput: They cannot be copied.
        """
        copies = self._plan_copies(environment)
        moves = {spelling: str(self._top) for spelling in self._list_spellings(environment)}
        for target, source in copies.items():
            for spelling in list_spellings(source, environment):
                inside = f"/{source.relative_to(self._checkout)}" if self._is_inside(source) else ""
                if inside and spelling.endswith(inside):  # the checkout under another name
                    moves[spelling.removesuffix(inside)] = str(self._top)
                moves[spelling] = str(target)
        paths = PathMap(moves)
        for target, source in copies.items():
            copy_folder(source, target, paths, self._parent.name)
        names = [str(one.relative_to(self._checkout) if self._is_inside(one) else one) for one in copies.values()]
        return names, move_environment(environment, paths)

    def _list_spellings(self, environment: Mapping[str, str]) -> list[str]:
        """Return the paths by which the environment leads to the checkout, and its own."""
        words = {word for value in environment.values() for word in value.split(os.pathsep) if word.startswith("/")}
        folders = {folder for word in words for folder in (Path(word), *Path(word).parents)}
        return [str(self._checkout), *(str(one) for one in folders if is_same(str(one), self._checkout))]

    def _plan_copies(self, environment: Mapping[str, str]) -> dict[Path, Path]:
        """Return the folders to copy, by the place of the copy."""
        copies: dict[Path, Path] = {}
        for prefix in dict.fromkeys(("", self._prefix)):
            for name in COPIED_FOLDERS:
                source, target = self._checkout / prefix / name, self._top / prefix / name
                if source.is_dir() and not os.path.lexists(target) and target.parent.is_dir():
                    copies[target] = source
        active = Path(environment.get("VIRTUAL_ENV") or os.devnull)
        is_known = any(one.samefile(active) for one in copies.values()) if active.is_dir() else True
        if not is_known and (active / "pyvenv.cfg").is_file():
            copies[self._parent / "active" / active.name] = active.resolve()
        return copies

    def _is_inside(self, folder: Path) -> bool:
        return folder.is_relative_to(self._checkout)

    def remove(self) -> None:
        """Remove the folder. There are no traces elsewhere."""
        shutil.rmtree(self._parent, ignore_errors=True)
        if self._parent.exists():
            _make_writable(self._parent)
            shutil.rmtree(self._parent, ignore_errors=True)


def _make_writable(folder: Path) -> None:
    for parent, _, _ in os.walk(folder):  # Links are not followed.
        with suppress(OSError):
            Path(parent).chmod(stat.S_IRWXU)


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
        """Run a command in a temporary work tree of the base commit with these files. It is removed afterwards.

        Raises:
            BadInput: There is no such command, or git refuses.
        """
        with self._make_worktree(base, files) as (folder, environment, copied):
            result = run_command(command, folder, environment, seconds)
        return result.model_copy(update={"copied": copied})

    def run_example(self, base: str, files: Mapping[str, BaseFile], example: Mapping[str, str]) -> bytes:
        """Run an example's files, as `ReportExample.files` names them, where a check would run. Return what it prints.

        Raises BadInput if git refuses.
        """
        with self._make_worktree(base, files) as (folder, environment, _):
            return run_example(example, folder, environment)

    @contextmanager
    def _make_worktree(
        self, base: str, files: Mapping[str, BaseFile]
    ) -> Iterator[tuple[Path, dict[str, str], list[str]]]:
        """Yield the folder, the environment for commands in it, and the names of what was copied into it."""
        with self._running:
            worktree = TemporaryWorktree(self._git)
            try:
                worktree.check_out(base, files)
                copied, environment = worktree.copy_dependencies(self._environment)
                yield worktree.folder, environment, copied
            finally:
                worktree.remove()

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
