"""Which commits changed a file. What a commit says is its author's text: one short line of it is taken, keys masked."""

import time
from collections.abc import Iterator

from triage.domain.code import FileChange, History
from triage.index.source.git import Git, GitError
from triage.secrets.likely_secrets import redact_likely_secrets

LOG_SECONDS = 10.0
"""For git: a file that changed last long ago makes it walk through everything since."""
MAX_LOG_BYTES = 262_144
"""Of git's answer: a subject may be as long as its author likes."""
MAX_SUBJECT_CHARS = 120
_FIELDS = "tformat:%H%x00%P%x00%aI%x00%s"
_LOG = (
    "log",
    "-z",
    f"--format={_FIELDS}",
    "--encoding=UTF-8",
    # What the repository's config may switch on: programs (gpg, textconv, diff), files anywhere (mailmap), more work.
    "--no-show-signature",
    "--no-patch",
    "--no-ext-diff",
    "--no-textconv",
    "--no-mailmap",
    "--no-follow",
)


def read_commit_history(git: Git, commit: str, path: str, limit: int) -> History:
    """The newest commits that changed a file.

    A shallow clone's oldest commits seem to have made every file; they are left out.

    Args:
        git: The repository.
        commit: Where to start: a full object id.
        path: From the folder that git runs in; taken literally.
        limit: Most commits.
    """
    words = (*_LOG, f"--max-count={limit}", "--end-of-options", commit, "--", f":(literal){path}")
    began = time.monotonic()
    try:
        is_shallow = git.run("rev-parse", "--is-shallow-repository").strip() == b"true"
        with git.stream(*words, lines=(), seconds=LOG_SECONDS) as answer:
            told = answer.read(MAX_LOG_BYTES)
    except GitError:
        return History(partial=True)
    changes = [change for change, parents in _parse_changes(told) if parents or not is_shallow]
    ended = len(told) < MAX_LOG_BYTES and time.monotonic() - began < LOG_SECONDS
    # Some commit brought the file: where none is told, git failed.
    return History(changes=changes, partial=is_shallow or not ended or not changes)


def _parse_changes(told: bytes) -> Iterator[tuple[FileChange, str]]:
    """Each commit that was told whole, and its parents."""
    fields = told.decode("utf-8", "replace").split("\0")[:-1]
    for at in range(0, len(fields) - 3, 4):
        commit, parents, date, subject = fields[at : at + 4]
        yield FileChange(commit=commit, date=date, subject=_shorten(subject)), parents


def _shorten(subject: str) -> str:
    """One printable line. Masked before it is cut: half a key would not be recognised."""
    printable = "".join(char if char.isprintable() else " " for char in redact_likely_secrets(subject))
    line = " ".join(printable.split())
    return line if len(line) <= MAX_SUBJECT_CHARS else f"{line[:MAX_SUBJECT_CHARS]}…"
