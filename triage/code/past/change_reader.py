"""Reads the past beside the indexing: git and the workers are other processes, so it costs hardly any time."""

import threading
from contextlib import suppress
from contextvars import copy_context
from datetime import datetime

from triage.base.threads import Abandoned
from triage.code.git.tree import SourceTree
from triage.code.past.past_changes import ChangeTable, read_changes


class ChangeReader:
    def __init__(self, tree: SourceTree, until: datetime | None = None) -> None:
        """Start to read the commits of a tree; with `until`, without those that are younger."""
        self._tree = tree
        self._until = until
        self._table = ChangeTable()
        # With our context, so that git ends when nobody waits for the index any more.
        self._thread = threading.Thread(target=copy_context().run, args=(self._read,), daemon=True, name="history")
        self._thread.start()

    def wait(self) -> ChangeTable:
        """Return what was read; empty when git has no answer."""
        self._thread.join()
        return self._table

    def _read(self) -> None:
        with suppress(Abandoned):
            until = self._until.timestamp() if self._until else None
            commits = self._tree.read_commits()
            self._table = read_changes(one for one in commits if until is None or one.seconds <= until)
