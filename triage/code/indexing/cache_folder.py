"""The folder of the index cache. A file that cannot be read or written is treated as missing.

Each file is written under another name and then renamed: a reader gets the old one or the new one, also when another
job writes or this one is killed. Nothing in the folder is trusted: `index_cache` and `vector_cache` check what they
use.
"""

import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from triage.code.indexing.array_file import Array, DamagedFile, read_arrays, write_arrays

MAX_BYTES = 512_000_000
"""Of one file, and of all: the least recently used go first. Django takes 36 MB, 50,000 files of 5 KB 280 MB."""
_CACHE_FILE = re.compile(r"[a-z]+-[0-9a-f]{32}\.npy(\.[0-9a-f]{16}\.new)?")
_STALE_SECONDS = 3_600
"""Age at which a half-written file is removed: its job is gone."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class CacheFolder:
    """A folder of named files that hold arrays. Only its owner can read it."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet; the first write creates the folder."""
        self._path = path
        self.problem = ""
        """The first problem, as one sentence; empty when there was none."""

    def read(self, name: str) -> list[Array] | None:
        """Arrays of a file; None when it is missing or cannot be read."""
        try:
            with self._open_folder() as folder, os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
                    self.report_problem("contains something that is not a cache")
                    return None
                with suppress(OSError):  # a read-only folder
                    os.utime(file.fileno())
                return read_arrays(file)
        except FileNotFoundError:
            return None
        except DamagedFile:
            self.report_damage()
        except OSError as error:
            self.report_problem("could not be read", error)
        return None

    def write(self, name: str, arrays: Sequence[Array]) -> None:
        """Create or replace a file. On failure the old one stays, and `problem` has the reason."""
        if sum(array.nbytes for array in arrays) > MAX_BYTES:
            self.report_problem("has no room for a repository of this size")
            return
        try:
            _make_folders(self._path)
            with self._open_folder() as folder:
                with suppress(FileExistsError):
                    _create_file(folder, ".gitignore", lambda file: file.write(b"*\n"))
                _replace(folder, name, lambda file: write_arrays(file, arrays))
                _remove_old_files(folder, name)
        except OSError as error:
            self.report_problem("could not be written", error)

    def report_damage(self) -> None:
        self.report_problem("was damaged and is rebuilt")

    def report_problem(self, what: str, error: OSError | None = None) -> None:
        why = f" ({os.strerror(error.errno).lower()})" if error and error.errno else ""
        self.problem = self.problem or f"The index cache {what}{why}."

    @contextmanager
    def _open_folder(self) -> Iterator[int]:
        # A symbolic link in the folder's place is refused: it may lead anywhere.
        folder = os.open(self._path, _FOLDER)
        try:
            yield folder
        finally:
            os.close(folder)


def _make_folders(path: Path) -> None:
    missing = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
    for folder in reversed(missing):
        with suppress(FileExistsError):  # another job was faster
            folder.mkdir(mode=0o700)
            _match_owner(folder, folder.parent.stat())


def _match_owner(target: Path | int, parent: os.stat_result) -> None:
    """Give a file to the owner of its folder: root in a container writes it, the runner's own user saves the cache."""
    if os.geteuid() == 0 and parent.st_uid != 0:
        with suppress(OSError):  # a user that this container does not know
            os.chown(target, parent.st_uid, parent.st_gid)


def _replace(folder: int, name: str, write: Callable[[BinaryIO], object]) -> None:
    new = f"{name}.{secrets.token_hex(8)}.new"
    try:
        _create_file(folder, new, write)
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise


def _create_file(folder: int, name: str, write: Callable[[BinaryIO], object]) -> None:
    with os.fdopen(os.open(name, _WRITE, 0o600, dir_fd=folder), "wb") as file:
        _match_owner(file.fileno(), os.fstat(folder))
        write(file)


def _remove_old_files(folder: int, written: str) -> None:
    """Remove abandoned half-written files and, beyond `MAX_BYTES`, the least recently used ones."""
    found: list[tuple[float, int, str]] = []
    for name in os.listdir(folder):
        if _CACHE_FILE.fullmatch(name):
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                found.append((status.st_mtime, status.st_size, name))
    room = MAX_BYTES
    for modified, size, name in sorted(found, reverse=True, key=lambda one: (one[2] == written, *one)):
        is_half_written = name.endswith(".new")
        room -= size
        if (is_half_written and modified < time.time() - _STALE_SECONDS) or (not is_half_written and room < 0):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
