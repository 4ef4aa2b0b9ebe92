"""What a repository consists of: files with their sizes and bytes. Here from a folder, in `commit` from git.

Of a folder without git, no link is followed, and only regular files are opened. Repositories inside the folder are
not read: one that a job checks out beside the code may be private.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from itertools import islice
from pathlib import Path
from typing import Protocol

from triage.code.git.commit_log import LoggedCommit
from triage.code.git.history import GitHistory
from triage.domain.code import History

NESTED_REPOSITORY = "another repository"
"""Reason in `Listing.left_out`; counts the repository as one file."""
_SKIPPED = frozenset({".git", ".triage"})
_BARE = frozenset({"HEAD", "objects", "refs"})
"""Names in every git directory, whatever it is called."""
_MAX_NAMES = 500_000
"""Files and folders."""
_OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


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
    repositories: list[str] = field(default_factory=list)
    """Folders of other repositories, which are not read."""


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

    def read_history(self, path: str, limit: int, text: str = "") -> History:
        """Return the newest commits that changed a file; with `text`, those that added or removed it."""

    def read_commits(self) -> list[LoggedCommit]:
        """Return the newest commits, newest first; empty without git. Takes seconds."""


def has_blob_id(data: bytes, blob_id: str) -> bool:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == blob_id


class FolderTree:
    commit: str | None = None
    history: GitHistory | None = None

    def __init__(self, root: Path) -> None:
        self._root = root

    def list_files(self) -> Listing:
        """Return every regular file with its size, sorted by path. An unreadable folder counts as one file."""
        listing = Listing()
        room = _MAX_NAMES
        for folder, folders, files in os.walk(self._root, onerror=lambda _: listing.left_out.update(["unreadable"])):
            names = {*folders, *files}
            folders.clear()  # os.walk goes on with what is added here.
            prefix = os.path.relpath(folder, self._root)
            if prefix != "." and (".git" in names or names >= _BARE):
                listing.left_out[NESTED_REPOSITORY] += 1
                listing.repositories.append(prefix)
                continue
            room -= len(names)
            if room < 0:
                listing.truncated = True
                break
            paths = {name: os.path.normpath(f"{prefix}/{name}") for name in sorted(names - _SKIPPED)}
            folders += [name for name, path in paths.items() if self._is_folder(path, listing)]
        listing.entries.sort(key=lambda entry: entry.path)
        return listing

    def _is_folder(self, path: str, listing: Listing) -> bool:
        # Adds everything else to the listing.
        try:
            path.encode("utf-8")
            status = (self._root / path).lstat()
        except UnicodeEncodeError:
            listing.left_out["name is not UTF-8"] += 1
            return False
        except OSError:
            listing.left_out["unreadable"] += 1
            return False
        if stat.S_ISREG(status.st_mode):
            listing.entries.append(Entry(path, status.st_size))
        elif not stat.S_ISDIR(status.st_mode):
            listing.left_out["symbolic link" if stat.S_ISLNK(status.st_mode) else "no file"] += 1
        return stat.S_ISDIR(status.st_mode)

    def find_entry(self, path: str) -> Entry | str | None:
        """Return the regular file at a path, a description of what else is there, or None."""
        location = self._root.resolve() / path
        try:
            if location.resolve() != location:
                return "symbolic link"
            status = location.lstat()
        except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of links, until Python 3.13
            return None
        if stat.S_ISREG(status.st_mode):
            return Entry(path, status.st_size)
        return "folder" if stat.S_ISDIR(status.st_mode) else "special file"

    def list_folder(self, path: str, limit: int) -> dict[str, Entry | str]:
        found = self.find_entry(path)
        if found != "folder":
            return {path: found} if found else {}
        try:
            with os.scandir(self._root / path) as items:
                names = sorted(item.name for item in islice(items, limit) if item.name.isprintable())
        except OSError:
            return {path: "folder that cannot be read"}
        entries = {f"{path}/{name}": self.find_entry(f"{path}/{name}") for name in names}
        return {name: entry for name, entry in entries.items() if entry}

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        for entry in entries:
            yield entry, _read_bytes(self._root, entry)

    def is_dirty(self) -> bool:
        return False

    def read_history(self, path: str, limit: int, text: str = "") -> History:  # noqa: ARG002 - the protocol's signature
        return History()

    def read_commits(self) -> list[LoggedCommit]:
        return []


def _read_bytes(root: Path, entry: Entry) -> bytes | None:
    try:
        with os.fdopen(os.open(root / entry.path, _OPEN_FLAGS), "rb") as file:
            # A file that grows meanwhile does not exceed the size that was budgeted.
            return file.read(entry.size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None
