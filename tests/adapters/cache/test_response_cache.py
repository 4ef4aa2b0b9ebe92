"""The reply store on a real disk: durable, bounded, and harmless whatever lies in its place."""

import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.fakes import NOW
from triage.adapters.cache import response_cache as module
from triage.adapters.cache.response_cache import FILE_NAME, MAX_AGE_SECONDS, MAX_ANSWER_CHARS, SqliteResponseCache

CANNOT = "Answers cannot be kept in cache-dir: an interrupted run would ask for them again."
ASIDE = "The kept answers of earlier runs could not be read; they were put aside."


class Opened:
    """A store, and what it said."""

    def __init__(self, folder: Path, age: timedelta = timedelta()) -> None:
        self.notes: list[str] = []
        self.beside: list[str] = []
        """What lay in the folder when it spoke."""
        self._folder = folder
        self.store = SqliteResponseCache(folder, self._hear, lambda: NOW + age)

    def _hear(self, note: str) -> None:
        self.notes.append(note)
        with suppress(OSError):
            self.beside = sorted(file.name for file in self._folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "runs"


def test_what_is_kept_is_known_to_the_next_run(folder: Path):
    first, second = Opened(folder), Opened(folder)
    assert first.store.get("a") is None
    first.store.put("a", '{"words": "\\ud800 é \U0001f4a9"}')
    first.store.put("a", "newer")
    first.store.put("b", "other")
    assert [second.store.get(key) for key in "abc"] == ["newer", "other", None]
    assert first.notes == second.notes == []


def test_nothing_is_made_before_the_first_question(folder: Path):
    Opened(folder)
    assert not folder.exists()


def test_only_we_may_read_it(folder: Path):
    Opened(folder).store.put("a", "1")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_a_file_that_others_may_read_is_closed_to_them(folder: Path):
    Opened(folder).store.put("a", "1")
    (folder / FILE_NAME).chmod(0o644)
    Opened(folder).store.put("b", "1")
    assert stat.S_IMODE((folder / FILE_NAME).stat().st_mode) == 0o600


KEEPER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from triage.adapters.cache.response_cache import SqliteResponseCache
store = SqliteResponseCache(Path(sys.argv[1]), print, lambda: datetime.fromisoformat(sys.argv[2]))
for number in range(1_000_000):
    store.put(f"key-{number}", str(number) * 1_000)
    print(number, flush=True)
"""


@pytest.mark.parametrize("after", [0, 1, 7])
def test_what_was_kept_survives_a_kill(folder: Path, after: int):
    command = [sys.executable, "-c", KEEPER, str(folder), NOW.isoformat()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as keeper:
        assert keeper.stdout is not None
        said = [int(line) for _, line in zip(range(after + 1), keeper.stdout, strict=False)]
        keeper.send_signal(signal.SIGKILL)
    again = Opened(folder)
    assert [again.store.get(f"key-{number}") for number in said] == [str(number) * 1_000 for number in said]
    again.store.put("more", "1")
    assert again.notes == []


def test_two_processes_may_keep_at_once(folder: Path):
    command = [sys.executable, "-c", KEEPER.replace("1_000_000", "20"), str(folder), NOW.isoformat()]
    keepers = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) for _ in range(2)]
    told = [keeper.communicate(timeout=60)[0].decode().split("\n") for keeper in keepers]
    assert told == [[*map(str, range(20)), ""]] * 2, "nothing was said but the numbers"
    assert Opened(folder).store.get("key-19") == "19" * 1_000


# --- bounds


def test_after_a_week_nobody_takes_up_a_run(folder: Path):
    Opened(folder).store.put("old", "1")
    Opened(folder, timedelta(days=6)).store.put("young", "1")
    week = Opened(folder, timedelta(seconds=MAX_AGE_SECONDS))
    assert [week.store.get(key) for key in ("old", "young")] == ["1", "1"]
    later = Opened(folder, timedelta(days=8))
    assert [later.store.get(key) for key in ("old", "young")] == [None, "1"]
    assert rows(folder) == ["young"]


def test_what_comes_from_the_future_is_dropped(folder: Path):
    Opened(folder, timedelta(days=400)).store.put("a", "1")
    Opened(folder, timedelta(hours=3)).store.put("b", "1")
    Opened(folder).store.put("c", "1")
    assert rows(folder) == ["b", "c"]


def test_of_too_much_the_oldest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 2_500)
    for day, key in enumerate("abcd"):
        Opened(folder, timedelta(days=day)).store.put(key, "x" * 1_000)
    Opened(folder, timedelta(days=4)).store.get("a")
    assert rows(folder) == ["c", "d"]


def test_an_answer_without_end_is_not_kept(folder: Path):
    opened = Opened(folder)
    opened.store.put("a", "x" * (MAX_ANSWER_CHARS + 1))
    assert opened.store.get("a") is None
    assert opened.notes == []


def rows(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        return [key for (key,) in database.execute("SELECT key FROM replies ORDER BY key")]


# --- what may lie in its place


def written(folder: Path, data: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / FILE_NAME).write_bytes(data)


def made(folder: Path, *statements: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def spoiled(folder: Path) -> None:
    Opened(folder).store.put("a", "x" * 50_000)
    data = bytearray((folder / FILE_NAME).read_bytes())
    data[4_096:12_000] = os.urandom(12_000 - 4_096)
    (folder / FILE_NAME).write_bytes(data)


def truncated(folder: Path) -> None:
    Opened(folder).store.put("a", "x" * 50_000)
    os.truncate(folder / FILE_NAME, 9_000)


def with_journal(folder: Path) -> None:
    """A rollback journal may name a file that SQLite then deletes."""
    Opened(folder).store.put("a", "1")
    (folder / f"{FILE_NAME}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(1_000))


FOREIGN: dict[str, Callable[[Path], None]] = {
    "text": lambda folder: written(folder, b"no database, but long enough to be one " * 100),
    "short text": lambda folder: written(folder, b"x"),
    "nothing": lambda folder: written(folder, b""),
    "noise": lambda folder: written(folder, os.urandom(20_000)),
    "a header and noise": lambda folder: written(folder, b"SQLite format 3\x00" + os.urandom(20_000)),
    "damaged": spoiled,
    "truncated": truncated,
    "another table": lambda folder: made(folder, "CREATE TABLE checkpoints (x)"),
    "another table of this name": lambda folder: made(folder, "CREATE TABLE replies (key, answer)"),
    "a view": lambda folder: made(folder, "CREATE VIEW replies AS SELECT 'a' AS key, 1 AS at, 'trap' AS answer"),
    "a trigger": lambda folder: made(
        folder, module._TABLE, "CREATE TRIGGER t AFTER INSERT ON replies BEGIN DELETE FROM replies; END"
    ),
    "a journal": with_journal,
}


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN)
def test_what_is_damaged_or_foreign_is_put_aside_and_said(folder: Path, foreign: Callable[[Path], None]):
    foreign(folder)
    opened = Opened(folder)
    assert opened.store.get("a") is None
    opened.store.put("a", "1")
    assert opened.store.get("a") == "1"
    assert opened.notes == [ASIDE]
    assert opened.beside == ["replies.unreadable"]
    assert sorted(file.name for file in folder.iterdir()) == [FILE_NAME, "replies.unreadable"]
    again = Opened(folder)
    assert again.store.get("a") == "1"
    assert again.notes == []


def test_a_file_without_end_is_put_aside(folder: Path, monkeypatch: pytest.MonkeyPatch):
    Opened(folder).store.put("a", "x" * 50_000)
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 20_000)
    opened = Opened(folder)
    assert opened.store.get("a") is None
    assert opened.notes == [ASIDE]


def link_to_file(folder: Path, target: Path) -> None:
    folder.mkdir(parents=True)
    (folder / FILE_NAME).symlink_to(target / "file")


def link_to_folder(folder: Path, target: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.symlink_to(target)


def link_beside(folder: Path, target: Path) -> None:
    Opened(folder).store.put("a", "1")
    (folder / f"{FILE_NAME}-wal").symlink_to(target / "file")


def folder_in_place(folder: Path, target: Path) -> None:
    (folder / FILE_NAME).mkdir(parents=True)


def pipe_in_place(folder: Path, target: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / FILE_NAME)


def file_for_a_folder(folder: Path, target: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file")


IN_THE_WAY = [link_to_file, link_to_folder, link_beside, folder_in_place, pipe_in_place, file_for_a_folder]


@pytest.mark.parametrize("place", IN_THE_WAY)
def test_a_link_or_another_kind_of_file_is_left_alone_and_said(
    folder: Path, tmp_path: Path, place: Callable[[Path, Path], None]
):
    target = tmp_path / "target"
    target.mkdir()
    (target / "file").write_text("theirs")
    place(folder, target)
    opened = Opened(folder)
    for _ in range(2):
        opened.store.put("a", "1")
        assert opened.store.get("a") is None
    assert opened.notes == [CANNOT]
    assert [(file.name, file.read_text()) for file in target.iterdir()] == [("file", "theirs")]


@given(st.binary(max_size=3_000), st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_its_place_do_no_harm(tmp_path_factory: pytest.TempPathFactory, data: bytes, header: bool):
    folder = tmp_path_factory.mktemp("any") / "runs"
    written(folder, (b"SQLite format 3\x00" if header else b"") + data)
    opened = Opened(folder)
    assert opened.store.get("a") is None
    opened.store.put("a", "1")
    assert opened.store.get("a") == "1"


# --- a disk that does not do as asked


def test_another_process_that_holds_the_file_costs_a_moment_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    Opened(folder).store.put("a", "1")
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.01)
    opened = Opened(folder)
    with closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        opened.store.put("b", "1")
        opened.store.put("c", "1")
        assert opened.store.get("a") == "1", "reading goes on beside a writer"
        assert opened.notes == [CANNOT]


def test_a_file_that_is_locked_when_the_run_starts_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch):
    Opened(folder).store.put("a", "1")
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.01)
    opened = Opened(folder)
    with closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        assert opened.store.get("a") is None
        assert opened.notes == [CANNOT]
    assert Opened(folder).store.get("a") == "1"


@contextmanager
def full_disk(bytes_left: int) -> Iterator[None]:
    """No file may grow beyond so many bytes; Python ignores the signal that comes with it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("left", [0, 1_000, 40_000])
def test_a_full_disk_is_said_once(folder: Path, left: int):
    opened = Opened(folder)
    with full_disk(left):
        for _ in range(3):
            opened.store.put("a", "x" * 100_000)
        assert opened.store.get("a") is None
    assert opened.notes == [CANNOT]


def test_a_disk_that_fills_up_leaves_what_is_kept(folder: Path):
    opened = Opened(folder)
    opened.store.put("a", "1")
    with full_disk(40_000):
        opened.store.put("b", "x" * 100_000)
        assert opened.store.get("a") == "1"
    assert opened.notes == [CANNOT]
    assert Opened(folder).store.get("a") == "1"


@contextmanager
def nobody() -> Iterator[None]:
    """Whatever the tests run as, for whom nothing is read-only."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that somebody else can reach, with a store in it."""
    for parent in [tmp_path, *tmp_path.parents][:3]:
        parent.chmod(0o755)
    folder = tmp_path / "runs"
    Opened(folder).store.put("a", "1")
    yield folder
    folder.chmod(0o700)


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555])
def test_a_folder_that_may_not_be_written_is_said_once(open_folder: Path, mode: int):
    (open_folder / FILE_NAME).chmod(0o444)
    open_folder.chmod(mode)
    with nobody():
        opened = Opened(open_folder)
        for _ in range(2):
            opened.store.put("b", "1")
            assert opened.store.get("b") is None
        assert opened.notes == [CANNOT]


def test_a_file_that_vanishes_while_the_run_goes_on_is_said_once(folder: Path):
    opened = Opened(folder)
    opened.store.put("a", "1")
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    for _ in range(2):
        opened.store.put("b", "1")
        assert opened.store.get("a") is None
    assert opened.notes == [CANNOT]


def test_it_can_be_used_from_another_thread(folder: Path):
    import threading

    opened = Opened(folder)
    opened.store.put("a", "1")
    found: list[str | None] = []
    thread = threading.Thread(target=lambda: found.append(opened.store.get("a")))
    thread.start()
    thread.join()
    assert found == ["1"]
