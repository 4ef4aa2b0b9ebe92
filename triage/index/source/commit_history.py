"""The commits that changed a file. A message is a stranger's text: one short line of it, likely secrets masked."""

import time
from collections.abc import Iterator

from triage.domain.code import FileChange, History
from triage.index.source.git import Git, GitError
from triage.secrets.likely_secrets import redact_likely_secrets

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


def read_commit_history(git: Git, commit: str, path: str, limit: int) -> History:
    """Return the newest commits that changed a file, without the oldest of a shallow clone, which adds every file.

    `commit` is the full id of the newest commit that counts. `path` is relative to the top of the repository.
    """
    args = (*_LOG, f"--max-count={limit}", "--end-of-options", commit, "--", f":(literal){path}")
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


def _parse_changes(output: bytes) -> Iterator[tuple[FileChange, str]]:
    fields = output.decode("utf-8", "replace").split("\0")[:-1]
    for start in range(0, len(fields) - 3, 4):
        commit, parents, date, subject = fields[start : start + 4]
        yield FileChange(commit=commit, date=date, subject=_shorten(subject)), parents


def _shorten(subject: str) -> str:
    # Mask before cutting: half a key would not be recognised.
    printable = "".join(char if char.isprintable() else " " for char in redact_likely_secrets(subject))
    line = " ".join(printable.split())
    return line if len(line) <= MAX_SUBJECT_CHARS else f"{line[:MAX_SUBJECT_CHARS]}…"
