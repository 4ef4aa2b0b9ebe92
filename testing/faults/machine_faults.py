"""The faults of the machine that a run must survive, by name."""

import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from testing.faults.service_faults import BY_RULES, Fault
from testing.runs.in_process_job import InProcessJob


def _machine(name: str, provoke: Callable[[InProcessJob], None], words: str, status: str = "complete") -> Fault:
    return Fault(name, provoke, words, status, reported_in="log", inputs=BY_RULES, max_requests=0)


def _full(variable: str) -> Callable[[InProcessJob], None]:
    def provoke(place: InProcessJob) -> None:
        place.job.variables[variable] = "/dev/full"

    return provoke


def _no_room(place: InProcessJob) -> None:
    place.context = no_disk_space


@contextmanager
def no_disk_space() -> Iterator[None]:
    """No file takes a byte, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _in_the_way(place: InProcessJob) -> None:
    (place.job.workspace / ".triage").write_text("a file", encoding="utf-8")


def _linked(place: InProcessJob) -> None:
    (place.job.workspace / ".triage").symlink_to(place.job.folder / "home")


def _no_checkout(place: InProcessJob) -> None:
    shutil.rmtree(place.job.workspace)
    place.job.workspace.mkdir()


NOT_WRITTEN = "could not be written"
MACHINE_FAULTS = [
    _machine("a full disk under the outputs", _full("GITHUB_OUTPUT"), f"The outputs {NOT_WRITTEN}", "none"),
    _machine("a full disk under the page", _full("GITHUB_STEP_SUMMARY"), f"The summary {NOT_WRITTEN}"),
    _machine("a full disk everywhere", _no_room, f"The JSON report {NOT_WRITTEN}", "none"),
    _machine("a file where the report goes", _in_the_way, f"The JSON report {NOT_WRITTEN}"),
    _machine("a link where the report goes", _linked, f"The JSON report {NOT_WRITTEN}"),
    replace(_machine("no checkout", _no_checkout, "actions/checkout", "degraded"), names_suspect=False),
]
