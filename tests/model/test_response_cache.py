"""The cache of replies on a real disk: durable, bounded, and harmless whatever is in its place."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage.model import response_cache as module
from triage.model.response_cache import MAX_AGE_SECONDS, MAX_FILE_BYTES, FileResponseCache

NOW = datetime.now(UTC).replace(microsecond=0)
"""Files that other programs make in the tests have the time of this machine."""
FAILURE = "Replies cannot be cached in cache-dir: a run that starts again would ask for them again."


class CacheRun:
    """A cache as one run opens it, and what it logs."""

    def __init__(self, folder: Path, age: timedelta = timedelta()) -> None:
        self.log: list[str] = []
        self.cache = FileResponseCache(folder, self.log.append, lambda: NOW + age)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "runs"


def cached_keys(folder: Path) -> list[str]:
    return sorted(file.stem for file in folder.iterdir())


def test_the_next_run_finds_what_was_cached(folder: Path):
    first, second = CacheRun(folder), CacheRun(folder)
    assert first.cache.get("a") is None
    first.cache.put("a", '{"words": "\\ud800 é \U0001f4a9"}')
    first.cache.put("a", "newer")
    first.cache.put("b", "é \U0001f4a9")
    assert [second.cache.get(key) for key in "abc"] == ["newer", "é \U0001f4a9", None]
    assert first.log == second.log == []


def test_nothing_is_made_before_the_first_reply(folder: Path):
    CacheRun(folder)
    assert not folder.exists()


def test_only_the_owner_may_read_it(folder: Path):
    folder.mkdir(parents=True, mode=0o755)
    CacheRun(folder).cache.put("a", "1")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from triage.model.response_cache import FileResponseCache
cache = FileResponseCache(Path(sys.argv[1]), print, lambda: datetime.fromisoformat(sys.argv[2]))
for number in range(1_000_000):
    cache.put(f"key-{number}", str(number) * 1_000)
    print(number, flush=True)
"""


@pytest.mark.parametrize("after", [0, 1, 7])
def test_replies_survive_a_kill(folder: Path, after: int):
    command = [sys.executable, "-c", WRITER, str(folder), NOW.isoformat()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as writer:
        assert writer.stdout is not None
        written = [int(line) for _, line in zip(range(after + 1), writer.stdout, strict=False)]
        writer.send_signal(signal.SIGKILL)
    again = CacheRun(folder)
    assert [again.cache.get(f"key-{number}") for number in written] == [str(number) * 1_000 for number in written]
    again.cache.put("more", "1")
    assert again.log == []


def test_two_processes_may_write_at_once(folder: Path):
    command = [sys.executable, "-c", WRITER.replace("1_000_000", "20"), str(folder), NOW.isoformat()]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) for _ in range(2)]
    logs = [writer.communicate(timeout=60)[0].decode().split("\n") for writer in writers]
    assert logs == [[*map(str, range(20)), ""]] * 2, "nothing is printed but the numbers"
    assert CacheRun(folder).cache.get("key-19") == "19" * 1_000


def test_another_thread_may_read(folder: Path):
    run = CacheRun(folder)
    run.cache.put("a", "1")
    found: list[str | None] = []
    thread = threading.Thread(target=lambda: found.append(run.cache.get("a")))
    thread.start()
    thread.join()
    assert found == ["1"]


# --- limits


def test_replies_are_deleted_after_a_week(folder: Path):
    CacheRun(folder).cache.put("old", "1")
    CacheRun(folder, timedelta(days=6)).cache.put("young", "1")
    week = CacheRun(folder, timedelta(seconds=MAX_AGE_SECONDS))
    assert [week.cache.get(key) for key in ("old", "young")] == ["1", "1"]
    later = CacheRun(folder, timedelta(days=8))
    assert [later.cache.get(key) for key in ("old", "young")] == [None, "1"]
    assert cached_keys(folder) == ["young"]


def test_replies_from_the_future_are_deleted(folder: Path):
    CacheRun(folder, timedelta(days=400)).cache.put("a", "1")
    CacheRun(folder, timedelta(hours=3)).cache.put("b", "1")
    CacheRun(folder).cache.put("c", "1")
    assert cached_keys(folder) == ["b", "c"]


