"""Blocking work beside the event loop."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(work: Callable[[], T]) -> T:
    """Run blocking work so that neither a timeout, nor a signal, nor the end of the process waits for it.

    `asyncio.to_thread` will not do: its threads are joined when the loop closes.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(outcome: Callable[[], None]) -> None:
        if not future.done():
            outcome()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - handed on, not swallowed: the awaiting task raises it
            outcome = _raising(future, error)
        else:
            outcome = _returning(future, result)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=run, daemon=True, name="work").start()
    return await future


def _returning(future: asyncio.Future[T], result: T) -> Callable[[], None]:
    return lambda: future.set_result(result)


def _raising(future: asyncio.Future[T], error: BaseException) -> Callable[[], None]:
    return lambda: future.set_exception(error)
