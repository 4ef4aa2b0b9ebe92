"""`.github/workflows/backlog.yml`: which job may do what, and that each gets what the one before it hands on."""

from typing import Any

from tests.docs_pages import load_workflow
from tests.docs_yaml import ROOT
from triage.app.settings.inputs import Settings
from triage.backlog.backlog_files import BATCH_SECONDS

JOBS: dict[str, Any] = load_workflow(ROOT / ".github/workflows/backlog.yml")["jobs"]


def find_steps(job: str, used: str) -> list[dict[str, Any]]:
    return [step["with"] for step in JOBS[job]["steps"] if step.get("uses", "").startswith(used)]


def test_each_job_does_its_part_and_writes_to_no_issue() -> None:
    assert {name: find_steps(name, "$/container")[0]["task"] for name in JOBS} == {
        name: f"backlog-{name}" for name in JOBS
    }
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "list": {"contents": "read", "issues": "read"},
        "run": {"contents": "read"},
        "merge": {"contents": "read"},
    }


def test_files_of_the_artifacts_are_those_that_the_jobs_read() -> None:
    uploads = {given["name"]: given for job in JOBS for given in find_steps(job, "actions/upload-artifact")}
    assert all(given["include-hidden-files"] for given in uploads.values()), "the folder's name begins with a dot"
    assert {name: given["path"] for name, given in uploads.items()} == {
        "backlog-list": ".triage/backlog.json",
        "backlog-results-${{ matrix.batch }}": ".triage/backlog-*.json",
        "table": ".triage/backlog.md",
    }
    downloads = [given for job in ("run", "merge") for given in find_steps(job, "actions/download-artifact")]
    assert {given["path"] for given in downloads} == {".triage"}
    assert downloads[-1]["pattern"] == "backlog-*"


def test_a_batch_ends_by_itself_before_its_job_is_killed() -> None:
    seconds = JOBS["run"]["timeout-minutes"] * 60
    assert seconds >= BATCH_SECONDS + Settings().limits().run_seconds + 300, "time for the checkout"
