"""Caches replies that were paid for, one file each. A killed run loses only what was under way.

The folder may come from anywhere: a reply from it passes the same checks as a fresh one.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from triage.base.private_folder import make_private_folder, read_private_file, write_private_file

SUFFIX = ".reply"
DAY = 24 * 60 * 60
MAX_AGE_SECONDS = 7 * DAY
MAX_TOTAL_BYTES = 32_000_000
"""The oldest files go first. A run has some dozens, of some kilobytes each."""
MAX_FILE_BYTES = 1_000_000


class FileResponseCache:
    """Paid answers of models, so that a run that starts again does not pay twice.

    A cache that cannot be read or written behaves like an empty one, and the first error is logged.
    """

    def __init__(self, folder: Path, log: Callable[[str], None], now: Callable[[], datetime]) -> None:
        self._folder, self._log, self._now = folder, log, now
        self._is_prepared = self._has_failed = False

    def get(self, key: str) -> str | None:
        try:
            self._prepare()
            data = read_private_file(self._find_file(key), MAX_FILE_BYTES)
            return data.decode() if data is not None else None
        except FileNotFoundError:
            return None
        except (OSError, UnicodeError):
            self._report_failure()
            return None

    def put(self, key: str, answer: str) -> None:
        try:
            self._prepare()
            data = answer.encode()
            if len(data) <= MAX_FILE_BYTES:
                write_private_file(self._find_file(key), data, self._now().timestamp())
        except (OSError, UnicodeError):
            self._report_failure()

    def _find_file(self, key: str) -> Path:
        return self._folder / f"{key}{SUFFIX}"

    def _prepare(self) -> None:
        if self._folder.is_symlink():
            raise OSError("a link may lead anywhere")
        if self._is_prepared:
            return
        self._is_prepared = True
        make_private_folder(self._folder)
        with suppress(OSError):  # somebody else may own it
            self._folder.chmod(0o700)
        now, total = self._now().timestamp(), 0
        for status, file in sorted(_list_files(self._folder), key=lambda pair: pair[0].st_mtime, reverse=True):
            total += status.st_size
            # A clock may be wrong, but not by more than a day.
            if not now - MAX_AGE_SECONDS <= status.st_mtime <= now + DAY or total > MAX_TOTAL_BYTES:
                file.unlink(missing_ok=True)

    def _report_failure(self) -> None:
        if not self._has_failed:
            self._has_failed = True
            self._log("Replies cannot be cached in cache-dir: a run that starts again would ask for them again.")


def _list_files(folder: Path) -> Iterator[tuple[os.stat_result, Path]]:
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # another process has just given a new file its name
            if _is_ours(file):
                yield file.lstat(), file


def _is_ours(file: Path) -> bool:
    return file.is_file() and (file.suffix == SUFFIX or file.name.startswith(".new-"))
