"""Checks that a folder's `.git` leads to the folder's own repository.

Git follows any `.git`, whether a file or a link, to any repository on the machine, and would read that one's commit.
The `.git` of a linked work tree or a submodule leads elsewhere too, but the repository there names the folder.
"""

import os
from pathlib import Path

from triage.index.source.git import Git, GitError

_MAX_FILE_BYTES = 8_192
"""Two paths of the maximum length."""


def check_worktree(git: Git, top: Path) -> None:
    """Raise GitError if the `.git` in the folder `top` leads to the repository of another folder."""
    dot_git = top / ".git"
    try:
        is_inside = dot_git.is_dir() and not dot_git.is_symlink() and not os.path.lexists(dot_git / "commondir")
        if not is_inside and not _names_worktree(git, _follow(dot_git), dot_git):
            raise GitError("its .git leads to a repository that does not name this folder")
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links, until Python 3.13
        raise GitError(f"its .git leads nowhere: {type(error).__name__}") from error


def _follow(dot_git: Path) -> Path:
    if dot_git.is_dir():
        return dot_git.resolve()
    if not dot_git.is_file():
        raise ValueError("neither a folder nor a file")
    return (dot_git.parent / _read_line(dot_git).removeprefix("gitdir:").strip()).resolve()


def _names_worktree(git: Git, repository: Path, dot_git: Path) -> bool:
    if (repository / "gitdir").is_file():  # a linked work tree
        return (repository / _read_line(repository / "gitdir")).resolve() == dot_git.resolve()
    # a submodule, or a clone with a separate git directory
    args = ("config", "--file", str(repository / "config"), "--null", "--get", "core.worktree")
    worktree = os.fsdecode(git.run(*args, accept=(0, 1)).rstrip(b"\0"))
    return bool(worktree) and (repository / worktree).resolve() == dot_git.parent.resolve()


def _read_line(file: Path) -> str:
    with file.open("rb") as opened:
        return os.fsdecode(opened.read(_MAX_FILE_BYTES)).rstrip("\r\n")
