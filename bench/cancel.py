"""How long a cancelled run takes to end, and what it leaves, wherever the signal strikes."""

import argparse
import random
from collections.abc import Iterator

from bench.made_up import make_tree
from testing.runs.cancelled_run import SIGNALS, Cancellations, CancelledRun
from testing.runs.job import Job

COLUMNS = ("signal at", "signal", "seconds", "exit", "status", "page", "comment", "asked on", "late", "left", "trace")


def row(struck: CancelledRun) -> list[str]:
    done = struck.done
    status = done.outputs.get("status", "none")
    counts = [str(count) for count in (struck.comments, struck.asked_on, struck.late, struck.left)]
    seen = [struck.at, struck.sent.name, f"{struck.seconds:.2f}", str(done.exit_code), status, struck.page, *counts]
    return [*seen, "yes" if struck.has_traceback else "no"]


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
    struck: list[CancelledRun] = []

    def made_up(job: Job) -> None:
        if options.files:
            make_tree(job.workspace, options.files)
            job.commit()

    strikes = Cancellations(made_up, options.engine, options.image)
    for one in runs(strikes, options.random, options.seed, at_requests=not options.no_requests):
        struck.append(one)
        print(" | ".join(row(one)), flush=True)
    seconds = sorted(one.seconds for one in struck if not one.finished_normally)
    print(
        f"\n{len(seconds)} signals: {seconds[len(seconds) // 2]:.2f} s in the middle, {seconds[-1]:.2f} s at most;",
        end=" ",
    )
    print(f"{len(struck) - len(seconds)} came too late")


def runs(strikes: Cancellations, moments: int, seed: int, *, at_requests: bool) -> Iterator[CancelledRun]:
    whole, asked = strikes.run_to_end()
    print(f"(a run that nobody cancels takes {whole:.1f} s and makes {len(asked)} requests)", flush=True)
    for number, what in enumerate(asked, 1) if at_requests else ():
        for hangs in (False, True):
            yield strikes.cancel_at_request(number, what, hangs=hangs)
    chance = random.Random(seed)
    for _ in range(moments):
        yield strikes.cancel_after(chance.uniform(0, whole), chance.choice(SIGNALS))


if __name__ == "__main__":
    main()
