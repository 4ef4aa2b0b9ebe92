"""The same issue gives the same prompts in every process; otherwise no cached reply would be found."""

import json
from pathlib import Path
from typing import Any

from testing.runs.external_services import serve_all
from testing.runs.job import Job


def test_two_processes_ask_the_same_questions(tmp_path: Path):
    """Each has its own hash seed, ids and times."""
    asked: list[list[str]] = []
    with serve_all(tmp_path) as (services, job):
        job.inputs |= {"comment": "false", "supervisor": "model"}
        for _ in range(2):
            done = job.run_here()
            assert done.exit_code == 0, done.log
            asked.append(sorted(json.dumps(body) for body in services.request_bodies))
            services.request_bodies.clear()
    assert len(asked[0]) > 6
    assert asked[0] == asked[1]


def test_a_finished_run_is_not_paid_again(tmp_path: Path):
    """Its replies are cached for a week. They count against the caps as before, so every decision is the same.

    Only the search is made again: its pages are never cached.
    """
    with serve_all(tmp_path) as (services, job):
        cache = {"cache-dir": str(tmp_path / "cache"), "embedding-model": "local"}
        job.inputs |= {"comment": "false", "supervisor": "model", **cache}
        first = job.run_forked()
        assert first.exit_code == 0, first.log
        assert services.request_bodies
        first_usage = _read_report(job)["usage"]
        services.request_bodies.clear()
        (job.folder / "temp" / "output").write_text("")
        second = job.run_forked()
    assert [what for what, _ in services.request_bodies] == ["search"]
    assert second.outputs["status"] == first.outputs["status"], second.log
    assert (second.outputs["tokens"], float(second.outputs["cost-usd"])) == ("0", 0.0)
    assert _read_report(job)["reused"] == first_usage
    assert f"{first_usage['calls']} answers reused from the cache" in second.summary


def _read_report(job: Job) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((job.workspace / ".triage" / "report.json").read_text(encoding="utf-8"))
    return report
