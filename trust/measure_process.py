"""Each measure in a process of its own: what it breaks, prints or uses up is its own."""

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

from trust.measure import Figure, Measure
from trust.results_table import Row

MOST_SECONDS = 1_800.0
"""For one measure; one that takes longer hangs."""


def measured(measure: Measure, share: float) -> Row:
    """Try it. A measure that itself fails is a row with a failure."""
    began = time.monotonic()
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(measure.name, share, theirs))
    process.start()
    theirs.close()
    try:
        if not ours.poll(MOST_SECONDS):
            return _row(measure, began, _broken(f"it was not over after {MOST_SECONDS:.0f} s"))
        tried, blind = ours.recv()
        return _row(measure, began, tried, blind)
    except EOFError:
        process.join()
        return _row(measure, began, _broken(f"its process ended with exit code {process.exitcode}"))
    finally:
        process.kill()
        process.join()


def _row(measure: Measure, began: float, tried: Figure, blind: Figure | None = None) -> Row:
    return Row(measure, tried, blind or Figure(0), time.monotonic() - began)


def _broken(why: str) -> Figure:
    return Figure(0, [f"the measure itself failed: {why}"])


def _work(name: str, share: float, results: Connection) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    results.send(tried(name, share))


def tried(name: str, share: float) -> tuple[Figure, Figure]:
    """What the measure of this name found, and what its judge sees without the defence. Never raises."""
    try:
        from trust.measures import MEASURES

        measure = next(one for one in MEASURES if one.name == name)
        return measure.run(share), measure.blind()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this measure's row
        return _broken(f"{type(error).__name__}: {error} ({_where(error)})"), Figure(0)


def _where(error: Exception) -> str:
    trace, places = error.__traceback__, []
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(places[-4:]))
