"""Faults of the machine that a run must survive, by name."""

import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from testing.faults.service_faults import BY_RULES, Fault
from testing.runs.in_process_job import InProcessJob


def _machine(name: str, inject: Callable[[InProcessJob], None], message: str, status: str = "complete") -> Fault:
    return Fault(
        name, inject, message, status, reported_in="log", inputs=BY_RULES | {"timeout_seconds": "60"}, max_requests=0
    )


def _full(variable: str) -> Callable[[InProcessJob], None]:
    def inject(harness: InProcessJob) -> None:
        harness.job.variables[variable] = "/dev/full"

    return inject


def _fill_disk(harness: InProcessJob) -> None:
    harness.context = no_disk_space


@contextmanager
def no_disk_space() -> Iterator[None]:
    """Makes each write to a file fail, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _create_file_at_report_path(harness: InProcessJob) -> None:
    (harness.job.workspace / ".triage").write_text("a file", encoding="utf-8")


def _link_report_folder(harness: InProcessJob) -> None:
    (harness.job.workspace / ".triage").symlink_to(harness.job.folder / "home")


def _empty_workspace(harness: InProcessJob) -> None:
    shutil.rmtree(harness.job.workspace)
    harness.job.workspace.mkdir()


NOT_WRITTEN = "could not be written"
MACHINE_FAULTS = [
    _machine("a full disk under the outputs", _full("GITHUB_OUTPUT"), f"The outputs {NOT_WRITTEN}", "none"),
    _machine("a full disk under the page", _full("GITHUB_STEP_SUMMARY"), f"The summary {NOT_WRITTEN}"),
    replace(
        _machine("a full disk everywhere", _fill_disk, f".triage/report.json {NOT_WRITTEN}", "none"),
        names_suspect=False,  # git reads nothing without a file of its own
    ),
    _machine("a file where the report goes", _create_file_at_report_path, f".triage/report.json {NOT_WRITTEN}"),
    _machine("a link where the report goes", _link_report_folder, f".triage/report.json {NOT_WRITTEN}"),
    replace(_machine("no checkout", _empty_workspace, "actions/checkout", "degraded"), names_suspect=False),
]
