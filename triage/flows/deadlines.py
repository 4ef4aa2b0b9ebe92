"""Waiting for GitHub: as long as there is time, and nobody cancels."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from triage.errors import GitHubUnavailable
from triage.threads import run_in_daemon_thread, wait_or_cancel

T = TypeVar("T")


async def call_with_deadline(what: str, work: Callable[[], T], seconds: float, cancelled: asyncio.Event) -> T:
    """What GitHub answers to a question.

    Args:
        what: That is asked for, as a sentence begins.
        work: Asks; it blocks.
        seconds: How long it is waited for.
        cancelled: Set when the run is.

    Raises:
        GitHubUnavailable: As the work itself, and when it is not waited for any longer.
    """
    if not cancelled.is_set():
        asking = asyncio.ensure_future(run_in_daemon_thread(work, seconds))
        await wait_or_cancel(asking, cancelled)
        if asking.done():
            try:
                return asking.result()
            except TimeoutError:
                why = f"GitHub took more than {seconds:.0f} seconds"
                raise GitHubUnavailable(f"{what} could not be read: {why}.") from None
        asking.cancel()
    raise GitHubUnavailable(f"{what} could not be read: the run was cancelled.")


async def run_while_time_left(
    work: Callable[[], T], left: Callable[[], float], cancelled: asyncio.Event
) -> "asyncio.Future[T]":
    """Blocking work, done or walked away from: it is waited for until the time is up, which a signal makes shorter.

    Args:
        work: It is told how long it is waited for, so that it begins no wait that is longer.
        left: Seconds that it may still take.
        cancelled: Set when the run is.
    """
    running = asyncio.ensure_future(run_in_daemon_thread(work, max(0.0, left())))
    await wait_or_cancel(running, cancelled, max(0.0, left()))
    await asyncio.wait({running}, timeout=max(0.0, left()))
    if not running.done():
        running.cancel()
    return running
