"""What a repository consists of: files with their sizes, and their bytes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Protocol

from triage.code.git.commit_log import LoggedCommit
from triage.code.git.git_history import GitHistory
from triage.domain.code import History


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    size: int
    """Bytes."""
    blob_id: str = ""
    """Object id of the file's content; empty in a folder without git."""
    is_executable: bool = False
    """Git's mode of the file is 100755."""


@dataclass
class Listing:
    """All regular files of a tree, and how many other files were left out."""

    entries: list[Entry] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason to number of files."""
    missing: int = 0
    """Files whose content is not in this clone."""
    truncated: bool = False
    """There are more files than the limit."""


class SourceTree(Protocol):
    commit: str | None
    """Full object id; None for a folder without git."""

    history: GitHistory | None
    """None for a folder without git."""

    def list_files(self) -> Listing:
        """Return all files. Reads none of them."""

    def list_folder(self, path: str, limit: int) -> dict[str, Entry | str]:
        """Return what is in a folder by its path, sorted: a regular file, or a description of what else is there.

        Of a path that is no folder, the path itself; of more than `limit` files, the first. Raises GitError.
        """

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Yield the bytes of each entry, in order; None for a file that cannot be read."""

    def is_dirty(self) -> bool:
        """Return whether the work tree differs from the commit."""

    def read_history(self, path: str, limit: int) -> History:
        """Return the newest commits that changed a file."""

    def read_commits(self) -> list[LoggedCommit]:
        """Return the newest commits, newest first; empty without git. Takes seconds."""


def has_blob_id(data: bytes, blob_id: str) -> bool:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == blob_id
