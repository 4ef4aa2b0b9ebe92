"""Named faults of the model, the search, the embeddings, GitHub and the machine over real HTTP."""

import contextlib
import io
import json
import math
import traceback
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from testing.faults.github_faults import GITHUB_FAULTS
from testing.faults.machine_faults import MACHINE_FAULTS
from testing.faults.service_faults import (
    EMBEDDING_FAULTS,
    HARMLESS_MODEL_FAULTS,
    MODEL_FAULTS,
    SEARCH_FAULTS,
    Fault,
)
from testing.runs.action_run import JobResult
from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.servers.github_api import SLUG
from trust.measure import Measure, MeasureResult, sample_evenly

BY_SOURCE = {
    "model": [*MODEL_FAULTS, *HARMLESS_MODEL_FAULTS],
    "search": SEARCH_FAULTS,
    "embeddings": EMBEDDING_FAULTS,
    "GitHub": GITHUB_FAULTS,
    "machine": MACHINE_FAULTS,
}
UNHANDLED = [fault for fault in GITHUB_FAULTS if "writing" in fault.name][:3]


WITHOUT_DEFENCE: dict[str, tuple[str, Any]] = {
    "slower than a connection's own limit": (
        "triage.outside.model.endpoint.RetryPolicy.seconds_left",
        lambda _: math.inf,
    ),
    "a rate limit of the main model only": (
        "triage.outside.model.chat_model.ChatModel._order_models",
        lambda self, tier: [self.models[tier]],
    ),
}
"""By fault, a name in the program and what stands in for it."""


def run(share: float) -> MeasureResult:
    every = [(source, fault) for source, faults in BY_SOURCE.items() for fault in faults]
    tried = [(f"{source}: {fault.name}", _find_problems(fault)) for source, fault in sample_evenly(every, share)]
    failures = [f"{name}: {problem}" for name, problems in tried for problem in problems]
    survived = sum(not problems for _, problems in tried)
    return MeasureResult(len(tried), failures, f"{survived} of {len(tried)} survived")


def _find_problems(fault: Fault) -> list[str]:
    with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as job:
        return fault.find_problems(job)


def run_without_defence() -> MeasureResult:
    """A program that handles no fault, and the whole program without its defence against one.

    Returns no failure unless there is one in each case.
    """
    found: dict[str, list[str]] = {}
    for fault in UNHANDLED:
        with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as job:
            fault.inject(job)
            found[fault.name] = fault.check_run(job, _run_naively(job))
    for fault in HARMLESS_MODEL_FAULTS:
        with patch(*WITHOUT_DEFENCE[fault.name]):
            found[fault.name] = _find_problems(fault)
    failures = [f"{name}: {problem}" for name, problems in found.items() for problem in problems]
    return MeasureResult(len(found), failures if all(found.values()) else [])


def _run_naively(job: InProcessJob) -> JobResult:
    log = io.StringIO()
    url = f"{job.github.url}/repos/{SLUG}/issues/{7}/comments"
    with contextlib.redirect_stderr(log):
        try:
            urllib.request.urlopen(url, json.dumps({"body": "shop/basket.py"}).encode(), timeout=5).close()
        except OSError:
            traceback.print_exc()
            return JobResult(1, log.getvalue(), {}, "")
    return JobResult(0, log.getvalue(), {}, "")


MEASURE = Measure(
    "Named faults",
    "all survived",
    "A fault of the model, the search, GitHub or the disk: not the documented outcome, or no report.",
    run,
    run_without_defence,
)
