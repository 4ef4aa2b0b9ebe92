"""A temporary work tree: a folder outside the repository with the files of a commit and of a patch."""

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from triage.adapters.local_git.git_commands import UserGit
from triage.adapters.local_git.write_branch import write_tree
from triage.domain.patch import BaseFile

LINKED_FOLDERS = ("node_modules", ".venv", "venv", "vendor")
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
        tree = write_tree(self._git, base, files)
        self._git.run("worktree", "add", "--detach", "--no-checkout", "--quiet", str(self._top), base)
        git = UserGit(self._top, self._git.environment)
        git.run("read-tree", "--reset", "-u", tree)
        # A sparse checkout leaves files out, also those of the patch.
        if missing := [path for path in files if not os.path.lexists(self.folder / path)]:
            paths = [self._prefix + path for path in missing]
            git.run("checkout-index", "--force", "--ignore-skip-worktree-bits", "--", *paths)

    def link_dependencies(self) -> list[str]:
        """Link folders of installed dependencies that the checkout has and the commit does not. Returns their paths."""
        linked = []
        for prefix in dict.fromkeys(("", self._prefix)):
            for name in LINKED_FOLDERS:
                source, link = self._checkout / prefix / name, self._top / prefix / name
                if source.is_dir() and not os.path.lexists(link) and link.parent.is_dir():
                    self._link(source, link)
                    linked.append(prefix + name)
        return linked

    def _link(self, source: Path, link: Path) -> None:
        """Link a folder. Where `node_modules` links to packages of the project itself, those of the work tree count."""
        entries = [*source.iterdir(), *source.glob("@*/*")] if source.name == "node_modules" else []
        own = {entry: target for entry in entries if (target := self._find_own(entry, source))}
        if not own:
            link.symlink_to(source, target_is_directory=True)
            return
        scopes = {entry.parent for entry in own} - {source}
        for entry in entries:
            if entry in scopes or entry.parent not in {source, *scopes}:
                continue
            place = link / entry.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(own.get(entry, entry))

    def _find_own(self, entry: Path, source: Path) -> Path | None:
        """Return where the work tree has the package that a link leads to, if it is part of the checkout."""
        target = entry.resolve()
        if not entry.is_symlink() or not target.is_relative_to(self._checkout) or target.is_relative_to(source):
            return None
        return self._top / target.relative_to(self._checkout)

    def remove(self) -> None:
        """Remove the folder, and git's record of it."""
        shutil.rmtree(self._parent, ignore_errors=True)
        if self._parent.exists():
            _make_writable(self._parent)
            shutil.rmtree(self._parent, ignore_errors=True)
        # Not `git worktree prune`, which would also touch work trees of the user.
        self._git.clean_up("worktree", "remove", "--force", "--force", str(self._top))


def _make_writable(folder: Path) -> None:
    for parent, _, _ in os.walk(folder):  # Links are not followed.
        with suppress(OSError):
            Path(parent).chmod(stat.S_IRWXU)
