"""What the repository is made of: files with their sizes, and their bytes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from typing import Protocol

from triage.domain.code import History

SHA1_HEX_DIGITS = 40


@dataclass(frozen=True, slots=True)
class Entry:
    """A regular file."""

    path: str
    size: int
    """Bytes."""
    blob_id: str = ""
    """The blob's object id; empty in a folder without git."""


@dataclass
class Listing:
    """All files of a tree, and what is in it but no readable file."""

    entries: list[Entry] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason to number of files."""
    missing: int = 0
    """Files whose content is not on this machine."""
    truncated: bool = False
    """There are more files than anybody looked at."""


class SourceTree(Protocol):
    """A commit, or a folder without git."""

    commit: str | None
    """Full object id; none for a folder without git."""

    def list_files(self) -> Listing:
        """Every file, without reading one."""

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """The entries' bytes, in the same order; none for what cannot be read."""

    def is_dirty(self) -> bool:
        """The work tree differs from the commit."""

    def read_history(self, path: str, limit: int) -> History:
        """The newest commits that changed a file of the tree."""


def has_blob_id(data: bytes, ref: str) -> bool:
    """Whether these bytes are git's blob of this object id."""
    named = sha1 if len(ref) == SHA1_HEX_DIGITS else sha256
    return named(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == ref
