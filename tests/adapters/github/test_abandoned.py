"""A tracker whose caller goes away: nothing more is asked, and no limit is waited for longer than the caller waits."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

import pytest

from testing.servers.github_api import Api, Trouble
from tests.adapters.github.conftest import Opening
from triage.errors import GitHubUnavailable
from triage.threads import Abandoned, in_daemon_thread


async def test_a_limit_that_outlasts_the_caller_is_said_at_once(api: Api, opened: Opening):
    api.troubles = [Trouble("issues/7$", 403, {"message": "slow down"}, {"retry-after": "40"})]
    with pytest.raises(GitHubUnavailable, match="rate limit is used up"):
        await in_daemon_thread(lambda: opened(patience_seconds=60.0).issue(7), 30.0)
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    ("trouble", "asked"),
    [
        (Trouble("issues/7$", 403, {"message": "slow down"}, {"retry-after": "40"}), 1),
        (Trouble("issues/7/comments", 200, [], hang_seconds=1.0), 2),
    ],
    ids=["while it waits for a limit", "while GitHub answers"],
)
async def test_nothing_is_asked_for_a_caller_who_left(api: Api, opened: Opening, trouble: Trouble, asked: int):
    api.troubles = [trouble]
    tracker = opened(patience_seconds=60.0)
    outcome: list[BaseException] = []
    over = threading.Event()

    def work() -> None:
        try:
            tracker.issue(7)
            tracker.labels()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            outcome.append(error)
        over.set()

    running = asyncio.ensure_future(in_daemon_thread(work))
    await reached(lambda: len(api.asked) == asked)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert over.wait(10)
    assert isinstance(outcome[0], Abandoned)
    assert len(api.asked) == asked


async def reached(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - the server is another thread
            await asyncio.sleep(0.001)
