"""The newest commits before the indexed one, with their messages and the files that they changed.

A message is a stranger's text: it is searched for words, and never shown.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from triage.base.errors import GitError
from triage.git.git import Git

MAX_COMMITS = 10_000
MAX_FIELD_BYTES = 64_000_000
"""Of a message."""
LOG_SECONDS = 8.0
"""For git, which works beside the indexing. What it has not printed by then is missing."""
MAX_FILES = 30
"""A commit that changes more files says nothing about each of them."""
MAX_MESSAGE_CHARS = 4_000
_LOG = (
    "log",
    "-z",
    "--format=tformat:%H%x00%P%x00%ct%x00%an%x00%B",
    "--encoding=UTF-8",
    "--name-status",
    # Renames of unchanged files only: git compares object ids, and needs no file, which a partial clone may not have.
    "--find-renames=100%",
    "--no-merges",
    "--no-show-signature",
    "--no-notes",
    "--no-ext-diff",
    "--no-textconv",
    "--no-mailmap",
    "--no-color",
    "--no-follow",
)
_STATUS = re.compile(rb"\n?([A-Z])\d{0,3}")
_BOT = re.compile(r"\[bot\]|^(?:dependabot|renovate|greenkeeper|pyup|snyk|weblate)\b|\bbot$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    commit: str
    """Full object id."""
    seconds: int
    """Committer date, since 1970."""
    message: str
    paths: tuple[str, ...]
    """Today's paths of the changed files; of files that were renamed without another change, too."""


def read_commit_log(git: Git, revisions: str, prefix: str = "", max_files: int = MAX_FILES) -> list[LoggedCommit]:
    """Return the newest commits of a commit or of a range `one..other`, newest first; empty when git has no answer.

    `prefix` is the folder whose files count, with a slash at its end; it is cut off their paths.
    Without merges, commits of bots, those that change more than `max_files` files, and those without a parent: a first
    commit, and the oldest one of a shallow clone, add every file.
    """
    args = (*_LOG, f"--max-count={MAX_COMMITS}", "--end-of-options", revisions)
    commits: list[LoggedCommit] = []
    with suppress(GitError):
        # Neither a message nor a path can contain a NUL.
        fields = git.iter_records(*args, seconds=LOG_SECONDS, max_bytes=MAX_FIELD_BYTES)
        commits.extend(_parse_log(fields, prefix, max_files))
    return commits


def _parse_log(fields: Iterator[bytes], prefix: str, max_files: int) -> Iterator[LoggedCommit]:
    """Yield the commits of a log, newest first, with the names that their files have today."""
    todays_paths: dict[str, str] = {}
    field = next(fields, None)
    while field is not None and re.fullmatch(rb"[0-9a-f]{40}", field):
        commit = field.decode()
        head = [next(fields, b"") for _ in range(4)]
        paths: list[str] = []
        while (field := next(fields, None)) is not None and (status := _STATUS.fullmatch(field)):
            old = _decode_path(next(fields, b""))
            new = _decode_path(next(fields, b"")) if status[1] in b"RC" else old
            today = todays_paths.get(new, new)
            if status[1] == b"R":
                todays_paths[old] = today
            paths.append(today)
        if (found := _make_commit(commit, head, paths, prefix, max_files)) is not None:
            yield found


def _make_commit(commit: str, head: list[bytes], paths: list[str], prefix: str, max_files: int) -> LoggedCommit | None:
    """Return the commit; None if it is not listed, see `read_commit_log`."""
    parents, seconds, author, message = (field.decode("utf-8", "replace") for field in head)
    is_telling = parents and 0 < len(paths) <= max_files and not _BOT.search(author)
    if not is_telling or not seconds.isdigit():
        return None
    # Of a rename, both paths may be the same today.
    below = dict.fromkeys(path.removeprefix(prefix) for path in paths if path.startswith(prefix))
    return LoggedCommit(commit, int(seconds), message[:MAX_MESSAGE_CHARS].strip(), tuple(below))


def _decode_path(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
