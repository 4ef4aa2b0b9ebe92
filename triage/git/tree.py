"""What a repository consists of: files with their sizes and bytes. Here of a folder without git, in `commit` of one."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from triage.base.threads import raise_if_abandoned
from triage.git.history import GitHistory


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    size: int
    """Bytes."""
    blob_id: str = ""
    """Object id of the file's content."""
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


MAX_ENTRIES = 500_000
_BARE = {"HEAD", "objects", "refs"}
"""In every git directory, whatever it is called."""
_OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SourceTree:
    """What cannot be read, and has nothing."""

    commit: str | None = None
    """Full object id."""
    history: GitHistory | None = None

    def list_files(self) -> Listing:
        """Return all files. Reads none of them."""
        return Listing()

    def list_folder(self, path: str, limit: int) -> dict[str, Entry | str]:  # noqa: ARG002 - what a commit needs
        """Return what is in a folder by its path, sorted: a regular file, or a description of what else is there.

        Of a path that is no folder, the path itself; of more than `limit` files, the first. Raises GitError.
        """
        return {}

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Yield the bytes of each entry, in order; None for a file that cannot be read."""
        return ((entry, None) for entry in entries)


class FolderTree(SourceTree):
    """An unpacked archive. No link is followed, and no repository inside is read: a job may check out a private one."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def list_files(self) -> Listing:
        """Return all files below the folder, but for those of repositories in it."""
        listing, room = Listing(), MAX_ENTRIES
        for folder, folders, files in os.walk(self._root, onerror=lambda _: listing.left_out.update(["unreadable"])):
            raise_if_abandoned()
            names = {*folders, *files}
            is_other = folder != str(self._root) and (".git" in names or names >= _BARE)
            room -= len(names)
            listing.truncated = room < 0
            if listing.truncated:
                break
            folders[:] = [] if is_other else sorted({*folders} - {".git", ".triage"})
            for name in [] if is_other else files:
                self._list_file(Path(folder, name), listing)
        listing.entries.sort(key=lambda entry: entry.path)
        return listing

    def _list_file(self, file: Path, listing: Listing) -> None:
        """Add a regular file to the listing, or count why it is left out."""
        path = file.relative_to(self._root).as_posix()
        try:
            path.encode()
            status = file.lstat()
        except UnicodeEncodeError:
            listing.left_out["name is not UTF-8"] += 1
        except OSError:
            listing.left_out["unreadable"] += 1
        else:
            if stat.S_ISREG(status.st_mode):
                listing.entries.append(Entry(path, status.st_size))
            else:
                listing.left_out["no file"] += 1

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Yield each file with its bytes; None where it cannot be read."""
        for entry in entries:
            try:
                with os.fdopen(os.open(self._root / entry.path, _OPEN_FLAGS), "rb") as file:
                    yield entry, file.read(entry.size)
            except OSError:
                yield entry, None
