"""A file of the cache is either complete or missing."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from triage.code.indexing.cache_folder import CacheFolder

NAMES = [f"index-{number:032x}.npy" for number in range(4)]
TEN = np.arange(10, dtype="|u1")


def read(folder: CacheFolder, name: str) -> list[list[int]] | None:
    arrays = folder.read(name)
    return arrays if arrays is None else [array.tolist() for array in arrays]


def test_a_file_is_read_as_it_was_written(tmp_path: Path):
    folder = CacheFolder(tmp_path / "a/b")
    assert folder.read(NAMES[0]) is None
    folder.write(NAMES[0], [TEN, TEN[:2]])
    folder.write(NAMES[1], [])
    assert (read(folder, NAMES[0]), read(folder, NAMES[1]), read(folder, NAMES[2])) == (
        [[*range(10)], [0, 1]],
        [],
        None,
    )
    folder.write(NAMES[0], [TEN[3:4]])
    assert read(folder, NAMES[0]) == [[3]]
    assert folder.problem == ""


def test_git_ignores_the_folder(tmp_path: Path):
    CacheFolder(tmp_path).write(NAMES[0], [TEN])
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_the_least_recently_used_files_go_when_there_are_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = CacheFolder(tmp_path)
    folder.write(NAMES[0], [TEN])
    size = (tmp_path / NAMES[0]).stat().st_size
    monkeypatch.setattr("triage.code.indexing.cache_folder.MAX_BYTES", 2 * size)
    (tmp_path / "notes.txt").write_bytes(b"somebody else's" * size)
    (tmp_path / "index-mine.npy").write_bytes(b"somebody else's" * size)
    for age, name in zip((300, 200), NAMES, strict=False):
        folder.write(name, [TEN])
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    assert folder.read(NAMES[0]) is not None  # used again
    folder.write(NAMES[2], [TEN])
    assert sorted(path.name for path in tmp_path.glob("*-0*")) == [NAMES[0], NAMES[2]]
    assert {path.name for path in tmp_path.iterdir()} >= {"notes.txt", "index-mine.npy", ".gitignore"}


def test_a_file_larger_than_the_limit_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = CacheFolder(tmp_path)
    folder.write(NAMES[0], [TEN])
    before = (tmp_path / NAMES[0]).read_bytes()
    monkeypatch.setattr("triage.code.indexing.cache_folder.MAX_BYTES", 25)
    folder.write(NAMES[0], [TEN, TEN, TEN])
    assert (tmp_path / NAMES[0]).read_bytes() == before
    assert folder.problem == "The index cache has no room for a repository of this size."


def test_abandoned_half_written_files_are_removed_after_a_while(tmp_path: Path):
    old, young, foreign = (tmp_path / f"{name}.new" for name in (f"{NAMES[0]}.{7:016x}", f"{NAMES[0]}.{8:016x}", "x"))
    for file in (old, young, foreign):
        file.write_bytes(b"half")
    os.utime(old, (time.time() - 4_000,) * 2)
    os.utime(foreign, (time.time() - 4_000,) * 2)
    CacheFolder(tmp_path).write(NAMES[1], [TEN])
    assert (old.exists(), young.exists(), foreign.exists()) == (False, True, True)


def test_the_first_problem_is_reported(tmp_path: Path):
    folder = CacheFolder(tmp_path)
    folder.report_problem("is odd")
    folder.report_problem("is odder", OSError(13, "x"))
    assert folder.problem == "The index cache is odd."
    other = CacheFolder(tmp_path)
    other.report_problem("is odder", OSError(13, "the system's own words are not ours"))
    assert other.problem == "The index cache is odder (permission denied)."
