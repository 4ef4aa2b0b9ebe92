"""Blocking work in threads that a run can abandon.

A thread cannot be stopped from outside. So its work calls `raise_if_abandoned` before each request and each process
that it starts, and `call_when_abandoned` ends what is already running.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

CLEANUP_SECONDS = 0.5
"""For tasks that are cancelled when the event loop ends."""


class Abandoned(BaseException):
    """Nobody waits for this thread any more. Not an `Exception`, so that no retry and no fallback catches it."""


class OutOfTime(Exception):
    """Blocking work did not end in time. The message says whether the run was cancelled or its time was up."""


class _ThreadJob:
    def __init__(self, seconds: float | None) -> None:
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds
        self.abandoned = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def abandon(self) -> None:
        with self._lock:
            self.abandoned.set()
            callbacks = self._callbacks[::-1]  # what was begun last is ended first: a build, then its folder
        for callback in callbacks:
            callback()

    def raise_if_abandoned(self) -> None:
        if self.abandoned.is_set():
            raise Abandoned

    @contextmanager
    def calling_when_abandoned(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` if the job is abandoned within the block, which then ends with `Abandoned`."""
        with self._lock:
            self._callbacks.append(callback)
            is_abandoned = self.abandoned.is_set()
        if is_abandoned:
            callback()
        try:
            yield
        except Exception:  # the callback made the work fail: no fallback must run
            self.raise_if_abandoned()
            raise
        finally:
            with self._lock:
                self._callbacks.remove(callback)
        self.raise_if_abandoned()


_NO_JOB = _ThreadJob(None)
"""Outside of such threads: nobody abandons it."""
_current_job: ContextVar[_ThreadJob] = ContextVar("job", default=_NO_JOB)


async def in_thread(function: Callable[[*Ts], T], *args: *Ts, seconds: float | None = None) -> T:
    """Run a blocking function so that no timeout, no signal and no process exit waits for it.

    `asyncio.to_thread` cannot be used: closing the loop joins its threads.

    Raises TimeoutError if it took longer than `seconds`.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    job = _ThreadJob(seconds)

    def set_unless_done(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        _current_job.set(job)
        set_outcome: Callable[[Any], None] = future.set_result
        try:
            outcome: Any = function(*args)
        except BaseException as error:  # noqa: BLE001 - the awaiting task raises it
            set_outcome, outcome = future.set_exception, error
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(set_unless_done, set_outcome, outcome)

    try:
        threading.Thread(target=copy_context().run, args=(run,), daemon=True, name="work").start()
    except RuntimeError:  # the machine allows no further thread
        copy_context().run(run)
    try:
        async with asyncio.timeout(seconds):
            return await future
    finally:
        job.abandon()


async def call_with_deadline(
    work: Callable[[], T],
    cancelled: asyncio.Event,
    seconds: float = math.inf,
    seconds_after_cancel: Callable[[], float] = lambda: 0.0,
) -> T:
    """Run blocking work in a daemon thread, and wait until it is done, its time is up, or the run is cancelled.

    `seconds_after_cancel` is how long a cancelled run still waits.

    Raises OutOfTime if the work is not done. It may go on until it calls `raise_if_abandoned`.
    """
    if cancelled.is_set() and seconds_after_cancel() <= 0:
        raise OutOfTime("the run was cancelled")
    running = asyncio.ensure_future(in_thread(work, seconds=max(0.0, seconds)))
    await wait_until_done_or_cancelled(running, cancelled)
    if cancelled.is_set():
        await asyncio.wait({running}, timeout=max(0.0, seconds_after_cancel()))
    if not running.done():
        running.cancel()
        raise OutOfTime("the run was cancelled")
    try:
        return running.result()
    except TimeoutError:
        raise OutOfTime("the run was cancelled" if cancelled.is_set() else "the run's time was up") from None


async def wait_until_done_or_cancelled(
    work: "asyncio.Future[T]", cancelled: asyncio.Event, seconds: float = math.inf
) -> None:
    """Return when the work is done, when `cancelled` is set, or after so many seconds."""
    stopping = asyncio.ensure_future(cancelled.wait())
    either: set[asyncio.Future[Any]] = {work, stopping}
    await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


def raise_if_abandoned() -> None:
    """Raise Abandoned if nobody waits for this thread. Call it before anything that costs money or takes long."""
    _current_job.get().raise_if_abandoned()


def call_when_abandoned(callback: Callable[[], None]) -> AbstractContextManager[None]:
    """Call `callback` from another thread as soon as nobody waits for this one. Raises Abandoned afterwards."""
    return _current_job.get().calling_when_abandoned(callback)


def sleep_unless_abandoned(seconds: float) -> None:
    """Sleep. Raises Abandoned as soon as nobody waits for this thread."""
    job = _current_job.get()
    job.abandoned.wait(seconds)
    job.raise_if_abandoned()


def seconds_left() -> float:
    """Seconds until this thread is abandoned; infinite without a limit."""
    return _current_job.get().deadline - time.monotonic()


def run_event_loop(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` with a limited wait at the end: a DNS lookup can block a thread for half a minute."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(_cancel_tasks(asyncio.all_tasks(loop)))
        loop.close()


async def _cancel_tasks(tasks: set["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=CLEANUP_SECONDS)
    closing = asyncio.ensure_future(asyncio.get_running_loop().shutdown_asyncgens())
    await asyncio.wait({closing}, timeout=CLEANUP_SECONDS)
