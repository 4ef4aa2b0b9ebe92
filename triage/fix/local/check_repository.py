"""The repository that a check works in: one of its own, which only reads the objects of the user's."""

import os
import shutil
from pathlib import Path

from triage.fix.local.git_commands import UserGit

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
