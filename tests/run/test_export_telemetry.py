"""Telling what a run did costs seconds at most and breaks nothing."""

import asyncio
import threading
import time

import pytest

from testing.fakes import FakeCodebase, FakeProgressLog, FakeTelemetry, fake_services
from tests.run.run_harness import OPENED, RunHarness
from tests.say.sample_reports import FULL
from triage.base.errors import PermissionMissing
from triage.domain.run import Status
from triage.run.job_context import export_telemetry


def export_lines(telemetry: FakeTelemetry, *, cancelled: bool = False) -> list[str]:
    """What the journal says."""
    given, stop = fake_services(export_report=telemetry.export), asyncio.Event()
    if cancelled:
        stop.set()
    asyncio.run(export_telemetry(FULL, given, stop))
    progress = given.progress
    assert isinstance(progress, FakeProgressLog)
    return progress.lines


def test_a_run_is_told_after_it_was_published_with_how_that_ended():
    harness = RunHarness()
    published: list[int] = []
    telemetry = FakeTelemetry(lambda: published.append(len(harness.output.summaries)))
    harness.services = fake_services(codebase=FakeCodebase({"a.py": "x"}), export_report=telemetry.export)
    harness.github.errors = {"post_comment": PermissionMissing("issues: write")}
    assert harness.run(OPENED) is Status.FAILED
    assert published == [1]
    assert [report.status for report in telemetry.reports] == [Status.FAILED]


def test_a_bug_in_it_is_a_line():
    def explode() -> None:
        raise ZeroDivisionError("words from outside")

    assert export_lines(FakeTelemetry(explode)) == ["Telemetry not sent: ZeroDivisionError."]


@pytest.mark.parametrize("cancelled", [False, True])
def test_one_that_never_ends_is_left(cancelled: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.run.job_context.MAX_EXPORT_SECONDS", 0.05)
    monkeypatch.setattr("triage.run.job_context.MAX_SECONDS_AFTER_SIGNAL", 0.05)
    released = threading.Event()

    def wait() -> None:
        released.wait(60)

    try:
        (line,) = export_lines(FakeTelemetry(wait), cancelled=cancelled)
    finally:
        released.set()
    assert line == "Telemetry not sent: the collector takes too long."


def test_a_cancelled_run_is_told_when_there_is_time():
    telemetry = FakeTelemetry(lambda: time.sleep(0.1))
    assert export_lines(telemetry, cancelled=True) == []
    assert telemetry.reports == [FULL]
