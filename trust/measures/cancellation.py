"""Cancels runs at each of their requests and at random times: how long they take to end, and what they leave."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from testing.runs.action_run import JobResult
from testing.runs.cancelled_run import SIGNALS, CancelledRun, cancel_after, cancel_at_request, run_to_end
from trust.measure import Measure, MeasureResult, sample_evenly

MAX_SECONDS = 5.0
"""The runner sends SIGTERM 7.5 s after SIGINT, and kills 2.5 s later (actions/runner, ProcessInvoker.cs)."""
RANDOM_TIMES = 24
SEED = 5
SIDE_BY_SIDE = 3
SMALL = 0.05
"""Below this share only one run is tried: the requests of a whole run are not counted first."""


def run(share: float) -> MeasureResult:
    cases = sample_evenly(_list_cases(), share) if share >= SMALL else _at_random_times(1.0)[:1]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results = list(pool.map(lambda case: case(), cases))
    slowest = max(one.seconds for one in results)
    failures = [problem for one in results for problem in find_problems(one)]
    return MeasureResult(len(results), failures, f"{slowest:.1f} s at most")


def _list_cases() -> list[Callable[[], CancelledRun]]:
    whole, asked = run_to_end()
    at_requests = [
        partial(cancel_at_request, number, what, hangs=hangs)
        for number, what in enumerate(asked, 1)
        for hangs in (False, True)
    ]
    return at_requests + _at_random_times(whole)


def _at_random_times(whole_seconds: float) -> list[Callable[[], CancelledRun]]:
    chance = random.Random(SEED)
    return [
        partial(cancel_after, chance.uniform(0, whole_seconds), chance.choice(SIGNALS)) for _ in range(RANDOM_TIMES)
    ]


def find_problems(run: CancelledRun) -> list[str]:
    done = run.done
    problems = {
        f"{run.seconds:.1f} s": run.seconds > MAX_SECONDS,
        f"exit code {done.exit_code}": done.exit_code not in (0, 128 + run.sent),
        "an empty page": not done.summary,
        "no status": "status" not in done.outputs,
        "a traceback": "Traceback" in done.log,
        f"{run.comments} comments": run.comments > 1,
        f"{run.late} requests later than a second after": run.late > 0,
        f"{run.left} processes left": run.left > 0,
    }
    return [f"{run.sent.name} at {run.at}: {problem}" for problem, is_wrong in problems.items() if is_wrong]


_NAIVE = (
    "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "print('there', flush=True); time.sleep(60)"
)
"""Started in the background, a program ignores SIGINT until it asks for it."""


def run_without_defence() -> MeasureResult:
    """A program that does not handle signals, and one that ends after its longest step."""
    naive = subprocess.Popen([sys.executable, "-c", _NAIVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert naive.stdout is not None
    naive.stdout.readline()
    naive.send_signal(signal.SIGINT)
    sent_at = time.monotonic()
    _, log = naive.communicate()
    done = JobResult(naive.returncode, log.decode(), {}, "")
    ended = CancelledRun("a sleep", signal.SIGINT, time.monotonic() - sent_at, done, 0, 0, 0)
    blocked = CancelledRun("two blocked nodes", signal.SIGINT, 25.0, done, 0, 0, 0)
    return MeasureResult(2, [*find_problems(ended), *find_problems(blocked)])


MEASURE = Measure(
    "Seconds to cancel",
    "at most 5 s",
    "SIGINT or SIGTERM at any time: no page, no outputs, a second comment, or a process that stays.",
    run,
    run_without_defence,
)
