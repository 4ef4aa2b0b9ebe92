"""Runs each measure in its own process, which isolates what it breaks, prints or uses up."""

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

from trust.measure import Measure, MeasureResult
from trust.results_table import Row

MAX_MEASURE_SECONDS = 1_800.0
"""For one measure; one that takes longer is stopped."""


def run_in_process(measure: Measure, share: float) -> Row:
    """Returns the row of the table. If the measure itself breaks, the row has a failure."""
    began = time.monotonic()
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(measure.name, share, theirs))
    process.start()
    theirs.close()
    blind = MeasureResult(0)
    try:
        if ours.poll(MAX_MEASURE_SECONDS):
            tried, blind = ours.recv()
        else:
            tried = _failed_result(f"it did not end within {MAX_MEASURE_SECONDS:.0f} s")
    except EOFError:
        process.join()
        tried = _failed_result(f"its process exited with code {process.exitcode}")
    finally:
        process.kill()
        process.join()
    return Row(measure, tried, blind, time.monotonic() - began)


def _failed_result(why: str) -> MeasureResult:
    return MeasureResult(0, [f"the measure itself failed: {why}"])


def _work(name: str, share: float, results: Connection) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    results.send(run_measure(name, share))


def run_measure(name: str, share: float) -> tuple[MeasureResult, MeasureResult]:
    """Returns the result, and the result without the defence, of the measure with this name. Never raises."""
    try:
        from trust.measures import MEASURES

        measure = next(one for one in MEASURES if one.name == name)
        return measure.run(share), measure.run_without_defence()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this measure's row
        return _failed_result(f"{type(error).__name__}: {error} ({_format_location(error)})"), MeasureResult(0)


def _format_location(error: Exception) -> str:
    trace, locations = error.__traceback__, []
    while trace is not None:
        locations.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(locations[-4:]))
