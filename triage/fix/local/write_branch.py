"""Writes commits and a branch with git's plumbing commands: no hook runs, work tree and index stay as they are."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from triage.base.errors import BadInput, BranchTaken
from triage.domain.proposal import BaseFile
from triage.fix.local.git_commands import GitFailed, UserGit
from triage.proposal_ports import CommitRequest

_NO_IDENTITY = (
    "git does not know your name and e-mail address, which a commit needs. Set them with "
    '`git config --global user.name "Your Name"` and `git config --global user.email you@example.org`.'
)


def check_can_commit(git: UserGit) -> None:
    """Raise BadInput if a commit would fail whatever is in it: say so before any work."""
    if git.resolve("HEAD^{commit}") is None:
        git.run("rev-parse", "--git-dir")  # raises if it is no repository
        raise BadInput("The repository has no commit yet. Commit something first.")
    try:
        git.run("var", "GIT_AUTHOR_IDENT")
        git.run("var", "GIT_COMMITTER_IDENT")
    except GitFailed:
        raise BadInput(_NO_IDENTITY) from None


def check_has_tree(git: UserGit, base: str) -> None:
    """Raise BadInput if a commit or tree is not in the repository."""
    if git.resolve(f"{base}^{{tree}}") is None:
        raise BadInput(
            f"The commit {base[:12]} is not in this clone, or not whole. Fetch it with `git fetch --unshallow`."
        )


def write_tree(git: UserGit, base: str, files: Mapping[str, BaseFile]) -> str:
    """Return the tree of `base` (a commit or a tree) with these files. The repository's index is not used.

    Paths are relative to the folder of `git`, which may be below the top of the work tree.

    Raises:
        BadInput: The base is not in this clone, or a path is not allowed.
    """
    check_has_tree(git, base)
    prefix = git.run("rev-parse", "--show-prefix")
    with tempfile.TemporaryDirectory(prefix="triage-index-") as folder:
        index = Path(folder) / "index"
        git.run("read-tree", "--end-of-options", base, index=index)
        entries: list[str] = []
        for path, file in files.items():
            blob = git.run("hash-object", "-w", "--stdin", stdin=file.text.encode())
            entries += ["--cacheinfo", f"{file.mode},{blob},{prefix}{path}"]
        if entries:
            # Without --replace: a file below a link, or in place of a folder, is refused.
            git.run("update-index", "--add", *entries, index=index)
        return git.run("write-tree", index=index)


def write_commits(git: UserGit, request: CommitRequest) -> str:
    """Create the request's commits without a branch. Returns the id of the last one. Raises BadInput."""
    check_can_commit(git)
    steps = [(request.test_files, request.test_message)] if request.test_files else []
    commit = request.base
    for files, message in [*steps, (request.files, request.message)]:
        tree = write_tree(git, commit, files)
        commit = git.run("commit-tree", tree, "-p", commit, "-F", "-", stdin=message.encode())
    return commit


def create_branch(git: UserGit, name: str, commit: str) -> None:
    """Create a branch at a commit. One that is there already is left as it is.

    Raises:
        BranchTaken: The name is taken by another commit.
        BadInput: The name is not allowed, or git refuses.
    """
    try:
        git.run("check-ref-format", "--branch", name)
    except GitFailed:
        raise BadInput(f"git does not allow {name!r} as a branch's name.") from None
    try:
        # The empty old value: the branch must not exist, also if somebody creates it right now.
        git.run("update-ref", "-m", "bug-triage fix", f"refs/heads/{name}", commit, "")
    except GitFailed as error:
        present = git.resolve(f"refs/heads/{name}")
        if present is None:
            raise BadInput(f"The branch {name} was not created. {error}") from None
        if present != commit:
            raise BranchTaken(
                f"The branch {name} exists and has other commits. Rename it with `git branch -m {name} <new name>`."
            ) from None