def test_the_oldest_replies_are_deleted_first(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 2_500)
    for day, key in enumerate("abcd"):
        CacheRun(folder, timedelta(days=day)).cache.put(key, "x" * 1_000)
    CacheRun(folder, timedelta(days=4)).cache.get("a")
    assert cached_keys(folder) == ["c", "d"]


def test_a_draft_that_a_killed_run_has_left_is_deleted(folder: Path):
    folder.mkdir(parents=True)
    (folder / ".new-x").write_text("half")
    os.utime(folder / ".new-x", (0, 0))
    (folder / "notes.txt").write_text("somebody else's")
    os.utime(folder / "notes.txt", (0, 0))
    CacheRun(folder).cache.get("a")
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


def test_a_reply_without_end_is_neither_written_nor_read(folder: Path):
    run = CacheRun(folder)
    run.cache.put("a", "x" * (MAX_FILE_BYTES + 1))
    (folder / "b.reply").write_text("x" * (MAX_FILE_BYTES + 1))
    assert [run.cache.get("a"), run.cache.get("b")] == [None, None]
    assert run.log == []


# --- what may be in its place


def link_to_file(folder: Path, target: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "a.reply").symlink_to(target / "file")


def link_to_folder(folder: Path, target: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.symlink_to(target)


def folder_in_place(folder: Path, target: Path) -> None:
    (folder / "a.reply").mkdir(parents=True)


def pipe_in_place(folder: Path, target: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / "a.reply")


def file_for_a_folder(folder: Path, target: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file")


@pytest.mark.parametrize("obstacle", [link_to_file, link_to_folder, folder_in_place, pipe_in_place, file_for_a_folder])
def test_a_link_or_another_kind_of_file_is_not_read(
    folder: Path, tmp_path: Path, obstacle: Callable[[Path, Path], None]
):
    target = tmp_path / "target"
    target.mkdir()
    (target / "file").write_text("theirs")
    obstacle(folder, target)
    run = CacheRun(folder)
    for _ in range(2):
        assert run.cache.get("a") is None
    assert run.log == [FAILURE]
    run.cache.put("a", "1")
    assert [(file.name, file.read_text()) for file in target.iterdir()] == [("file", "theirs")]


@given(st.binary(max_size=3_000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_its_place_do_no_harm(tmp_path_factory: pytest.TempPathFactory, data: bytes):
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.reply").write_bytes(data)
    run = CacheRun(folder, timedelta(days=400))
    run.cache.put("b", "2")
    (folder / "a.reply").write_bytes(data)
    found = run.cache.get("a")
    assert found is None or found.encode() == data
    run.cache.put("a", "1")
    assert run.cache.get("a") == "1"


# --- a disk that fails


@contextmanager
def full_disk(bytes_left: int) -> Iterator[None]:
    """No file may grow beyond so many bytes; Python ignores the signal that comes with it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("bytes_left", [0, 1_000, 40_000])
def test_a_full_disk_is_logged_once_and_leaves_what_is_cached(folder: Path, bytes_left: int):
    run = CacheRun(folder)
    run.cache.put("a", "1")
    with full_disk(bytes_left):
        for _ in range(3):
            run.cache.put("b", "x" * 100_000)
        assert [run.cache.get("a"), run.cache.get("b")] == ["1", None]
    assert run.log == [FAILURE]
    assert cached_keys(folder) == ["a"]


@contextmanager
def unprivileged_user() -> Iterator[None]:
    """Root may write to read-only files."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555])
def test_a_folder_that_cannot_be_written_is_logged_once(tmp_path: Path, mode: int):
    for parent in [tmp_path, *tmp_path.parents][:3]:
        parent.chmod(0o755)
    folder = tmp_path / "runs"
    CacheRun(folder).cache.put("a", "1")
    folder.chmod(mode)
    with unprivileged_user():
        run = CacheRun(folder)
        for _ in range(2):
            run.cache.put("b", "1")
            assert run.cache.get("b") is None
        assert run.log == [FAILURE]
    folder.chmod(0o700)


def test_a_folder_that_vanishes_during_the_run_is_logged_once(folder: Path):
    run = CacheRun(folder)
    run.cache.put("a", "1")
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    for _ in range(2):
        run.cache.put("b", "1")
        assert run.cache.get("a") is None
    assert run.log == [FAILURE]
