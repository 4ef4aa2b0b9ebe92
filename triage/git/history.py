"""What changed files and lines: commits, tags, authors. Every text in them is a stranger's.

Of a message one short line is shown, with likely secrets masked.
"""

import math
import re
import sys
import time
from collections.abc import Container, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property

from triage.base.errors import GitError
from triage.domain.code import BlamedLine, FileChange, History, Tag
from triage.git.commit_log import LoggedCommit, read_commit_log
from triage.git.git import Git
from triage.safety.secrets.likely_secrets import shorten_text

LOG_SECONDS = 10.0
"""For git, which goes through every commit since the file changed."""
MAX_LOG_BYTES = 262_144
"""Of git's output: a subject line has no limit."""
MAX_SUBJECT_CHARS = 120
MAX_DIFF_BYTES = 65_536
_DIFF_PATH = re.compile(r"diff --git a/.+ b/(.+)")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
# The repository's config can switch these on: programs (gpg, textconv, diff), other files (mailmap), more work.
_SAFE = ("--encoding=UTF-8", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-mailmap")
_LOG = ("log", "-z", "--format=tformat:%H%x00%P%x00%aI%x00%s", *_SAFE, "--no-patch", "--no-follow")
MAX_WINDOW = 5_000
"""Commits after a version."""
MAX_TAGS = 5_000
"""The newest ones count."""
MAX_FILES = 20
"""Of a change that is about these lines."""
MAX_BACKPORTS = 2_000
"""Commits of a release branch that the indexed commit does not contain."""
MIN_SUBJECT_CHARS = 20
"""A backport repeats the first line, mostly behind `Backport PR #12:`. Shorter ones are the same by chance."""


def _parse_changes(output: bytes) -> Iterator[tuple[FileChange, str]]:
    fields = output.decode("utf-8", "replace").split("\0")[:-1]
    for start in range(0, len(fields) - 3, 4):
        commit, parents, date, subject = fields[start : start + 4]
        yield FileChange(commit=commit, date=date, subject=shorten_text(subject, MAX_SUBJECT_CHARS)), parents


class GitHistory:
    """The history behind the indexed commit. What git cannot answer is empty."""

    def __init__(self, git: Git, objects: Git, commit: str, prefix: str, until: datetime | None = None) -> None:
        """Take git with the repository's refs, and git on its objects alone, which reads no config.

        `prefix` is the folder that paths are relative to, with a slash at its end; empty for the top. With
        `until`, younger commits and tags that the commit does not contain are not known.
        """
        self._git, self._objects, self.commit, self._prefix = git, objects, commit, prefix
        self._until = until
        self._files: dict[str, list[str]] = {}
        self._known_commits = (f"--until={until.isoformat()}",) if until else ()
        self._known_tags = (f"--merged={commit}",) if until else ()

    def _read_start(self, *args: str, max_bytes: int) -> bytes:
        """Return the start of what git prints of the objects, of which there may be much; empty if it has no answer."""
        try:
            with self._objects.stream(*args, seconds=LOG_SECONDS) as stream:
                return stream.read(max_bytes)
        except GitError:
            return b""

    def read_changes(self, path: str, limit: int, text: str = "") -> History:
        """Return the newest commits that changed a file, without the oldest of a shallow clone, which adds every file.

        With `text`, only commits that added or removed it.
        """
        args = (
            *_LOG,
            *([f"-S{text}"] if text else []),
            *self._known_commits,
            f"--max-count={limit}",
            "--end-of-options",
            self.commit,
            "--",
            f":(literal){self._prefix}{path}",
        )
        started = time.monotonic()
        try:
            # With a text, a clone without the files' old versions fails.
            with self._objects.stream(*args, seconds=LOG_SECONDS, is_whole=bool(text)) as stream:
                output = stream.read(MAX_LOG_BYTES)
        except GitError:
            return History(partial=True)
        changes = [change for change, parents in _parse_changes(output) if parents or not self.is_shallow]
        is_complete = len(output) < MAX_LOG_BYTES and time.monotonic() - started < LOG_SECONDS
        # Some commit added the file. Without any, git failed, unless there never was such a text.
        partial = self.is_shallow or not is_complete or not (changes or text)
        releases = self.name_releases([change.commit for change in changes]) if changes else {}
        return History(changes=changes, partial=partial, releases=releases)

    @cached_property
    def is_shallow(self) -> bool:
        """Return whether older commits are missing, or git does not know."""
        return self._objects.ask("rev-parse", "--is-shallow-repository").strip() != "false"

    def list_tags(self) -> list[Tag]:
        """Return the tags of commits, newest first. None in a shallow clone that has fetched none."""
        return self._read_tags("--sort=-creatordate")

    def resolve_commit(self, written: str) -> str | None:
        """Return the full id of a commit that is written in hexadecimal, at least seven digits, or of a pull request.

        A pull request such as `#12` is the commit whose first line ends in `(#12)`, or that merged it.
        """
        if not written.startswith("#"):
            return self._objects.ask("rev-parse", "--verify", "--quiet", f"{written}^{{commit}}").strip() or None
        subject = rf"\({written}\)$|^Merge pull request {written} "
        args = ("log", "-1", "--format=%H", "--extended-regexp", f"--grep={subject}", *self._known_commits)
        return self._objects.ask(*args, self.commit, "--").strip() or None

    def find_first_parent(self, commit: str) -> str | None:
        """Return the commit before, of a merge the one that it was merged into; None if the clone does not have it."""
        return self.resolve_commit(f"{commit}^1")

    def list_changed_files(self, base: str, commit: str) -> dict[str, bool]:
        """Return each file in which two commits differ, with whether `base` has it. A renamed file is two files."""
        fields = self._objects.ask("diff-tree", "-r", "-z", "--name-status", "--no-renames", base, commit).split("\0")
        changed = zip(fields[1::2], fields[::2], strict=False)
        inside = ((path, status) for path, status in changed if path.startswith(self._prefix))
        return {path.removeprefix(self._prefix): status != "A" for path, status in inside}

    def is_mass_change(self, commit: str) -> bool:
        """Return whether a commit changed so many files that it says nothing of any, such as a new code style."""
        args = ("diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-z", "--no-renames", commit)
        return self._read_start(*args, max_bytes=MAX_FILES * 4_096).count(b"\0") > MAX_FILES

    def is_ancestor(self, commit: str, descendant: str) -> bool | None:
        """Return whether `descendant` contains the commit; None if git does not know."""
        try:
            self._objects.run("merge-base", "--is-ancestor", commit, descendant)
        except GitError as error:
            return False if str(error).endswith("exited with 1") else None
        return True

    def has_backport(self, commit: str, version: str) -> bool:
        """Return whether another commit of `version` makes the same change, by its patch or by its first line."""
        same_patch = self._objects.ask("cherry", version, commit, f"{commit}^")
        only_there = self._objects.ask("log", "--format=%s", f"--max-count={MAX_BACKPORTS}", version, f"^{self.commit}")
        subject = self._objects.ask("log", "-1", "--format=%s", commit, "--").strip()
        names_it = any(line == subject or line.endswith(f": {subject}") for line in only_there.split("\n"))
        return same_patch.startswith("-") or (len(subject) >= MIN_SUBJECT_CHARS and names_it)

    def list_tags_with(self, commit: str) -> list[Tag]:
        """Return the tags that contain the commit, oldest first."""
        return self._read_tags(f"--contains={commit}", "--sort=creatordate")

    def name_releases(self, commits: Sequence[str]) -> dict[str, str]:
        """Return the nearest tag that contains each commit. The past knows none: it may be younger than `until`."""
        names = "" if self._until else self._git.ask("name-rev", "--tags", "--name-only", *commits)
        tags = [re.split(r"[~^]", name)[0] for name in names.splitlines()]
        return {commit: tag for commit, tag in zip(commits, tags, strict=False) if tag != "undefined"}

    def _read_tags(self, *options: str) -> list[Tag]:
        fields = "%(refname:strip=2)%00%(objectname)%00%(*objectname)"
        args = (*options, *self._known_tags, f"--count={MAX_TAGS}", f"--format={fields}", "refs/tags")
        rows = [line.split("\0") for line in self._git.ask("for-each-ref", *args).splitlines()]
        return [Tag(name=row[0], commit=row[2] or row[1]) for row in rows if len(row) == 3]

    def read_commits(self) -> list[LoggedCommit]:
        """Return the newest commits, newest first, see `read_commit_log`. Takes seconds."""
        return self._list_known(read_commit_log(self._objects, self.commit, self._prefix))

    def read_commits_between(self, worked: str, broken: str) -> list[LoggedCommit]:
        """Return the commits that are in `broken` and not in `worked`, newest first, however many files they change."""
        return self._list_known(read_commit_log(self._objects, f"{worked}..{broken}", self._prefix, sys.maxsize))

    def _list_known(self, commits: list[LoggedCommit]) -> list[LoggedCommit]:
        until = self._until.timestamp() if self._until else math.inf
        return [one for one in commits if one.seconds <= until]

    def list_commits_after(self, version: str) -> list[str]:
        """Return the newest commits that the indexed one contains and `version` does not, by full ids, no merges."""
        args = ("rev-list", "--no-merges", f"--max-count={MAX_WINDOW}", f"{version}..{self.commit}")
        return self._objects.ask(*args).split()

    def read_commit(self, commit: str) -> FileChange | None:
        """Return the subject and the date of a commit."""
        output = self._read_start(*_LOG, "--max-count=1", commit, "--", max_bytes=MAX_LOG_BYTES)
        return next((change for change, _ in _parse_changes(output)), None)

    def read_changed_lines(self, commits: Sequence[str], path: str = "") -> dict[str, str]:
        """Return the patch of each commit, with `path` of this file alone; none of any if they have more than 1 MB."""
        options = ("--no-walk=unsorted", "--patch", "--unified=0", "--format=%x00%H", "--no-color", *_SAFE)
        shown = self._objects.ask("log", *options, *commits, "--", f":(literal){self._prefix}{path}")
        return {commit: patch for commit, _, patch in (one.partition("\n") for one in shown.split("\0")[1:])}

    def show_commit(self, written: str, known_files: Container[str], path: str = "") -> str:
        """Return message and diff of a commit that the indexed one contains, at most 64 KB; empty without one.

        Of other files than `known_files` nothing is shown: they may be secret. With `path`, of this one alone.
        """
        commit = self.resolve_commit(written) if _COMMIT.fullmatch(written) else None
        if commit is None or self.is_ancestor(commit, self.commit) is not True:
            return ""
        only = ("--", f":(literal){self._prefix}{path}") if path else ()
        # Of a merge what it brought: git's own form for merges names no file that could be left out.
        options = ("--format=format:%h %as%n%B", "--no-color", "-m", "--first-parent", *_SAFE)
        args = ("show", *options, "--end-of-options", commit, *only)
        shown = self._read_start(*args, max_bytes=MAX_DIFF_BYTES).decode("utf-8", "replace")
        message, *files = re.split(r"(?m)^(?=diff --git )", shown)
        of_known = [
            diff
            for diff in files
            if (named := _DIFF_PATH.match(diff)) and named[1].removeprefix(self._prefix) in known_files
        ]
        return "".join([message, *of_known])

    def read_time(self) -> datetime:
        """Return when the indexed commit was made; 1970 if git does not say."""
        return to_time(self._objects.ask("log", "-1", "--format=%ct", self.commit, "--").strip())

    def read_file(self, commit: str, path: str) -> list[str]:
        """Return the lines of a file at another commit, which is read once; none if it is not there."""
        name = f"{commit}:{self._prefix}{path}"
        if name not in self._files:
            text = self._objects.ask("cat-file", "blob", name)
            self._files[name] = text.split("\n") if text else []
        return self._files[name]

    def blame(self, path: str, start: int, end: int) -> list[BlamedLine]:
        """Return who wrote the lines. Those that are older than a shallow clone are left out."""
        lines = ("-L", f"{start},{end}", self.commit, "--", self._prefix + path)
        # Without --root the first commit of all counts as the edge of a shallow clone.
        root = () if self.is_shallow else ("--root",)
        output = self._objects.ask("blame", "--line-porcelain", "-w", *root, *lines)
        return [line for line in _parse_blame(output) if self._until is None or line.at <= self._until]


def _parse_blame(output: str) -> list[BlamedLine]:
    """Return the lines of `git blame --line-porcelain`, but for those older than a shallow clone."""
    lines: list[BlamedLine] = []
    fields: dict[str, str] = {}
    for line in output.split("\n"):
        if line.startswith("\t"):  # the line itself, after its fields
            if "boundary" not in fields:
                lines.append(BlamedLine(at=to_time(fields.get("committer-time", "")), commit=fields["commit"]))
            fields = {}
            continue
        key, _, value = line.partition(" ")
        if fields:
            fields.setdefault(key, value)
        else:
            fields["commit"] = key
    return lines


def to_time(seconds: str) -> datetime:
    # Anybody can write any number into a commit.
    return datetime.fromtimestamp(int(seconds) if seconds.isdigit() and len(seconds) <= 11 else 0, UTC)
