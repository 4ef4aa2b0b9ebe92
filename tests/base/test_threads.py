"""Blocking work in threads that can be abandoned."""

import asyncio
import contextvars
import math
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from testing.abandoned_work import AbandonedWork
from triage.base import threads
from triage.base.threads import Abandoned, OutOfTime, call_when_abandoned, in_thread


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Ends the threads that wait for it when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def abandoned() -> AbandonedWork:
    return AbandonedWork()


async def test_the_result_or_the_error_is_passed_on():
    assert await in_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_what_was_begun_last_is_ended_first(abandoned: AbandonedWork):
    ended = list[str]()

    def wait() -> None:
        with call_when_abandoned(lambda: ended.append("folder")), call_when_abandoned(lambda: ended.append("build")):
            abandoned.there.set()
            threads.sleep_unless_abandoned(60)

    await abandoned.run(wait)
    assert ended == ["build", "folder"]
    assert isinstance(abandoned.outcome, Abandoned), "it stops sleeping"


async def test_work_beyond_its_time_limit_is_abandoned(abandoned: AbandonedWork):
    def wait() -> None:
        with call_when_abandoned(abandoned.over.set):
            threads.sleep_unless_abandoned(60)

    with pytest.raises(TimeoutError):
        await in_thread(wait, seconds=0.01)
    assert abandoned.over.wait(10)


async def test_abandoned_work_stops_at_its_next_check(abandoned: AbandonedWork):
    def loop() -> None:
        while True:
            threads.raise_if_abandoned()

    await abandoned.run(loop, is_there=True)
    assert isinstance(abandoned.outcome, Abandoned)


async def test_a_callback_ends_the_process_of_an_abandoned_thread(abandoned: AbandonedWork):
    codes: list[int] = []

    def wait() -> None:
        with (
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process,
            threads.call_when_abandoned(process.kill),
        ):
            codes.append(process.wait())

    await abandoned.run(wait, is_there=True)
    assert isinstance(abandoned.outcome, Abandoned)
    assert codes == [-9]


async def test_a_callback_that_is_registered_too_late_is_called_at_once(abandoned: AbandonedWork):
    ended: list[int] = []

    def late() -> None:
        abandoned.arrive()
        with threads.call_when_abandoned(lambda: ended.append(1)):
            pass

    await abandoned.run(late)
    assert (ended, type(abandoned.outcome)) == ([1], Abandoned)


async def test_an_error_in_abandoned_work_becomes_abandoned(abandoned: AbandonedWork):
    ended = threading.Event()

    def fails() -> None:
        with threads.call_when_abandoned(ended.set):
            ended.wait(10)
            raise OSError("the process was killed")

    await abandoned.run(fails, is_there=True)
    assert isinstance(abandoned.outcome, Abandoned)


async def test_a_thread_knows_its_seconds_left():
    assert 50 < await in_thread(threads.seconds_left, seconds=60) <= 60
    assert await in_thread(threads.seconds_left) == math.inf


async def test_a_thread_has_the_context_variables_of_its_caller():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("seen")
    assert await in_thread(variable.get) == "seen"


def test_the_loop_does_not_wait_for_threads():
    """As a look-up of a name would, the thread of the loop's own pool outlives it."""
    stuck = threading.Event()

    async def work() -> str:
        asyncio.get_running_loop().run_in_executor(None, stuck.wait, 60)
        return "done"

    try:
        assert threads.run_event_loop(work()) == "done"
        assert not stuck.is_set()
    finally:
        stuck.set()


def test_remaining_tasks_are_cancelled_when_the_loop_ends():
    cancelled: list[int] = []

    async def lasting() -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    async def work() -> None:
        task = asyncio.ensure_future(lasting())
        await asyncio.sleep(0)
        assert not task.done()

    threads.run_event_loop(work())
    assert cancelled == [1]


async def test_work_without_time_or_in_a_cancelled_run_is_left(release: threading.Event):
    with pytest.raises(OutOfTime, match="the run's time was up"):
        await threads.call_with_deadline(lambda: release.wait(60), asyncio.Event(), 0.01)
    cancelled = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, cancelled.set)
    with pytest.raises(OutOfTime, match="the run was cancelled"):
        await threads.call_with_deadline(lambda: release.wait(60), cancelled, 60)


async def test_a_cancelled_run_starts_only_what_it_still_waits_for():
    cancelled, started = asyncio.Event(), threading.Event()
    cancelled.set()
    with pytest.raises(OutOfTime, match="the run was cancelled"):
        await threads.call_with_deadline(started.set, cancelled, 60)
    assert not started.is_set()
    asyncio.get_running_loop().call_later(0.05, started.set)
    assert await threads.call_with_deadline(lambda: started.wait(60), cancelled, 60, seconds_after_cancel=lambda: 60)
