"""A job that is cancelled at any time leaves a report on the page, outputs, an exit code, and no process.

`make trust` cancels at each request and at random times, and measures the seconds.
"""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testing.runs.action_run import JobResult
from testing.runs.external_services import HANG_SECONDS, ExternalServices, find_session_processes, serve_all
from testing.runs.job import Job

WAIT_SECONDS = 60.0
SIDE_BY_SIDE = 2
"""Requests that may be in flight when the signal arrives: both searches ask at once."""


def is_comment(asked: str) -> bool:
    return asked.startswith("POST") and "comments" in asked


def until(holds: Callable[[], object]) -> None:
    latest = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < latest
        time.sleep(0.01)


@contextmanager
def pause(services: ExternalServices, matches: Callable[[str], bool]) -> Iterator[threading.Event]:
    """Leaves a request that matches without an answer until the block ends; the event says that it is there."""
    there, released = threading.Event(), threading.Event()

    def wait_if_it_matches(number: int, asked: str) -> None:
        if matches(asked):
            there.set()
            released.wait(WAIT_SECONDS)

    services.on_request = wait_if_it_matches
    try:
        yield there
    finally:
        released.set()


def cancel(
    job: Job,
    services: ExternalServices,
    when: Callable[[int], object],
) -> tuple[JobResult, int]:
    """Returns the cancelled run and the number of later requests. `when` gets the process id and waits."""
    running = job.start_forked()
    try:
        when(running.pid)
        before = len(services.requests)
        running.send_signal(signal.SIGTERM)
        running.wait(WAIT_SECONDS)
        until(lambda: not find_session_processes(running.pid))
    finally:
        done = job.wait(running)
    return done, len([asked for asked in services.requests[before:] if not asked.is_publishing])


def check(job: Job, done: JobResult, code: int, services: ExternalServices) -> None:
    """Asserts what holds for every cancelled run."""
    assert done.exit_code == code, done.log
    assert "cancelled" in done.summary
    assert done.outputs["status"] == "degraded"
    assert "Traceback (most recent call last)" not in done.log
    assert len(services.github.comments) <= 1
    if done.outputs["report-file"]:
        json.loads((job.workspace / done.outputs["report-file"]).read_text(encoding="utf-8"))


def test_a_run_cancelled_at_a_request_leaves_a_partial_report_on_its_page(tmp_path: Path):
    with serve_all(tmp_path / "job") as (services, job):
        with pause(services, lambda asked: asked == "model CritiqueFinding") as there:
            done, later_requests = cancel(job, services, lambda _: there.wait(WAIT_SECONDS))
        check(job, done, 143, services)
        assert later_requests <= SIDE_BY_SIDE
        assert services.github.comments == []
        assert "The run was cancelled" in done.summary


@pytest.mark.parametrize("answers", [True, False], ids=["that arrives", "that hangs"])
def test_a_run_cancelled_while_it_comments_leaves_one_comment_or_none(tmp_path: Path, answers: bool):
    """A second signal, as the runner sends it, changes nothing."""
    with serve_all(tmp_path / "job") as (services, job):
        services.delay_for = lambda number, asked: 0.0 if answers or not is_comment(asked) else HANG_SECONDS
        with pause(services, is_comment) as there:
            running = job.start_forked()
            assert there.wait(WAIT_SECONDS)
            running.send_signal(signal.SIGINT)
            time.sleep(0.05)  # Of two pending signals, the later one is handled first.
            running.send_signal(signal.SIGTERM)
        done = job.wait(running, WAIT_SECONDS)
    assert done.exit_code == 130, done.log
    assert "basket.py" in done.summary
    assert len(services.github.comments) == answers
    assert bool(done.outputs["comment-url"]) == answers
    assert done.outputs["status"] == ("complete" if answers else "degraded")
    assert ("may or may not be there" in done.summary) != answers


def test_a_run_cancelled_while_it_indexes_leaves_no_process(tmp_path: Path):
    with serve_all(tmp_path / "job") as (services, job):
        for number in range(400):
            text = "".join(f"def price_{number}_{line}(basket):\n    return basket[{line}]\n" for line in range(200))
            (job.workspace / f"prices_{number}.py").write_text(text, encoding="utf-8")
        job.commit()
        job.inputs["engine"] = "rules"

        def indexing(process: int) -> None:
            """Waits until the process has a worker and git."""
            until(
                lambda: (
                    "read_and_index started" in job.log.read_text(encoding="utf-8")
                    and len(find_session_processes(process)) > 2
                )
            )

        done, later_requests = cancel(job, services, indexing)
        check(job, done, 143, services)
        assert later_requests == 0
        assert services.github.comments == []
