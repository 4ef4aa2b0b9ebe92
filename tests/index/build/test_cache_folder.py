"""Files that are whole or not there."""

import os
import time
from pathlib import Path

import pytest

from triage.index.build.cache_folder import CacheFolder

NAMES = [f"index-{number:032x}.bin" for number in range(4)]


def test_what_was_written_is_read(tmp_path: Path):
    folder = CacheFolder(tmp_path / "a/b")
    assert folder.read(NAMES[0]) is None
    folder.write(NAMES[0], [b"one", b"two"])
    folder.write(NAMES[1], [])
    assert (folder.read(NAMES[0]), folder.read(NAMES[1]), folder.read(NAMES[2])) == (b"onetwo", b"", None)
    folder.write(NAMES[0], [b"three"])
    assert folder.read(NAMES[0]) == b"three"
    assert folder.problem == ""


def test_git_does_not_see_it(tmp_path: Path):
    CacheFolder(tmp_path).write(NAMES[0], [b"x"])
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_the_files_used_last_stay_when_there_are_too_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.index.build.cache_folder.MAX_BYTES", 25)
    folder = CacheFolder(tmp_path)
    (tmp_path / "notes.txt").write_bytes(b"somebody else's" * 10)
    (tmp_path / "index-mine.bin").write_bytes(b"somebody else's" * 10)
    for age, name in zip((300, 200), NAMES, strict=False):
        folder.write(name, [b"x" * 10])
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    assert folder.read(NAMES[0]) is not None  # used again
    folder.write(NAMES[2], [b"x" * 10])
    assert sorted(path.name for path in tmp_path.glob("*-0*")) == [NAMES[0], NAMES[2]]
    assert {path.name for path in tmp_path.iterdir()} >= {"notes.txt", "index-mine.bin", ".gitignore"}


def test_what_is_larger_than_everything_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.index.build.cache_folder.MAX_BYTES", 25)
    folder = CacheFolder(tmp_path)
    folder.write(NAMES[0], [b"x" * 20])
    folder.write(NAMES[0], [b"x" * 13, b"y" * 13])
    assert folder.read(NAMES[0]) == b"x" * 20
    assert folder.problem == "The index cache has no room for a repository of this size."


def test_what_was_left_half_written_goes_after_a_while(tmp_path: Path):
    old, young, foreign = (tmp_path / f"{name}.new" for name in (f"{NAMES[0]}.{7:016x}", f"{NAMES[0]}.{8:016x}", "x"))
    for file in (old, young, foreign):
        file.write_bytes(b"half")
    os.utime(old, (time.time() - 4_000,) * 2)
    os.utime(foreign, (time.time() - 4_000,) * 2)
    CacheFolder(tmp_path).write(NAMES[1], [b"x"])
    assert (old.exists(), young.exists(), foreign.exists()) == (False, True, True)


def test_the_first_complaint_stays(tmp_path: Path):
    folder = CacheFolder(tmp_path)
    folder.report_problem("is odd")
    folder.report_problem("is odder", OSError(13, "x"))
    assert folder.problem == "The index cache is odd."
    other = CacheFolder(tmp_path)
    other.report_problem("is odder", OSError(13, "the system's own words are not ours"))
    assert other.problem == "The index cache is odder (permission denied)."
