"""Blocking calls that end with the run's time, or when somebody cancels the run."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from triage.errors import GitHubUnavailable
from triage.flows.flow_context import FlowContext
from triage.threads import run_in_daemon_thread, wait_until_done_or_cancelled

T = TypeVar("T")


async def ask_github(what: str, call: Callable[[], T], context: FlowContext) -> T:
    """Ask GitHub something before the agents start. `what` begins the sentence of an error.

    Raises:
        GitHubUnavailable: From the call itself, when time is up, or when the run is cancelled.
    """
    if not context.cancelled.is_set():
        seconds = context.github_seconds_left()
        asking = asyncio.ensure_future(run_in_daemon_thread(call, seconds))
        await wait_until_done_or_cancelled(asking, context.cancelled)
        if asking.done():
            try:
                return asking.result()
            except TimeoutError:
                raise GitHubUnavailable(
                    f"{what} could not be read: GitHub took more than {seconds:.0f} seconds."
                ) from None
        asking.cancel()
    raise GitHubUnavailable(f"{what} could not be read: the run was cancelled.")


async def run_while_time_left(
    work: Callable[[], T], seconds_left: Callable[[], float], cancelled: asyncio.Event
) -> "asyncio.Future[T]":
    """Run blocking work in a thread until it is done, or cancel it when the time is up.

    `seconds_left` is asked again after a signal, which makes it less.
    """
    running = asyncio.ensure_future(run_in_daemon_thread(work, max(0.0, seconds_left())))
    await wait_until_done_or_cancelled(running, cancelled, max(0.0, seconds_left()))
    await asyncio.wait({running}, timeout=max(0.0, seconds_left()))
    if not running.done():
        running.cancel()
    return running
