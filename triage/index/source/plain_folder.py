"""A folder without git, walked with the same care: no link followed, nothing but regular files opened.

Repositories that lie in it are not read: who checks a private one out beside the code does not want it told.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from triage.domain.code import History
from triage.index.source.tree import Entry, Listing

NESTED_REPOSITORY = "another repository"
"""Why a folder's files are left out."""
_SKIPPED = frozenset({".git", ".triage"})
_BARE = frozenset({"HEAD", "objects", "refs"})
"""What a git directory holds, whatever its name."""
_MAX_NAMES = 500_000
"""Names looked at, folders' too."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FolderTree:
    """Files below a folder, as they are now."""

    commit: str | None = None

    def __init__(self, root: Path) -> None:
        self._root = root

    def list_files(self) -> Listing:
        """Every regular file with its size, sorted by path. An unreadable folder counts as one unreadable file."""
        listing = Listing()
        pending, room = [""], _MAX_NAMES
        while pending and not listing.truncated:
            prefix = pending.pop()
            try:
                with os.scandir(self._root / prefix) as found:
                    names = sorted(islice(found, room + 1), key=lambda name: name.name)
            except OSError:
                listing.left_out["unreadable"] += 1
                continue
            listing.truncated = len(names) > room
            room -= len(names)
            if prefix and _is_repository({name.name for name in names}):
                listing.left_out[NESTED_REPOSITORY] += 1
            else:
                pending += [path for name in names if (path := _visit(name, prefix, listing))]
        listing.entries.sort(key=lambda entry: entry.path)
        return listing

    def find_entry(self, path: str) -> Entry | str | None:
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
            yield entry, _read_bytes(self._root, entry)

    def is_dirty(self) -> bool:
        """There is no commit to differ from."""
        return False

    def read_history(self, path: str, limit: int) -> History:  # noqa: ARG002 - as the protocol has it
        """Nobody keeps one."""
        return History()


def _is_repository(names: set[str]) -> bool:
    return ".git" in names or names >= _BARE


def _visit(name: "os.DirEntry[str]", prefix: str, listing: Listing) -> str | None:
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
    if not stat.S_ISREG(status.st_mode):
        listing.left_out["symbolic link" if stat.S_ISLNK(status.st_mode) else "no file"] += 1
    else:
        listing.entries.append(Entry(path, status.st_size))
    return None


def _read_bytes(root: Path, entry: Entry) -> bytes | None:
    """At most the entry's size: a file that grows while it is read stays within its budget."""
    try:
        with os.fdopen(_open_without_links(root, entry.path), "rb") as file:
            return file.read(entry.size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


def _open_without_links(root: Path, path: str) -> int:
    """A file, folder by folder: any of them may have become a link. Raises OSError."""
    *folders, name = path.split("/")
    at = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)
