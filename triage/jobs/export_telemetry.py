"""Exports telemetry of a run that is over and published, within seconds."""

import asyncio
import math
from collections.abc import Callable

from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.report import RunReport
from triage.ports import Services

MAX_SECONDS = 3.5
"""A little more than the exporter's own limit, which bounds each wait: a collector may answer byte by byte."""
MAX_SECONDS_AFTER_SIGNAL = 1.0
"""The runner kills the process seconds after a signal."""


async def export_telemetry(
    report: RunReport,
    services: Services,
    cancelled: asyncio.Event,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> None:
    """Export the published report if telemetry is on. Never raises; a failure is a line in the log."""
    export = services.export_report
    if export is None:
        return
    try:
        await call_with_deadline(
            lambda: export(report),
            cancelled,
            MAX_SECONDS,
            seconds_after_cancel=lambda: min(MAX_SECONDS_AFTER_SIGNAL, seconds_left()),
        )
    except OutOfTime:
        services.progress.info("Telemetry not sent: the collector takes too long.")
    except Exception as error:  # noqa: BLE001 - the report is published; a bug here must not change its exit code
        services.progress.info(f"Telemetry not sent: {type(error).__name__}, a bug of this action.")
