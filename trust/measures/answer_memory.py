"""Whole runs against services whose answers do not end: how much memory the process takes at most."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.servers.endless_body import EndlessBody
from testing.servers.scripted_server import ScriptedReply, serve_script
from trust.measure import Measure, MeasureResult, sample_evenly
from trust.process_memory import wait_and_measure_peak

MAX_MEGABYTES = 400
NAIVE_CLIENT = "import requests, sys; requests.post(sys.argv[1], json={}).content"


@dataclass(frozen=True)
class Case:
    name: str
    inject: Callable[[InProcessJob, EndlessBody], None]
    gzipped: bool = False


def _service(name: str) -> Callable[[InProcessJob, EndlessBody], None]:
    def inject(job: InProcessJob, body: EndlessBody) -> None:
        setattr(job, name, lambda _: ScriptedReply(body))

    return inject


_PLAIN = [Case(f"the {name}", _service(name)) for name in ("model", "embeddings")]
CASES = [*_PLAIN, *(replace(case, name=f"{case.name}, compressed", gzipped=True) for case in _PLAIN)]


def run(share: float) -> MeasureResult:
    measured = {case.name: _measure(case) for case in sample_evenly(CASES, share)}
    return MeasureResult(len(measured), _list_failures(measured), f"{max(measured.values()):.0f} MB at most")


def _list_failures(measured: dict[str, float]) -> list[str]:
    return [f"{name}: {megabytes:.0f} MB" for name, megabytes in measured.items() if megabytes > MAX_MEGABYTES]


def _measure(case: Case) -> float:
    with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as job:
        job.job.inputs |= {
            "embedding-model": "text-embedding-3-small",
            "timeout-seconds": "60",
        }
        case.inject(job, EndlessBody(gzipped=case.gzipped))
        return wait_and_measure_peak(job.job.start_here())


def run_without_defence() -> MeasureResult:
    """A client that reads an answer to its end."""
    with serve_script([ScriptedReply(EndlessBody(gzipped=True, max_bytes=300_000_000))]) as server:
        process = subprocess.Popen([sys.executable, "-c", NAIVE_CLIENT, server.url])
        measured = {"a client without a limit": wait_and_measure_peak(process)}
    return MeasureResult(len(measured), _list_failures(measured))


MEASURE = Measure(
    "Memory under endless answers",
    f"at most {MAX_MEGABYTES} MB",
    "A service sends JSON without end, as it is or compressed. The operating system counts the memory of the run.",
    run,
    run_without_defence,
)
