"""Runs git as the user, with their name and e-mail, but without hooks, editors, signing or prompts.

`triage.git.git` only reads, and reads no configuration of the user. This one writes commits and branches with
plumbing commands: no hook runs, work tree and index stay as they are.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from triage.base.errors import BadInput, BranchTaken
from triage.base.threads import call_when_abandoned, raise_if_abandoned
from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import CommitRequest

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "commit.gpgSign=false",
    "i18n.commitEncoding=UTF-8",
    # Otherwise git makes an e-mail address up from the machine's name.
    "user.useConfigOnly=true",
    "gc.auto=0",
    "maintenance.auto=false",
    "clone.defaultRemoteName=origin",
    "clone.rejectShallow=false",
    "protocol.file.allow=always",
)
_USER_VARIABLE = re.compile(r"GIT_(?:AUTHOR|COMMITTER|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY|VALUE)|SSH|SSL|EXEC)")
"""Beginnings of names. A hook or an alias that starts us has set others, which lead to its repository."""
GIT_SECONDS = 120.0
"""For one command. Checking out a large repository takes the longest."""
_KNOWN_PROBLEMS = {
    "dubious ownership": "it belongs to another user; run `git config --global --add safe.directory <folder>`",
    "Permission denied": "its .git folder cannot be written; make it writable for you",
    "Read-only file system": "its .git folder is on a read-only file system",
    "No space left": "the disk is full",
    "not a git repository": "this folder is no git repository. Name one with --repo",
}


class GitFailed(BadInput):
    """A git command failed. The message says why, as far as the reason is known, and has no text of git."""


def remove_repository_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what makes git use another repository than that of its folder."""
    return {
        name: value for name, value in environment.items() if not name.startswith("GIT_") or _USER_VARIABLE.match(name)
    }


class UserGit:
    """Git in one folder of a work tree."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Find git. Raises BadInput without it."""
        program = shutil.which("git", path=environment.get("PATH"))
        if program is None:
            raise BadInput("git is not installed. Install it to get a branch.")
        self.folder = folder
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        self._command = [program, "--no-pager", "--literal-pathspecs", "-C", str(folder), *settings]
        self._environment = {
            **remove_repository_variables(environment),
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "false",
        }

    def run(self, *args: str, stdin: bytes = b"", index: Path | None = None) -> str:
        """Return the output without the last line end. `index` is used in place of the repository's index.

        Raises:
            GitFailed: The command failed or took longer than `GIT_SECONDS`.
        """
        raise_if_abandoned()
        with subprocess.Popen(  # noqa: S603
            [*self._command, *args],
            env={**self._environment, **({"GIT_INDEX_FILE": str(index)} if index else {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # A Ctrl-C at the terminal reaches us alone; a git that cleans up is not killed.
        ) as process:
            try:
                with call_when_abandoned(process.terminate):  # git removes its lock files
                    output, errors = process.communicate(stdin, timeout=GIT_SECONDS)
            except BaseException as error:  # no git process outlives its run
                process.kill()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise GitFailed(f"git {args[0]} took longer than {GIT_SECONDS:.0f} seconds.") from None
                raise
        if process.returncode:
            raise GitFailed(_describe_failure(args[0], process.returncode, os.fsdecode(errors)))
        return os.fsdecode(output.removesuffix(b"\n"))

    def resolve(self, name: str) -> str | None:
        """Return the id of an object; None if there is no such object."""
        try:
            return self.run("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        except GitFailed:
            return None


def _describe_failure(command: str, code: int, errors: str) -> str:
    reason = next((reason for sign, reason in _KNOWN_PROBLEMS.items() if sign in errors), f"exit code {code}")
    return f"git {command} failed: {reason}."


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


def write_tree(git: UserGit, base: str, files: Mapping[str, BaseFile]) -> str:
    """Return the tree of a commit with these files. The repository's index is not used.

    Raises:
        BadInput: The base is not in this clone, or a path is not allowed.
    """
    with tempfile.TemporaryDirectory(prefix="triage-index-") as folder:
        index = Path(folder) / "index"
        git.run("read-tree", "--end-of-options", base, index=index)
        entries: list[str] = []
        for path, file in files.items():
            blob = git.run("hash-object", "-w", "--stdin", stdin=file.text.encode())
            entries += ["--cacheinfo", f"{file.mode},{blob},{path}"]
        if entries:
            # Without --replace: a file below a link, or in place of a folder, is refused.
            git.run("update-index", "--add", *entries, index=index)
        return git.run("write-tree", index=index)


def write_commits(git: UserGit, request: CommitRequest) -> str:
    """Create the request's commits without a branch. Returns the id of the last one. Raises BadInput."""
    check_can_commit(git)
    last = request.base
    for commit in request.commits:
        tree = write_tree(git, last, commit.files)
        last = git.run("commit-tree", tree, "-p", last, "-F", "-", stdin=commit.message.encode())
    return last


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
