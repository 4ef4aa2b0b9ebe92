"""Reading beside the indexing ends with the indexing, whatever happens."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from triage.base.threads import raise_if_abandoned, run_in_daemon_thread
from triage.code.git.commit import open_commit
from triage.code.git.plain_folder import FolderTree
from triage.code.past.change_reader import ChangeReader
from triage.code.past.past_changes import ChangeTable


def test_it_reads_the_commits_of_the_tree(tmp_path: Path):
    commit(tmp_path, {"a.py": "1\n"})
    commit(tmp_path, {"a.py": "2\n"})
    assert [change.paths for change in ChangeReader(open_commit(tmp_path)).wait().changes] == [("a.py",)]


def test_a_folder_without_git_has_no_past(tmp_path: Path):
    assert ChangeReader(FolderTree(tmp_path)).wait().changes == []


class WaitingTree(FolderTree):
    """Reads until nobody waits any more."""

    def __init__(self) -> None:
        super().__init__(Path("/"))
        self.ended = threading.Event()

    def read_commits(self) -> list:  # type: ignore[type-arg]
        try:
            while True:
                raise_if_abandoned()
                time.sleep(0.01)
        finally:
            self.ended.set()


def test_it_ends_when_nobody_waits_for_the_index(recwarn: pytest.WarningsRecorder):
    tree = WaitingTree()
    tables: list[ChangeTable] = []

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await run_in_daemon_thread(lambda: tables.append(ChangeReader(tree).wait()), 0.05)

    asyncio.run(run())
    assert tree.ended.wait(10)
    assert not [one for one in recwarn if "PytestUnhandledThread" in one.category.__name__]
