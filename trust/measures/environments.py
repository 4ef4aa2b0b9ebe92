"""Unusual machines and networks: a whole run in a process of its own on each."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.environments.environment import Environment, find_problems
from testing.environments.machines import MACHINES
from testing.environments.networks import NETWORKS
from trust.measure import Measure, MeasureResult, sample_evenly

ENVIRONMENTS: dict[str, Environment] = MACHINES | NETWORKS
SIDE_BY_SIDE = 2
MAX_PROBLEMS_SHOWN = 4
"""Per run, before its last log lines."""


def run(share: float) -> MeasureResult:
    possible = [name for name, environment in ENVIRONMENTS.items() if environment.is_possible]
    chosen = sample_evenly(possible, share)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = pool.map(lambda name: _find_problems(name, ENVIRONMENTS[name]), chosen)
        failures = [problem for problems in found for problem in problems]
    missing = len(ENVIRONMENTS) - len(possible)
    return MeasureResult(len(chosen), failures, f"{missing} not possible here" if missing else "")


def _find_problems(name: str, environment: Environment) -> list[str]:
    with TemporaryDirectory() as folder:
        return [
            f"{name}: {problem}" for problem in find_problems(environment, Path(folder) / "job")[:MAX_PROBLEMS_SHOWN]
        ]


def run_without_defence() -> MeasureResult:
    """A program that crashes, and one that stops without a report."""
    broken = {
        "an uncaught error": Environment(preamble="raise OSError('no space left on device')"),
        "a program that gives up": Environment(preamble="raise SystemExit(0)"),
    }
    return MeasureResult(
        len(broken), [problem for name, machine in broken.items() for problem in _find_problems(name, machine)]
    )


MEASURE = Measure(
    "Odd machines and networks",
    "all pass",
    "Full disks, odd locales, proxies, silent servers: no end in time, a traceback, a secret.",
    run,
    run_without_defence,
)
