"""An abandoned index stops, and its processes end."""

import multiprocessing
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.abandoned_work import AbandonedWork
from testing.checkouts.git_repositories import commit
from triage.base.threads import Abandoned
from triage.find.parse import worker_pool
from triage.find.parse.extract import SourceFile
from triage.find.parse.worker_pool import WorkerPool
from triage.git.git import Git


@pytest.fixture
def abandoned_work() -> AbandonedWork:
    return AbandonedWork()


@pytest.fixture
def git(tmp_path: Path) -> Git:
    commit(tmp_path, {"a.py": "one\n"})
    return Git(tmp_path)


async def test_git_is_killed_while_its_output_is_read(abandoned_work: AbandonedWork, git: Git):
    def work() -> None:
        with git.stream("cat-file", "--batch", lines=["HEAD"]) as answers:
            answers.readline()
            abandoned_work.arrive()
            answers.read()

    await abandoned_work.run(work)
    assert isinstance(abandoned_work.outcome, Abandoned)


async def test_a_git_that_hangs_is_killed(
    abandoned_work: AbandonedWork, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sleeper = tmp_path / "git"
    sleeper.write_text(f"#!/bin/sh\n/usr/bin/touch {tmp_path}/there\nexec /bin/sleep 600\n")
    sleeper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    hanging = Git(tmp_path)

    def wait_for_it() -> None:
        while not (tmp_path / "there").exists():
            pass
        abandoned_work.there.set()

    threading.Thread(target=wait_for_it, daemon=True).start()
    await abandoned_work.run(lambda: hanging.run("status"))
    assert isinstance(abandoned_work.outcome, Abandoned)


async def test_git_is_not_started_after_abandonment(
    abandoned_work: AbandonedWork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\n/usr/bin/touch $0.started\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    git = Git(tmp_path)

    def work() -> None:
        abandoned_work.arrive()
        git.run("status")

    await abandoned_work.run(work)
    assert isinstance(abandoned_work.outcome, Abandoned)
    assert not (tmp_path / "git.started").exists()


@pytest.mark.parametrize("failures", [2, 0], ids=["by workers", "without"])
async def test_extraction_stops_after_abandonment(abandoned_work: AbandonedWork, failures: int):
    def batches() -> Iterator[list[SourceFile]]:
        for number in range(1_000):
            if number == 10:
                abandoned_work.arrive()
            yield [SourceFile(f"f{number}.py", f"def f{number}(): pass\n".encode())]

    def work() -> None:
        with WorkerPool(workers=2) as pool:
            pool._failures_left = failures
            list(pool.extract_all(batches()))

    await abandoned_work.run(work)
    assert isinstance(abandoned_work.outcome, Abandoned)


async def test_a_worker_that_hangs_is_killed(abandoned_work: AbandonedWork, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_pool, "extract_batch", time.sleep)
    others = set(multiprocessing.active_children())

    def batches() -> Iterator[Any]:
        yield 600
        abandoned_work.there.set()

    def work() -> None:
        with WorkerPool(workers=1) as pool:
            list(pool.extract_all(batches()))

    await abandoned_work.run(work)
    assert isinstance(abandoned_work.outcome, Abandoned)
    assert set(multiprocessing.active_children()) <= others
