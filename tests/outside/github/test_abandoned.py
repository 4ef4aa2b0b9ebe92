"""A tracker whose caller leaves: it sends nothing more, and waits no longer than the caller."""

import asyncio
import contextlib
import gc
import threading
from collections.abc import Callable

import pytest

from testing.servers.github_api import ApiFault, GitHubApi
from tests.outside.github.conftest import OpenTracker
from triage.base.threads import Abandoned, in_thread


@pytest.mark.parametrize(
    ("trouble", "asked"),
    [
        (ApiFault("issues/7$", 403, {"message": "slow down"}, {"retry-after": "40"}), 1),
        (ApiFault("issues/7/comments", 200, [], delay_seconds=1.0), 2),
    ],
    ids=["while it waits for a limit", "while GitHub answers"],
)
async def test_nothing_is_sent_when_the_caller_has_left(
    api: GitHubApi, open_tracker: OpenTracker, trouble: ApiFault, asked: int
):
    api.faults = [trouble]
    tracker = open_tracker(max_wait_seconds=60.0)
    outcome: list[BaseException] = []
    over = threading.Event()

    def work() -> None:
        try:
            tracker.fetch_issue(7)
            tracker.list_labels()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            outcome.append(error)
        over.set()

    running = asyncio.ensure_future(in_thread(work))
    await reached(lambda: len(api.requests) == asked)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert over.wait(10)
    assert isinstance(outcome[0], Abandoned)
    assert len(api.requests) == asked
    outcome.clear()
    gc.collect()  # else it is told in a later test


async def reached(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - the server is another thread
            await asyncio.sleep(0.001)
