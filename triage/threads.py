"""Blocking work beside the event loop, which can be walked away from.

A thread cannot be ended from outside. So what it does asks, before each request and each process that it starts,
whether anybody still waits; and what it has started is ended for it.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

CLEANUP_SECONDS = 0.5
"""For tasks that are cancelled as the loop ends."""


class Abandoned(BaseException):
    """Nobody waits for this thread any more. No `Exception`, so that nobody takes it for a failure and tries again."""


class _ThreadJob:
    """What one thread was sent for."""

    def __init__(self, seconds: float | None) -> None:
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds
        self.abandoned = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def abandon(self) -> None:
        with self._lock:
            self.abandoned.set()
            ends = list(self._callbacks)
        for end in ends:
            end()

    def raise_if_abandoned(self) -> None:
        if self.abandoned.is_set():
            raise Abandoned

    @contextmanager
    def calling_when_abandoned(self, end: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            self._callbacks.append(end)
            too_late = self.abandoned.is_set()
        if too_late:
            end()
        try:
            yield
        except Exception:  # what was ended fails; whoever takes that for a reason to go on otherwise must not
            self.raise_if_abandoned()
            raise
        finally:
            with self._lock:
                self._callbacks.remove(end)
        self.raise_if_abandoned()


_current_job: ContextVar[_ThreadJob | None] = ContextVar("errand", default=None)


async def run_in_daemon_thread(work: Callable[[], T], seconds: float | None = None) -> T:
    """Run blocking work so that neither a timeout, nor a signal, nor the end of the process waits for it.

    `asyncio.to_thread` will not do: its threads are joined when the loop closes.

    Raises:
        TimeoutError: It took longer than so many seconds.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    errand = _ThreadJob(seconds)

    def settle(outcome: Callable[[], None]) -> None:
        if not future.done():
            outcome()

    def run() -> None:
        _current_job.set(errand)
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - handed on, not swallowed: the awaiting task raises it
            outcome = _set_exception(future, error)
        else:
            outcome = _set_result(future, result)
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, outcome)

    try:
        threading.Thread(target=copy_context().run, args=(run,), daemon=True, name="work").start()
    except RuntimeError:  # the machine has no thread left to give: better late than not at all
        copy_context().run(run)
    try:
        async with asyncio.timeout(seconds):
            return await future
    finally:
        errand.abandon()


async def wait_or_cancel(work: "asyncio.Future[T]", cancelled: asyncio.Event, seconds: float = math.inf) -> None:
    """Return when the work is done, when `cancelled` is set, or after so many seconds."""
    stopping = asyncio.ensure_future(cancelled.wait())
    either: set[asyncio.Future[Any]] = {work, stopping}
    await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()


def raise_if_abandoned() -> None:
    """To be called before anything that costs or lasts. Raises Abandoned."""
    errand = _current_job.get()
    if errand is not None:
        errand.raise_if_abandoned()


@contextmanager
def call_when_abandoned(end: Callable[[], None]) -> Iterator[None]:
    """Have `end` called, from another thread, as soon as nobody waits for this one. Raises Abandoned then."""
    errand = _current_job.get()
    with errand.calling_when_abandoned(end) if errand is not None else nullcontext():
        yield


def sleep_unless_abandoned(seconds: float) -> None:
    """Sleep. Raises Abandoned when nobody waits any more."""
    errand = _current_job.get()
    if errand is None:
        time.sleep(seconds)
    else:
        errand.abandoned.wait(seconds)
        errand.raise_if_abandoned()


def seconds_left() -> float:
    """How long this thread is waited for; infinite where no bound was set."""
    errand = _current_job.get()
    return errand.deadline - time.monotonic() if errand is not None else math.inf


def run_event_loop(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, but for its waiting at the end: a look-up of a name may take a thread half a minute."""
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
    await asyncio.wait(
        {asyncio.ensure_future(asyncio.get_running_loop().shutdown_asyncgens())}, timeout=CLEANUP_SECONDS
    )


def _set_result(future: asyncio.Future[T], result: T) -> Callable[[], None]:
    return lambda: future.set_result(result)


def _set_exception(future: asyncio.Future[T], error: BaseException) -> Callable[[], None]:
    return lambda: future.set_exception(error)
