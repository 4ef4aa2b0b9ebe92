"""Answers that were paid for, in one SQLite file.

Each is on disk before the run goes on, so that a killed run loses only what was under way; a copy of the folder is
whole at any moment. The file may come from anywhere, so it is checked before it is used, and what it says is judged
like any other answer.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from triage.adapters.cache.private_folder import make_private_file, make_private_folder

FILE_NAME = "replies.sqlite"
DAY = 24 * 60 * 60
MAX_AGE_SECONDS = 7 * DAY
"""How long an interrupted run may be taken up again."""
MAX_TOTAL_BYTES = 32_000_000
"""The oldest go first. A run has some dozens, of some kilobytes each."""
MAX_ANSWER_CHARS = 1_000_000
MAX_FILE_BYTES = 3 * MAX_TOTAL_BYTES
LOCK_SECONDS = 1.0
"""Waited for another process that writes."""

_TABLE = "CREATE TABLE replies (key TEXT PRIMARY KEY, at INTEGER NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
_DELETE_OLDEST = """DELETE FROM replies WHERE key IN (
    SELECT key FROM (SELECT key, SUM(LENGTH(answer)) OVER (ORDER BY at DESC, key) AS total FROM replies) WHERE total > ?
)"""
_ERRORS = (sqlite3.Error, OSError, UnicodeError)


class _NotOurFile(Exception):
    """The file is damaged, or none of ours."""


class SqliteResponseCache:
    """Implements the `Replies` port. Whatever is wrong with the file is said once, and costs only what it would save.

    A connection lasts for one question, so that nothing is left open when the process is killed.
    """

    def __init__(self, folder: Path, note: Callable[[str], None], now: Callable[[], datetime]) -> None:
        """Nothing is opened before the first question.

        Args:
            folder: Where the file lies; made where it is missing.
            note: Takes a line for the log.
            now: The present, in UTC.
        """
        self._folder, self._file, self._journal = folder, folder / FILE_NAME, folder / f"{FILE_NAME}-journal"
        self._note, self._now = note, now
        self._opened = self._readable = self._writable = self._told = False

    def get(self, key: str) -> str | None:
        """The answer under this key."""
        self._open()
        if not self._readable:
            return None
        try:
            with closing(self._connect(self._file)) as database:
                found = database.execute("SELECT answer FROM replies WHERE key = ?", (key,)).fetchone()
        except _ERRORS:
            self._readable = self._report_failure()
            return None
        return str(found[0]) if found else None

    def put(self, key: str, answer: str) -> None:
        """Remember an answer; it is on disk when this returns."""
        self._open()
        if not self._writable or len(answer) > MAX_ANSWER_CHARS:
            return
        try:
            with closing(self._connect(self._file)) as database:
                database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, self._timestamp(), answer))
        except _ERRORS:
            self._writable = self._report_failure()

    def _open(self) -> None:
        """Check the file once, and make it where it is missing."""
        if self._opened:
            return
        self._opened = True
        try:
            self._readable = self._check()
            self._prepare()
            self._readable = self._writable = True
        except _ERRORS:
            self._report_failure()

    def _check(self) -> bool:
        """Whether there are answers to read. A file that is damaged, or none of ours, is put aside.

        Raises:
            OSError: A link stands in the way.
        """
        if any(place.is_symlink() for place in (self._folder, *self._list_files())):
            raise OSError("a link may lead anywhere")
        if not self._file.exists():
            return False
        try:
            self._inspect()
        except sqlite3.OperationalError:  # locked, not ours to read
            raise
        except (sqlite3.DatabaseError, _NotOurFile):
            self._put_aside()
            return False
        return True

    def _inspect(self) -> None:
        """Raises DatabaseError or _Foreign."""
        if self._journal.exists() or self._file.stat().st_size > MAX_FILE_BYTES:
            raise _NotOurFile  # we write ahead, and a rollback journal may name any other file to be deleted
        with closing(self._connect(self._file)) as database:
            schema = database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            if schema != [("table", "replies", _TABLE)]:
                raise _NotOurFile
            if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise _NotOurFile

    def _put_aside(self) -> None:
        self._file.replace(self._file.with_suffix(".unreadable"))
        for part in self._list_files():
            part.unlink(missing_ok=True)
        self._note("The kept answers of earlier runs could not be read; they were put aside.")

    def _prepare(self) -> None:
        """A file that only we may read, and no more in it than is worth keeping."""
        make_private_folder(self._folder)
        if not self._file.exists():
            self._create()
        make_private_file(self._file)
        with closing(self._connect(self._file)) as database:
            database.execute("BEGIN IMMEDIATE")
            soon = self._timestamp() + DAY  # a clock may be wrong, but not by more
            database.execute("DELETE FROM replies WHERE at NOT BETWEEN ? AND ?", (soon - DAY - MAX_AGE_SECONDS, soon))
            database.execute(_DELETE_OLDEST, (MAX_TOTAL_BYTES,))
            database.execute("COMMIT")

    def _create(self) -> None:
        """Appears whole or not at all; another process may be faster."""
        with TemporaryDirectory(prefix=".new-", dir=self._folder) as place:
            draft = Path(place) / FILE_NAME
            with closing(self._connect(draft)) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute(_TABLE)
            with suppress(FileExistsError):
                self._file.hardlink_to(draft)

    def _connect(self, file: Path) -> sqlite3.Connection:
        database = sqlite3.connect(file, timeout=LOCK_SECONDS, isolation_level=None)
        database.execute("PRAGMA trusted_schema = OFF")
        return database

    def _list_files(self) -> list[Path]:
        """The file, and what SQLite may put beside it."""
        return [self._file, self._journal, *(self._folder / f"{FILE_NAME}-{part}" for part in ("wal", "shm"))]

    def _timestamp(self) -> int:
        return int(self._now().timestamp())

    def _report_failure(self) -> bool:
        """Say it, once: neither reading nor writing is tried again where it failed."""
        if not self._told:
            self._told = True
            self._note("Answers cannot be kept in cache-dir: an interrupted run would ask for them again.")
        return False
