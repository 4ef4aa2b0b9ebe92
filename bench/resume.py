"""A job killed at each request that it makes, and started again: what was asked twice, and how often it commented."""

import os
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testing.runs.external_services import ExternalServices, serve_all
from testing.runs.job import Job

COLUMNS = ("killed at", "status", "asked again", "comments")


def main() -> None:
    print(" | ".join(COLUMNS))
    print("|".join("---" for _ in COLUMNS))
    with scene() as (outside, job):
        job.wait(job.start_here())
        asked = [request.what for request in outside.requests]
    for number, what in enumerate(asked, 1):
        print(" | ".join([f"{number} {what}", *killed_at(number, paid(asked))]), flush=True)


def paid(asked: list[str]) -> Counter[str]:
    return Counter(what for what in asked if what.startswith(("model", "search", "embeddings")))


@contextmanager
def scene() -> Iterator[tuple[ExternalServices, Job]]:
    with tempfile.TemporaryDirectory() as folder, serve_all(Path(folder)) as (outside, job):
        job.inputs["cache-dir"] = f"{folder}/cache"
        yield outside, job


def killed_at(number: int, usual: Counter[str]) -> tuple[str, str, str]:
    with scene() as (outside, job):
        running = job.start_here()

        def kill(count: int, _: str) -> None:
            if count == number:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()

        outside.on_request = kill
        job.wait(running)
        outside.on_request = lambda *_: None
        (job.folder / "temp" / "output").write_text("")
        try:
            done = job.wait(job.start_here())
        except subprocess.TimeoutExpired:
            return "hung", "", ""
        again = ", ".join(paid([one.what for one in outside.requests]) - usual)
        return done.outputs.get("status", "none"), again or "nothing", str(len(outside.comments))


if __name__ == "__main__":
    main()
