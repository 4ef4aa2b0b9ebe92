"""A folder without git, walked with the same care: no link followed, nothing but regular files opened."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from triage.domain.code import History
from triage.index.tree import Entry, Listing

_SKIPPED = frozenset({".git", ".triage"})
_MAX_ENTRIES = 500_000
"""Names looked at; what lies beyond is counted as missing."""


class FolderTree:
    """Files below a folder, as they are now."""

    commit: str | None = None

    def __init__(self, root: Path) -> None:
        self._root = root

    def listing(self) -> Listing:
        """Every regular file with its size, sorted by path. An unreadable folder counts as one unreadable file."""
        listing = Listing()
        pending = [""]
        while pending:
            prefix = pending.pop()
            try:
                with os.scandir(self._root / prefix) as found:
                    names = sorted(found, key=lambda name: name.name)
            except OSError:
                listing.left_out["unreadable"] += 1
                continue
            if len(listing.entries) + len(names) > _MAX_ENTRIES:
                listing.missing += len(names)
                continue
            pending += [path for name in names if (path := _look(name, prefix, listing))]
        listing.entries.sort(key=lambda entry: entry.path)
        return listing

    def at(self, path: str) -> Entry | str | None:
        """The regular file at a path, or what stands there instead; none when nothing does."""
        for end in (*(slash.start() for slash in re.finditer("/", path)), len(path)):
            try:
                status = (self._root / path[:end]).lstat()
            except (OSError, ValueError):
                return None
            if stat.S_ISLNK(status.st_mode):
                return "symbolic link"
        if stat.S_ISREG(status.st_mode):
            return Entry(path, status.st_size)
        return "folder" if stat.S_ISDIR(status.st_mode) else "special file"

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Bytes of each entry, in order; none when it became unreadable, or is no regular file any more."""
        for entry in entries:
            yield entry, _bytes_of(self._root / entry.path, entry.size)

    def is_dirty(self) -> bool:
        """There is no commit to differ from."""
        return False

    def history(self, path: str, limit: int) -> History:  # noqa: ARG002 - as the protocol has it
        """Nobody keeps one."""
        return History()


def _look(name: "os.DirEntry[str]", prefix: str, listing: Listing) -> str | None:
    """Note a file; or give the path of a folder to walk."""
    path = f"{prefix}/{name.name}" if prefix else name.name
    if name.name in _SKIPPED:
        return None
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        listing.left_out["name is not UTF-8"] += 1
        return None
    try:
        status = name.stat(follow_symlinks=False)
    except OSError:
        listing.left_out["unreadable"] += 1
        return None
    if stat.S_ISDIR(status.st_mode):
        return path
    if stat.S_ISREG(status.st_mode):
        listing.entries.append(Entry(path, status.st_size))
    else:
        listing.left_out["symbolic link" if stat.S_ISLNK(status.st_mode) else "no file"] += 1
    return None


def _bytes_of(path: Path, size: int) -> bytes | None:
    """At most `size` bytes: a file that grows while it is read stays within its budget."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            return file.read(size) if stat.S_ISREG(os.fstat(handle).st_mode) else None
        except OSError:
            return None
