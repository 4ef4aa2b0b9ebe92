"""An interrupted run goes on: the graph's state in a SQLite file, a thread for an issue and all that shapes its answer.

What stands in the file is data and nothing else: only the project's own values are rebuilt from it, no other class.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import Any, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import BaseModel

from triage.domain.issue import Issue
from triage.domain.run import Usage
from triage.graph.build_graph import Graph
from triage.graph.triage_state import BugTriageState
from triage.ports import ProgressLog, Services

BUSY_SECONDS = 2.0
"""Waited for another job that writes to the same file."""
NOT_KEPT = "The run's state cannot be kept in cache-dir: an interrupted run would start anew."
TABLES = ("writes", "checkpoints")
MOST_THREADS = 50
"""Kept of runs that never ended; the oldest go first."""


def thread_of(issue: Issue, commit: str | None, slug: str, services: Services) -> str:
    """Name of the thread: repository and issue, and a digest of everything that shapes the answer."""
    said = [(one.author, one.body) for one in issue.thread if not one.ours]
    told = [issue.title, issue.body, issue.author, issue.labels, said]
    shaped = [services.fingerprint, commit or "", json.dumps(told), str(services.web_tools is not None)]
    digest = blake2b("\0".join(shaped).encode("utf-8", "replace"), digest_size=16).hexdigest()
    return f"{slug}#{issue.number or 0}:{digest}"


class Saver(SqliteSaver):
    """Keeps the state without a thread of its own, which the end of the process would wait for.

    A write takes milliseconds. One that fails costs the chance to go on later, never the run.
    """

    def __init__(self, connection: sqlite3.Connection, journal: ProgressLog) -> None:
        super().__init__(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=kept_types()))
        self._journal = journal
        self._told: set[str] = set()  # shared by the copies that LangGraph makes

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The newest checkpoint of the thread."""
        return self.get_tuple(config)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a superstep's state."""
        with self._harmless():
            return self.put(config, checkpoint, metadata, new_versions)
        known = config.get("configurable", {})
        return {"configurable": {**known, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what one node wrote while others of its superstep still run."""
        with self._harmless():
            self.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget a run."""
        with self._harmless():
            self.delete_thread(thread_id)

    def forget_oldest(self) -> None:
        """Bound the file. Checkpoint ids grow with time."""
        with self.cursor() as cursor:
            for table in TABLES:
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id NOT IN (SELECT thread_id FROM checkpoints "  # noqa: S608 - a name of ours
                    "GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC LIMIT ?)",
                    (MOST_THREADS,),
                )

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error:
            if NOT_KEPT not in self._told:
                self._told.add(NOT_KEPT)
                self._journal.info(NOT_KEPT)


@contextmanager
def checkpoints(path: str | None, journal: ProgressLog) -> Iterator[Saver | None]:
    """What keeps the state; none where no file was named, or where none can be kept, which is said.

    A file that is damaged, or none of ours, is put aside.
    """
    saver = _opened(Path(path), journal) if path else None
    try:
        yield saver
    finally:
        if saver is not None:
            with suppress(sqlite3.Error):
                saver.conn.close()


def _opened(path: Path, journal: ProgressLog) -> Saver | None:
    for _ in range(2):
        try:
            return _connected(path, journal)
        except sqlite3.OperationalError:
            break  # read-only, full, locked by another job
        except sqlite3.DatabaseError:
            if not _put_aside(path):
                break
            journal.info("The kept state of earlier runs could not be read; it was put aside.")
        except OSError:
            break
    journal.info(NOT_KEPT)
    return None


def _connected(path: Path, journal: ProgressLog) -> Saver:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.with_name(f"{path.name}-journal").exists():
        raise sqlite3.DatabaseError("we write ahead; a rollback journal may name any file to be deleted")
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        parts = connection.execute("SELECT type, tbl_name FROM sqlite_master").fetchall()
        if not set(parts) <= {(kind, table) for kind in ("table", "index") for table in TABLES}:
            raise sqlite3.DatabaseError("a view or a trigger that is none of ours")
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("damaged")
        saver = Saver(connection, journal)
        saver.setup()
        saver.forget_oldest()
    except BaseException:
        connection.close()
        raise
    return saver


def _put_aside(path: Path) -> bool:
    try:
        path.replace(path.with_suffix(".unreadable"))
        for beside in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def kept_types() -> list[type]:
    """Every class that the state is made of."""
    return list(dict.fromkeys(_classes(BugTriageState)))


def _classes(kind: Any, seen: set[Any] | None = None) -> Iterator[type]:
    seen = set() if seen is None else seen
    if kind in seen:
        return
    seen.add(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            yield from _classes(field.annotation, seen)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield kind
    for part in get_args(kind):
        if not isinstance(part, str | int):
            yield from _classes(part, seen)


@dataclass(frozen=True)
class Kept:
    """What is left of a run that did not end."""

    state: BugTriageState
    spent: Usage
    """By that run, as far as it was kept."""


async def interrupted(saver: Saver, graph: Graph, config: RunnableConfig, journal: ProgressLog) -> Kept | None:
    """A run of this thread that did not end; none when there is none that can be read.

    A run that ended leaves nothing to go on with: the next one starts anew, and asks no answered question again all the
    same, for its answers are in the reply store.
    """
    try:
        found = await saver.aget_tuple(config)
        if found is None:
            return None
        # By its id: without one LangGraph mixes in what nodes of the open superstep wrote, and takes a run whose last
        # nodes were written and not yet summed up for one that ended.
        snapshot = await graph.aget_state(found.config)
        if snapshot.next and snapshot.values:
            state = BugTriageState.model_validate(snapshot.values)
            return Kept(state, _spent(state, [task.result for task in snapshot.tasks]))
    except _UNREADABLE:
        journal.info("The kept state of an earlier run could not be read; the run starts anew.")
    return None


_UNREADABLE = (sqlite3.Error, ValueError, TypeError, LookupError, AttributeError)
"""What a checkpoint of another make, or a forged one, raises when it is read."""


def _spent(state: BugTriageState, written: Sequence[Any]) -> Usage:
    """What the supervisor had counted, and every step since, also of a superstep that is not over."""
    since = [step.usage for step in state.steps if step.iteration >= state.iterations]
    since += [step.usage for one in written if isinstance(one, dict) for step in one.get("steps", [])]
    return sum(since, state.spent)
