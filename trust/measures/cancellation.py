"""Seconds until a cancelled run is over, and what it leaves: a signal at each request of a whole run, and between."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from testing.runs.cancelled_run import SIGNALS, Cancellations, CancelledRun
from testing.runs.job import JobResult
from trust.measure import Measure, MeasureResult
from trust.sampling import sample_evenly

MAX_SECONDS = 5.0
"""The runner sends SIGTERM 7.5 s after SIGINT, and kills 2.5 s later (actions/runner, ProcessInvoker.cs)."""
MOMENTS = 24
SEED = 5
SIDE_BY_SIDE = 3
SMALL = 0.05
"""Below this share a run is not first followed to its end."""


def run(share: float) -> MeasureResult:
    """A signal at each request, answered or hanging, and at moments chosen by chance."""
    chosen = sample_evenly(_cases(), share) if share >= SMALL else _moments(1.0)[:1]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        struck = list(pool.map(lambda case: case(), chosen))
    slowest = max(one.seconds for one in struck)
    return MeasureResult(
        len(struck), [words for one in struck for words in find_problems(one)], f"{slowest:.1f} s at most"
    )


def _cases() -> list[Callable[[], CancelledRun]]:
    whole, asked = Cancellations().run_to_end()
    at_requests = [_at(number, what, hangs) for number, what in enumerate(asked, 1) for hangs in (False, True)]
    return at_requests + _moments(whole)


def _at(number: int, what: str, hangs: bool) -> Callable[[], CancelledRun]:
    return lambda: Cancellations().cancel_at_request(number, what, hangs=hangs)


def _moments(whole_seconds: float) -> list[Callable[[], CancelledRun]]:
    chance = random.Random(SEED)
    drawn = [(chance.uniform(0, whole_seconds), chance.choice(SIGNALS)) for _ in range(MOMENTS)]
    return [_after(seconds, sent) for seconds, sent in drawn]


def _after(seconds: float, sent: signal.Signals) -> Callable[[], CancelledRun]:
    return lambda: Cancellations().cancel_after(seconds, sent)


def find_problems(struck: CancelledRun) -> list[str]:
    """What a run that got a signal may not leave."""
    done = struck.done
    complaints = {
        f"{struck.seconds:.1f} s": struck.seconds > MAX_SECONDS,
        f"exit code {done.exit_code}": done.exit_code not in (0, 128 + struck.sent),
        "nothing on the page": not done.summary,
        "no status": "status" not in done.outputs,
        "a traceback": struck.has_traceback,
        f"{struck.comments} comments": struck.comments > 1,
        f"{struck.late} requests later than a second after": struck.late > 0,
        f"{struck.left} processes left": struck.left > 0,
    }
    return [f"{struck.sent.name} at {struck.at}: {words}" for words, is_wrong in complaints.items() if is_wrong]


_NAIVE = "import time; print('there', flush=True); time.sleep(60)"


def run_without_defence() -> MeasureResult:
    """A program that knows nothing of signals, and one that takes as long as its longest step."""
    naive = subprocess.Popen([sys.executable, "-c", _NAIVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert naive.stdout is not None
    naive.stdout.readline()
    naive.send_signal(signal.SIGINT)
    struck = time.monotonic()
    _, log = naive.communicate()
    done = JobResult(naive.returncode, log.decode(), {}, "")
    ended = CancelledRun("a sleep", signal.SIGINT, time.monotonic() - struck, done, 0, 0, 0, 0)
    blocked = CancelledRun("two blocked nodes", signal.SIGINT, 25.0, done, 0, 0, 0, 0)
    return MeasureResult(2, [*find_problems(ended), *find_problems(blocked)])


MEASURE = Measure(
    "Seconds to cancel",
    "at most 5 s",
    "The whole program with a model, embeddings and a search, and SIGINT or SIGTERM at each of its requests, answered "
    "or hanging like all that follow, and at moments chosen by chance; it must end in time with a page, outputs, its "
    "exit code, one comment at most, nothing asked later than a second after, and no process left.",
    run,
    run_without_defence,
)
