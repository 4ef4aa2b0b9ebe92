"""A job that is killed and started again: it asks only what was not answered, and comments once."""

import json
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.runs.external_services import ExternalServices, serve_all
from testing.runs.job import Job, JobResult

PARALLEL_REQUESTS = [
    {"model look up", "model CodebaseFinding", "search", "model choose", "model WebSearchFinding"},
]
KILLED_AT = ["model InvestigatorFinding", "search", "POST comments"]
"""The request during which the process is killed."""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[tuple[ExternalServices, Job]]:
    with serve_all(tmp_path) as (services, job):
        job.inputs["cache-dir"] = str(tmp_path / "cache")
        yield services, job


def count_paid_requests(services: ExternalServices) -> Counter[str]:
    """How often each question to a model or a search was asked."""
    return Counter(request.what for request in services.requests if request.what.startswith(("model ", "search")))


def run_until_killed(request: str, services: ExternalServices, job: Job) -> JobResult:
    """A run that is killed when this request comes in; the request is not answered."""
    running = job.start_forked()

    def kill(_: int, what: str) -> None:
        if re.sub(r"/repos/\S*/", "", what) == request:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()

    services.on_request = kill
    killed = job.wait(running)
    services.on_request = lambda number, what: None
    assert killed.exit_code == -signal.SIGKILL, killed.log
    return killed


@pytest.mark.parametrize("request_name", KILLED_AT)
def test_a_killed_job_that_starts_again_pays_no_model_twice(request_name: str, scene: tuple[ExternalServices, Job]):
    services, job = scene
    run_until_killed(request_name, services, job)
    before = count_paid_requests(services)
    done = job.run_forked()

    assert done.exit_code == 0, done.log
    assert done.outputs["status"] == "complete", done.log
    asked_again = {question for question, times in count_paid_requests(services).items() if times > 1} - {"search"}
    in_flight = {request_name}.union(*(group for group in PARALLEL_REQUESTS if request_name in group))
    assert asked_again <= in_flight
    assert len(services.comments) == 1

    report = json.loads((job.workspace / ".triage" / "report.json").read_text())
    calls = [call for step in report["steps"] for call in step["calls"]]
    assert report["reused"]["calls"] == sum(call["replayed"] for call in calls)
    for unit in ("input_tokens", "output_tokens", "calls"):
        assert report["usage"][unit] == sum(step["usage"][unit] for step in report["steps"]), "only what this run paid"
        assert report["usage"][unit] + report["reused"][unit] == sum(call["usage"][unit] for call in calls)
    answered = sum(times for what, times in before.items() if what.startswith("model ") and what not in in_flight)
    assert report["reused"]["calls"] >= answered
    assert ("reused from the cache" in done.summary) == bool(report["reused"]["calls"])
