"""Work in a thread whose caller gives up."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

from triage.base.threads import in_thread


class AbandonedWork:
    """Work whose caller gives up as soon as the work has arrived."""

    def __init__(self) -> None:
        self.there, self.gone, self.over = threading.Event(), threading.Event(), threading.Event()
        self.outcome: BaseException | None = None

    def arrive(self) -> None:
        """For the work to call: goes on when the caller has left."""
        self.there.set()
        assert self.gone.wait(10)

    async def run(self, work: Callable[[], object], *, is_there: bool = False) -> None:
        """Returns when the work is over. `is_there` if the caller leaves it as soon as it has begun."""

        def whole() -> None:
            if is_there:
                self.there.set()
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - the test looks at it
                self.outcome = error
            self.over.set()

        running = asyncio.ensure_future(in_thread(whole))
        await in_thread(self.there.wait, 10)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        self.gone.set()
        assert self.over.wait(10)
