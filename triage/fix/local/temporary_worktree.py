"""A temporary work tree: a folder with a repository of its own, and with the files of a commit and of a patch."""

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from triage.domain.proposal import BaseFile
from triage.fix.local.check_repository import make_repository
from triage.fix.local.copy_dependencies import PathMap, copy_folder, is_same, list_spellings, move_environment
from triage.fix.local.git_commands import UserGit
from triage.fix.local.write_branch import check_has_tree, write_tree

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
