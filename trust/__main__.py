"""`python -m trust`: prints a table of what was tried and what failed."""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from triage import __version__
from trust.measure import Measure
from trust.measure_process import run_in_process
from trust.measures import MEASURES
from trust.results_table import Row, list_failures, render_page, render_table

SIDE_BY_SIDE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 if all goals are met and all measures detect failures."""
    parser = argparse.ArgumentParser(prog="python -m trust", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="measures whose name contains it")
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases, 0 to 1")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page of the documentation")
    options = parser.parse_args(arguments)
    if options.write and options.only:
        parser.error("--write needs all measures: leave out --only")
    words = [word.lower() for word in options.only or [""]]
    chosen = [measure for measure in MEASURES if any(word in measure.name.lower() for word in words)]
    if not chosen:
        parser.error(f"no measure has this name; the measures are: {', '.join(measure.name for measure in MEASURES)}")
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        rows = list(pool.map(lambda measure: _run(measure, options.share), chosen))
    print("\n".join([render_table(rows), *list_failures(rows)]))
    if options.write:
        options.write.write_text(render_page(rows, __version__, datetime.now(UTC), options.share), encoding="utf-8")
    return 0 if all(row.is_met for row in rows) else 1


def _run(measure: Measure, share: float) -> Row:
    print(f"{measure.name} ...", file=sys.stderr, flush=True)
    row = run_in_process(measure, share)
    counts = f"{row.result.cases:,} cases, {len(row.result.failures):,} failures, {row.seconds:.0f} s"
    print(f"{measure.name}: {counts}", file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
