"""Odd machines and networks: each a whole run in a process of its own."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.environments.catalog import ENVIRONMENTS
from testing.environments.environment import Environment, find_problems
from trust.measure import Measure, MeasureResult
from trust.sampling import sample_evenly

SIDE_BY_SIDE = 2
MAX_PROBLEMS_SHOWN = 4
"""Of what was wrong with one run; its last lines come after."""


def run(share: float) -> MeasureResult:
    """Each that this machine can be made into."""
    possible = [name for name, environment in ENVIRONMENTS.items() if environment.is_possible]
    chosen = sample_evenly(possible, share)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = pool.map(lambda name: _wrong(name, ENVIRONMENTS[name]), chosen)
        failures = [words for wrong in found for words in wrong]
    missing = len(ENVIRONMENTS) - len(possible)
    return MeasureResult(len(chosen), failures, f"{missing} cannot be made here" if missing else "")


def _wrong(name: str, environment: Environment) -> list[str]:
    with TemporaryDirectory() as folder:
        return [f"{name}: {words}" for words in find_problems(environment, Path(folder) / "job")[:MAX_PROBLEMS_SHOWN]]


def run_without_defence() -> MeasureResult:
    """A program that dies of its machine, and one that knows only half of what it has to do."""
    spoilt = {
        "an error that nobody catches": Environment(preamble="raise OSError('no space left on device')"),
        "a program that gives up": Environment(preamble="raise SystemExit(0)"),
    }
    return MeasureResult(len(spoilt), [words for name, machine in spoilt.items() for words in _wrong(name, machine)])


MEASURE = Measure(
    "Odd machines and networks",
    "all pass",
    "A whole run on an odd machine or network: full or read-only disks, no home, an unknown user, odd locales, "
    "clocks and streams, few files, processes or addresses, an Enterprise server, proxies, private authorities; it "
    "must end in time with its exit code and status, one comment, no traceback and no secret told.",
    run,
    run_without_defence,
)
