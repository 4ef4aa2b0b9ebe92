"""Measures how long a cancelled run takes to end and what it leaves, for signals at many moments."""

import argparse
import random
from collections.abc import Iterator

from bench.made_up import make_tree
from testing.runs.cancelled_run import SIGNALS, Cancellations, CancelledRun
from testing.runs.job import Job

COLUMNS = (
    "signal at",
    "signal",
    "seconds",
    "exit",
    "status",
    "page",
    "comment",
    "requests after",
    "late",
    "left",
    "trace",
)


def row(run: CancelledRun) -> list[str]:
    done = run.done
    status = done.outputs.get("status", "none")
    counts = [str(count) for count in (run.comments, run.requests_after, run.late, run.left)]
    cells = [run.at, run.sent.name, f"{run.seconds:.2f}", str(done.exit_code), status, run.page, *counts]
    return [*cells, "yes" if run.has_traceback else "no"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=60, metavar="N", help="moments between start and end")
    parser.add_argument("--seed", type=int, default=4, help="seed of the moments")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="made-up files in the checkout")
    parser.add_argument("--no-requests", action="store_true", help="leave out the signals at each request")
    parser.add_argument("--image", help="run this image instead; the seconds include the end of the engine")
    parser.add_argument("--engine", default="docker", help="what runs the image: docker or podman")
    options = parser.parse_args()
    print(" | ".join(COLUMNS))
    print("|".join("---" for _ in COLUMNS))
    cancelled: list[CancelledRun] = []

    def prepare(job: Job) -> None:
        if options.files:
            make_tree(job.workspace, options.files)
            job.commit()

    cancellations = Cancellations(prepare, options.engine, options.image)
    for one in runs(cancellations, options.random, options.seed, at_requests=not options.no_requests):
        cancelled.append(one)
        print(" | ".join(row(one)), flush=True)
    seconds = sorted(one.seconds for one in cancelled if not one.finished_normally)
    print(
        f"\n{len(seconds)} signals: {seconds[len(seconds) // 2]:.2f} s median, {seconds[-1]:.2f} s at most;",
        end=" ",
    )
    print(f"{len(cancelled) - len(seconds)} came too late")


def runs(cancellations: Cancellations, moments: int, seed: int, *, at_requests: bool) -> Iterator[CancelledRun]:
    seconds, requests = cancellations.run_to_end()
    print(f"(a run that nobody cancels takes {seconds:.1f} s and makes {len(requests)} requests)", flush=True)
    for number, request in enumerate(requests, 1) if at_requests else ():
        for hangs in (False, True):
            yield cancellations.cancel_at_request(number, request, hangs=hangs)
    chance = random.Random(seed)
    for _ in range(moments):
        yield cancellations.cancel_after(chance.uniform(0, seconds), chance.choice(SIGNALS))


if __name__ == "__main__":
    main()
