"""The folder that keeps what was worked out. A cache costs nothing but time: what cannot be read or written is missing.

Files are written whole under another name and then renamed, so a reader sees the old one or the new one, whoever else
writes and whenever we are killed. Nothing in the folder is trusted: see `kept` and `known_vectors`.
"""

import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

MAX_BYTES = 512_000_000
"""Of one file, and of all: the files used last stay. Django's takes 46 MB, 50,000 files of 5 KB 280 MB."""
_CACHE_FILE = re.compile(r"[a-z]+-[0-9a-f]{32}\.bin(\.[0-9a-f]{16}\.new)?")
_STALE_SECONDS = 3_600
"""Age at which a file that is still being written is nobody's."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class CacheFolder:
    """A folder of files by name. Nobody but its owner may look into it."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet; the folder is made when something is written."""
        self._path = path
        self.problem = ""
        """What went wrong first, as one sentence of ours; empty when nothing did."""

    def read(self, name: str) -> bytes | None:
        """A file's bytes; none when there is none, or none that can be read."""
        try:
            with self._open_folder() as folder, os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
                    self.report_problem("holds something else than a cache")
                    return None
                with suppress(OSError):  # a read-only folder
                    os.utime(file.fileno())
                return file.read(MAX_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.report_problem("could not be read", error)
            return None

    def write(self, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        """Put a file there, in place of an older one; without room for it, or leave to write, there is none."""
        if sum(map(len, pieces)) > MAX_BYTES:
            self.report_problem("has no room for a repository of this size")
            return
        try:
            _make_folders(self._path)
            with self._open_folder() as folder:
                _write_gitignore(folder)
                _replace(folder, name, pieces)
                _remove_old_files(folder, name)
        except OSError as error:
            self.report_problem("could not be written", error)

    def report_problem(self, what: str, error: OSError | None = None) -> None:
        """Note what is wrong; the first complaint stays."""
        why = f" ({os.strerror(error.errno).lower()})" if error and error.errno else ""
        self.problem = self.problem or f"The index cache {what}{why}."

    @contextmanager
    def _open_folder(self) -> Iterator[int]:
        """The folder itself: a link in its place leads elsewhere, and is refused."""
        folder = os.open(self._path, _FOLDER)
        try:
            yield folder
        finally:
            os.close(folder)


def _make_folders(path: Path) -> None:
    """Make the folder, and those above it."""
    missing = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
    for folder in reversed(missing):
        with suppress(FileExistsError):  # another job was faster
            folder.mkdir(mode=0o700)
            _match_owner(folder, folder.parent.stat())


def _match_owner(what: Path | int, above: os.stat_result) -> None:
    """To whom the folder above belongs: a container's root writes, and the runner's own user saves the cache."""
    if os.geteuid() == 0 and above.st_uid != 0:
        with suppress(OSError):  # a user that this container does not know
            os.chown(what, above.st_uid, above.st_gid)


def _write_gitignore(folder: int) -> None:
    with suppress(FileExistsError):
        _create_file(folder, ".gitignore", [b"*\n"])


def _replace(folder: int, name: str, pieces: Iterable[bytes | memoryview]) -> None:
    new = f"{name}.{secrets.token_hex(8)}.new"
    try:
        _create_file(folder, new, pieces)
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise


def _create_file(folder: int, name: str, pieces: Iterable[bytes | memoryview]) -> None:
    with os.fdopen(os.open(name, _WRITE, 0o600, dir_fd=folder), "wb") as file:
        _match_owner(file.fileno(), os.fstat(folder))
        file.writelines(pieces)


def _remove_old_files(folder: int, fresh: str) -> None:
    """Drop what was left half written, and the files that were not used for longest when there are too many bytes."""
    found: list[tuple[float, int, str]] = []
    for name in os.listdir(folder):
        if _CACHE_FILE.fullmatch(name):
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                found.append((status.st_mtime, status.st_size, name))
    room = MAX_BYTES
    for changed, size, name in sorted(found, reverse=True, key=lambda one: (one[2] == fresh, *one)):
        half = name.endswith(".new")
        room -= size
        if (half and changed < time.time() - _STALE_SECONDS) or (not half and room < 0):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
