"""Is a repository that of the folder whose `.git` names it?

Git follows any `.git`, be it a file or a link, to any repository on the machine, and takes that one's commit for the
folder's. A work tree and a submodule lead elsewhere too, but are named by where they lead to.
"""

import os
from pathlib import Path

from triage.index.source.git import Git, GitError

_MAX_FILE_BYTES = 8_192
"""Two paths of Linux' length."""


def check_worktree(git: Git, top: Path) -> None:
    """Make sure that the repository belongs to a work tree.

    Args:
        git: Runs on it.
        top: The folder that holds the `.git`.

    Raises:
        GitFailed: It belongs to another folder.
    """
    place = top / ".git"
    try:
        lies_here = place.is_dir() and not place.is_symlink() and not os.path.lexists(place / "commondir")
        if not lies_here and not _names_back(git, _home(place), place):
            raise GitError("its .git leads to a repository that does not name this folder")
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle, until Python 3.13
        raise GitError(f"its .git leads nowhere: {type(error).__name__}") from error


def _home(place: Path) -> Path:
    """The folder of the repository itself. Raises OSError or ValueError."""
    if place.is_dir():
        return place.resolve()
    if not place.is_file():
        raise ValueError("neither a folder nor a file")
    return (place.parent / _line_of(place).removeprefix("gitdir:").strip()).resolve()


def _names_back(git: Git, home: Path, place: Path) -> bool:
    """As a work tree beside the first one does, or a submodule, or a clone whose git directory was put elsewhere."""
    if (home / "gitdir").is_file():
        return (home / _line_of(home / "gitdir")).resolve() == place.resolve()
    words = ("config", "--file", str(home / "config"), "--null", "--get", "core.worktree")
    told = os.fsdecode(git.run(*words, accept=(0, 1)).rstrip(b"\0"))
    return bool(told) and (home / told).resolve() == place.parent.resolve()


def _line_of(file: Path) -> str:
    with file.open("rb") as opened:
        return os.fsdecode(opened.read(_MAX_FILE_BYTES)).rstrip("\r\n")
