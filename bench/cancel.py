"""How long a cancelled run takes to end, and what it leaves, wherever the signal strikes."""

import argparse
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.made_up import make_tree
from tests.e2e.job import Finished, Job
from tests.e2e.outside import FOR_EVER, Outside, left_running, serving

COLUMNS = ("signal at", "signal", "seconds", "exit", "status", "page", "comment", "asked on", "late", "left", "trace")
LATE_SECONDS = 1.0
"""After the signal; what does not publish must not be asked any more."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE_SECONDS = 30.0


@dataclass
class Struck:
    """One run that got a signal."""

    at: str
    sent: signal.Signals
    seconds: float
    done: Finished
    comments: int
    asked_on: int
    late: int
    left: int

    def row(self) -> list[str]:
        said = {"This report is partial": "partial report", "triage: not done": "one line", "": "report"}
        page = next(name for words, name in said.items() if words in self.done.summary) if self.done.summary else "none"
        trace = "yes" if "Traceback" in self.done.log else "no"
        status = self.done.outputs.get("status", "none")
        counts = [str(count) for count in (self.comments, self.asked_on, self.late, self.left)]
        code = str(self.done.exit_code)
        return [self.at, self.sent.name, f"{self.seconds:.2f}", code, status, page, *counts, trace]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=60, metavar="N", help="moments between start and end")
    parser.add_argument("--seed", type=int, default=4, help="of the moments")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="made-up files in the checkout")
    parser.add_argument("--no-requests", action="store_true", help="leave out the signals at each request")
    parser.add_argument("--image", help="run this image instead; the seconds include what the engine takes to end")
    parser.add_argument("--engine", default="docker", help="what runs the image: docker or podman")
    options = parser.parse_args()
    print(" | ".join(COLUMNS))
    print("|".join("---" for _ in COLUMNS))
    struck: list[Struck] = []
    bench = Bench(options.files, options.engine, options.image)
    for one in bench.runs(options.random, options.seed, at_requests=not options.no_requests):
        struck.append(one)
        print(" | ".join(one.row()), flush=True)
    seconds = sorted(one.seconds for one in struck if one.done.exit_code)
    print(
        f"\n{len(seconds)} signals: {seconds[len(seconds) // 2]:.2f} s in the middle, {seconds[-1]:.2f} s at most;",
        end=" ",
    )
    print(f"{len(struck) - len(seconds)} came too late")


@dataclass
class Bench:
    """Runs of one checkout, by this Python or in an image."""

    files: int
    engine: str
    image: str | None

    def runs(self, moments: int, seed: int, *, at_requests: bool) -> Iterator[Struck]:
        with self.scene() as (outside, job):
            began = time.monotonic()
            job.ended(self.start(job))
            whole = time.monotonic() - began
            asked = [request.what for request in outside.requests]
        print(f"(a run that nobody cancels takes {whole:.1f} s and makes {len(asked)} requests)", flush=True)
        for number, what in enumerate(asked, 1) if at_requests else ():
            for hangs in (False, True):
                at = f"{number} {what.replace('/repos/octo/shop', '')}{', which hangs' if hangs else ''}"
                yield self.at_request(number, SIGNALS[number % 2], at, hangs=hangs)
        chance = random.Random(seed)
        for _ in range(moments):
            yield self.at_moment(chance.uniform(0, whole), chance.choice(SIGNALS))

    @contextmanager
    def scene(self) -> Iterator[tuple[Outside, Job]]:
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (outside, job):
            if self.files:
                make_tree(job.workspace, self.files)
                job.commit()
            yield outside, job

    def start(self, job: Job) -> "subprocess.Popen[bytes]":
        return job.start_in(self.engine, self.image) if self.image else job.start_here()

    def at_request(self, number: int, sent: signal.Signals, at: str, *, hangs: bool) -> Struck:
        with self.scene() as (outside, job):
            there = threading.Event()
            outside.noticed = lambda count, _: there.set() if count == number else None
            if hangs:
                outside.answers_after = lambda count, _: FOR_EVER if count >= number else 0.0
            return self.cancelled(job, outside, at, sent, lambda: there.wait(PATIENCE_SECONDS))

    def at_moment(self, seconds: float, sent: signal.Signals) -> Struck:
        with self.scene() as (outside, job):
            return self.cancelled(job, outside, f"{seconds:.2f} s", sent, lambda: time.sleep(seconds))

    def cancelled(
        self, job: Job, outside: Outside, at: str, sent: signal.Signals, wait: Callable[[], object]
    ) -> Struck:
        running = self.start(job)
        wait()
        if self.image:
            job.signal_in(self.engine, sent, running)
        else:
            running.send_signal(sent)
        struck = time.monotonic()
        try:
            running.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            at += ", killed"
        seconds = time.monotonic() - struck
        left = len(left_running(running.pid))
        running.kill()
        done = job.ended(running)
        after = [asked for asked in outside.requests if asked.at > struck and not asked.publishes]
        late = [asked for asked in after if asked.at > struck + LATE_SECONDS]
        return Struck(at, sent, seconds, done, len(outside.comments), len(after), len(late), left)


if __name__ == "__main__":
    main()
