"""Stops a graph whose run must end, and says why."""

import asyncio

from langgraph.errors import GraphRecursionError

GRACE_SECONDS = 5.0
"""Beyond the run's time. The nodes watch the clock themselves, and rules need milliseconds."""


async def stop_and_explain(running: "asyncio.Future[None]", cancelled: asyncio.Event) -> str:
    """Return why the run was cut; empty when it ended by itself."""
    if not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=1.0)
        return "The run was cancelled." if cancelled.is_set() else "The run was cut: its time was up."
    try:
        running.result()
    except GraphRecursionError:
        return "The run was cut: too many steps."
    except Exception as error:  # noqa: BLE001 - a bug between the nodes, which no wrapper catches, must not cost what was learned
        return f"The run was cut by a bug of this action ({type(error).__name__})."
    return ""
