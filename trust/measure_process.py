"""Each measure in a process of its own: what it breaks, prints or uses up is its own."""

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

from trust.measure import Measure, MeasureResult
from trust.results_table import Row

MAX_MEASURE_SECONDS = 1_800.0
"""For one measure; one that takes longer hangs."""


def run_in_process(measure: Measure, share: float) -> Row:
    """Try it. A measure that itself fails is a row with a failure."""
    began = time.monotonic()
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(measure.name, share, theirs))
    process.start()
    theirs.close()
    try:
        if not ours.poll(MAX_MEASURE_SECONDS):
            return _row(measure, began, _broken(f"it was not over after {MAX_MEASURE_SECONDS:.0f} s"))
        tried, blind = ours.recv()
        return _row(measure, began, tried, blind)
    except EOFError:
        process.join()
        return _row(measure, began, _broken(f"its process ended with exit code {process.exitcode}"))
    finally:
        process.kill()
        process.join()


def _row(measure: Measure, began: float, tried: MeasureResult, blind: MeasureResult | None = None) -> Row:
    return Row(measure, tried, blind or MeasureResult(0), time.monotonic() - began)


def _broken(why: str) -> MeasureResult:
    return MeasureResult(0, [f"the measure itself failed: {why}"])


def _work(name: str, share: float, results: Connection) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    results.send(run_measure(name, share))


def run_measure(name: str, share: float) -> tuple[MeasureResult, MeasureResult]:
    """What the measure of this name found, and what its judge sees without the defence. Never raises."""
    try:
        from trust.measures import MEASURES

        measure = next(one for one in MEASURES if one.name == name)
        return measure.run(share), measure.run_without_defence()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this measure's row
        return _broken(f"{type(error).__name__}: {error} ({_where(error)})"), MeasureResult(0)


def _where(error: Exception) -> str:
    trace, places = error.__traceback__, []
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(places[-4:]))
