"""A job that is killed and started again: it goes on, asks no answered question twice, and comments once."""

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

SIDE_BY_SIDE = [
    {"model TriageReport", "model words", "model ticket"},
    {"model look up", "model CodebaseFinding", "search", "model choose", "model WebSearchFinding"},
]
KILLED_AT = ["model InvestigatorFinding", "model CodebaseFinding", "search", "model TriageReport", "POST comments"]
"""What is asked when the process is killed; `bench/resume.py` tries every request."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[ExternalServices, Job]]:
    with serve_all(tmp_path) as (outside, job):
        job.inputs["cache-dir"] = str(tmp_path / "cache")
        yield outside, job


def paid(outside: ExternalServices) -> Counter[str]:
    """How often each question to a model or a search was asked."""
    return Counter(asked.what for asked in outside.requests if asked.what.startswith(("model ", "search")))


def killed_at(what: str, outside: ExternalServices, job: Job) -> JobResult:
    """A run that is killed, and not asked, when this request comes in."""
    running = job.start_here()

    def kill(_: int, asked: str) -> None:
        if re.sub(r"/repos/\S*/", "", asked) == what:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()

    outside.on_request = kill
    ended = job.wait(running)
    outside.on_request = lambda number, asked: None
    assert ended.exit_code == -signal.SIGKILL, ended.log
    return ended


@pytest.mark.parametrize("what", KILLED_AT)
def test_a_killed_job_goes_on_and_pays_no_answer_twice(what: str, place: tuple[ExternalServices, Job]):
    outside, job = place
    killed_at(what, outside, job)
    done = job.run_here()

    assert done.exit_code == 0, done.log
    assert done.outputs["status"] == "complete", done.log
    again = {question for question, times in paid(outside).items() if times > 1}
    in_flight = {what}.union(*(beside for beside in SIDE_BY_SIDE if what in beside))
    assert again <= in_flight
    assert len(outside.comments) == 1
    report = json.loads((job.workspace / ".triage" / "report.json").read_text())
    counted = [step["usage"] for step in report["steps"]]
    for unit in ("input_tokens", "output_tokens", "calls"):
        assert report["usage"][unit] == sum(usage[unit] for usage in counted), "nothing is counted twice, or not at all"
    if what != "POST comments":
        assert "goes on after decision" in done.log
