"""Writes commits and branches of a repository at a terminal, as its user. Hooks, work tree and index stay out of it.

`git` only reads, and reads no settings of the user. This needs them: their name and e-mail address are among them.
"""

import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from triage.base.errors import BadInput
from triage.base.processes import run_process
from triage.domain.proposal import PatchCommit

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
_MAX_OUTPUT_BYTES = 65_536
_CLEANUP_SECONDS = 30.0
"""A large work tree is not removed at once."""
_KNOWN_PROBLEMS = {
    b"dubious ownership": "it belongs to another user; run `git config --global --add safe.directory <folder>`",
    b"Permission denied": "its .git folder cannot be written; make it writable for you",
    b"Read-only file system": "its .git folder is on a read-only file system",
    b"No space left": "the disk is full",
    b"not a git repository": "this folder is no git repository. Name one with --repo",
}
_NO_IDENTITY = (
    "git does not know your name and e-mail address, which a commit needs. Set them with "
    '`git config --global user.name "Your Name"` and `git config --global user.email you@example.org`.'
)


class GitFailed(BadInput):
    """A git command failed. The message says why, as far as the reason is known, and has no text of git."""


class UserRepository:
    """Use it as a context manager: leaving it waits until git, or a command in a clone, has cleaned up."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Take the top folder of a work tree, and its user's environment. Raises BadInput without git."""
        program = shutil.which("git", path=environment.get("PATH"))
        if program is None:
            raise BadInput("git is not installed. Install it to get a branch.")
        self.folder = folder
        self.environment = {
            name: value
            for name, value in environment.items()
            if not name.startswith("GIT_") or _USER_VARIABLE.match(name)
        }
        """Without what makes git use another repository than that of its folder."""
        self._command = [program, "--no-pager", "--literal-pathspecs"]
        self._command += [word for setting in _SETTINGS for word in ("-c", setting)]
        self._running = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._running.acquire(timeout=_CLEANUP_SECONDS):
            self._running.release()

    def _run(self, *args: str, given: bytes = b"", index: Path | None = None, folder: Path | None = None) -> str:
        """Run a command that reads `given`, and return what it prints. `index` replaces the repository's index.

        Raises GitFailed if the command failed or took longer than `GIT_SECONDS`.
        """
        own = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "false"}
        environment = self.environment | own | ({"GIT_INDEX_FILE": str(index)} if index else {})
        command = [*self._command, "-C", str(folder or self.folder), *args]
        done = run_process(
            command,
            self.folder,
            environment,
            GIT_SECONDS,
            _MAX_OUTPUT_BYTES,
            stdin=given,
            has_errors_apart=True,
            cleans_up=True,
        )
        if done.is_late:
            raise GitFailed(f"git {args[0]} took longer than {GIT_SECONDS:.0f} seconds.")
        if done.code:
            reasons = (reason for sign, reason in _KNOWN_PROBLEMS.items() if sign in done.errors)
            raise GitFailed(f"git {args[0]} failed: {next(reasons, f'exit code {done.code}')}.")
        return os.fsdecode(done.output.removesuffix(b"\n"))

    def _resolve(self, name: str) -> str | None:
        """Return the id of an object; None if there is no such object."""
        try:
            return self._run("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        except GitFailed:
            return None

    def check_can_commit(self) -> None:
        """Raise BadInput if a commit would fail whatever is in it: say so before any work."""
        if self._resolve("HEAD^{commit}") is None:
            self._run("rev-parse", "--git-dir")  # raises if it is no repository
            raise BadInput("The repository has no commit yet. Commit something first.")
        try:
            self._run("var", "GIT_AUTHOR_IDENT")
            self._run("var", "GIT_COMMITTER_IDENT")
        except GitFailed:
            raise BadInput(_NO_IDENTITY) from None

    def write_commits(self, base: str, commits: Sequence[PatchCommit]) -> list[str]:
        """Create commits on a base, to which no branch leads, and return their ids. Git deletes them after two weeks.

        Raises BadInput if the base is not in this clone, a path is not allowed, or git refuses.
        """
        written: list[str] = []
        with self._running, TemporaryDirectory(prefix="triage-index-") as folder:
            self.check_can_commit()
            index = Path(folder) / "index"
            self._run("read-tree", "--end-of-options", base, index=index)
            for commit in commits:
                entries: list[str] = []
                for path, file in commit.files.items():
                    blob = self._run("hash-object", "-w", "--stdin", given=file.text.encode())
                    entries += ["--cacheinfo", f"{file.mode},{blob},{path}"]
                # Without --replace: a file below a link, or in place of a folder, is refused.
                self._run("update-index", "--add", *entries, index=index)
                tree, parent = self._run("write-tree", index=index), written[-1] if written else base
                written.append(self._run("commit-tree", tree, "-p", parent, "-F", "-", given=commit.message.encode()))
        return written

    def has_branch(self, name: str) -> bool:
        return self._resolve(f"refs/heads/{name}") is not None

    def create_branch(self, name: str, commit: str) -> None:
        """Create a branch at a commit. One that is there already is left as it is.

        Raises BadInput if the name is not allowed or taken by another commit, or git refuses.
        """
        try:  # a client of a server may have written the name into the thread
            self._run("check-ref-format", "--branch", name)
        except GitFailed:
            raise BadInput(f"git does not allow {name!r} as a branch's name.") from None
        try:
            # The empty old value: the branch must not exist, also if somebody creates it right now.
            with self._running:
                self._run("update-ref", "-m", "bug-triage fix", f"refs/heads/{name}", commit, "")
        except GitFailed as error:
            present = self._resolve(f"refs/heads/{name}")
            if present is None:
                raise BadInput(f"The branch {name} was not created. {error}") from None
            if present != commit:
                raise BadInput(
                    f"The branch {name} exists and has other commits. Rename it with `git branch -m {name} <new name>`."
                ) from None

    @contextmanager
    def open_clone(self, base: str, commit: str) -> Iterator[Path]:
        """Open a clean work tree with the files of a commit, whose HEAD is the base. It is removed afterwards.

        Raises GitFailed.
        """
        # In a work tree of the user's repository, a command would reach its stash, branches, settings and hooks.
        with self._running, TemporaryDirectory(prefix="triage-check-", ignore_cleanup_errors=True) as parent:
            source, folder = str(self.folder), Path(parent).resolve() / self.folder.resolve().name
            self._run("clone", "-q", "--shared", "--no-checkout", "--template=", "--", source, str(folder))
            # Of a shallow repository git copies what a branch leads to, and nothing leads to our commits.
            objects = self.folder / self._run("rev-parse", "--git-path", "objects")
            (folder / ".git/objects/info/alternates").write_bytes(os.fsencode(objects.resolve()) + b"\n")
            self._run("remote", "remove", "origin", folder=folder)
            self._run("update-ref", "HEAD", base, folder=folder)
            self._run("read-tree", "--reset", "-u", commit, folder=folder)
            yield folder
