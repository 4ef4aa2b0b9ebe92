"""Tell what a run did, when it is over and published: for seconds at most, and at no other cost."""

import asyncio
import math
from collections.abc import Callable

from triage.domain.report import RunReport
from triage.ports import Services
from triage.threads import run_in_daemon_thread, wait_or_cancel

MAX_SECONDS = 3.5
"""A little more than the door allows itself: it bounds each wait, and a collector may trickle."""
MAX_SECONDS_AFTER_SIGNAL = 1.0
"""After a signal: the runner kills within seconds."""


async def export_telemetry(
    report: RunReport,
    services: Services,
    cancelled: asyncio.Event,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> None:
    """Export the report where telemetry is on. Never raises; what was not sent is a line in the log.

    Args:
        report: As it was published.
        services: Of the run.
        cancelled: Set by a signal.
        seconds_left: Until the process must end.
    """
    telemetry = services.telemetry
    if telemetry is None:
        return
    sending = asyncio.ensure_future(run_in_daemon_thread(lambda: telemetry.export(report)))
    await wait_or_cancel(sending, cancelled, MAX_SECONDS)
    if cancelled.is_set():
        await asyncio.wait({sending}, timeout=max(0.0, min(MAX_SECONDS_AFTER_SIGNAL, seconds_left())))
    if not sending.done():
        services.progress.info("Telemetry not sent: the collector takes too long.")
        sending.cancel()
    elif error := sending.exception():
        services.progress.info(f"Telemetry not sent: {type(error).__name__}, a bug of this action.")
