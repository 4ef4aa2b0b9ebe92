"""The commits that changed a file. A message is a stranger's text: one short line of it, likely secrets masked."""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime

from triage.code.git.git import Git, GitError
from triage.domain.code import FileChange, History
from triage.safety.secrets.likely_secrets import shorten_text

LOG_SECONDS = 10.0
"""For git, which goes through every commit since the file changed."""
MAX_LOG_BYTES = 262_144
"""Of git's output: a subject line has no limit."""
MAX_SUBJECT_CHARS = 120
_LOG = (
    "log",
    "-z",
    "--format=tformat:%H%x00%P%x00%aI%x00%s",
    "--encoding=UTF-8",
    # The repository's config can switch these on: programs (gpg, textconv, diff), other files (mailmap), more work.
    "--no-show-signature",
    "--no-patch",
    "--no-ext-diff",
    "--no-textconv",
    "--no-mailmap",
    "--no-follow",
)


def read_commit_history(git: Git, commit: str, path: str, limit: int, until: datetime | None = None) -> History:
    """Return the newest commits that changed a file, without the oldest of a shallow clone, which adds every file.

    `commit` is the full id of the newest commit that counts, and `until` its greatest date. `path` is relative to the
    top of the repository.
    """
    args = (
        *_LOG,
        *list_date_options(until),
        f"--max-count={limit}",
        "--end-of-options",
        commit,
        "--",
        f":(literal){path}",
    )
    started = time.monotonic()
    try:
        is_shallow = git.run("rev-parse", "--is-shallow-repository").strip() == b"true"
        with git.stream(*args, seconds=LOG_SECONDS) as stream:
            output = stream.read(MAX_LOG_BYTES)
    except GitError:
        return History(partial=True)
    changes = [change for change, parents in _parse_changes(output) if parents or not is_shallow]
    is_complete = len(output) < MAX_LOG_BYTES and time.monotonic() - started < LOG_SECONDS
    # Some commit added the file. Without any, git failed.
    return History(changes=changes, partial=is_shallow or not is_complete or not changes)


def list_date_options(until: datetime | None) -> list[str]:
    """Return git's options that leave out commits that are younger."""
    return [f"--until={until.isoformat()}"] if until else []


def read_changes(git: Git, revisions: Sequence[str], paths: Sequence[str], limit: int) -> list[FileChange]:
    """Return the newest commits of a range or a commit, of some files if there are paths. Empty if git fails.

    `revisions` are full ids of commits, and options of our own.
    """
    inside = [f":(literal){path}" for path in paths]
    try:
        with git.stream(*_LOG, f"--max-count={limit}", *revisions, "--", *inside, seconds=LOG_SECONDS) as stream:
            output = stream.read(MAX_LOG_BYTES)
    except GitError:
        return []
    return [change for change, _ in _parse_changes(output)]


def _parse_changes(output: bytes) -> Iterator[tuple[FileChange, str]]:
    fields = output.decode("utf-8", "replace").split("\0")[:-1]
    for start in range(0, len(fields) - 3, 4):
        commit, parents, date, subject = fields[start : start + 4]
        yield FileChange(commit=commit, date=date, subject=shorten_text(subject, MAX_SUBJECT_CHARS)), parents
