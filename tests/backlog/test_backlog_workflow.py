"""`.github/workflows/backlog.yml`: which job may do what, and that each gets what the one before it hands on."""

import re
from typing import Any

import yaml

from tests.docs_pages import load_manifest, load_workflow
from tests.docs_yaml import ROOT
from triage.app.settings import Settings
from triage.backlog.backlog import DEFAULT_BATCH_SECONDS, MAX_COMMENTS

EXAMPLE = (ROOT / "examples/workflows/backlog.yml").read_text(encoding="utf-8")
TEXT = (ROOT / ".github/workflows/backlog.yml").read_text(encoding="utf-8")
WORKFLOW = load_workflow(ROOT / ".github/workflows/backlog.yml")
JOBS: dict[str, Any] = WORKFLOW["jobs"]


def find_steps(job: str, used: str) -> list[dict[str, Any]]:
    return [step for step in JOBS[job]["steps"] if step.get("uses", "").startswith(used)]


def ours(job: str) -> dict[str, Any]:
    (found,) = find_steps(job, "./.bug-triage")
    return dict(found)


def test_what_each_job_may_do() -> None:
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "list": {"contents": "read", "issues": "read"},
        "run": {"contents": "read"},
        "merge": {"contents": "read", "issues": "write"},
    }


def test_each_job_does_its_part() -> None:
    assert {name: ours(name)["with"]["task"] for name in JOBS} == {name: f"backlog-{name}" for name in JOBS}
    assert ours("run")["with"]["backlog-batch"] == "${{ matrix.batch }}"


def test_nothing_is_written_to_issues_unless_the_maintainer_changes_it() -> None:
    assert ours("merge")["with"]["backlog-comments"] == "${{ inputs.backlog-comments }}"
    assert WORKFLOW["on"]["workflow_call"]["inputs"]["backlog-comments"]["default"] == ""
    assert Settings().backlog_comments == 0
    assert yaml.safe_load(EXAMPLE)["jobs"]["backlog"]["with"]["backlog-comments"] == "0"


def test_inputs_and_outputs_exist() -> None:
    manifest = load_manifest()
    for name in JOBS:
        assert set(ours(name)["with"]) <= set(manifest["inputs"])
    assert set(re.findall(r"steps\.list\.outputs\.([\w-]+)", TEXT)) <= set(manifest["outputs"])
    assert set(re.findall(r"needs\.list\.outputs\.([\w-]+)", TEXT)) <= set(JOBS["list"]["outputs"])


def test_files_of_the_artifacts_are_those_that_the_jobs_read() -> None:
    uploads = {
        step["with"]["name"]: step["with"] for job in JOBS for step in find_steps(job, "actions/upload-artifact")
    }
    assert all(given["include-hidden-files"] for given in uploads.values()), "the folder's name begins with a dot"
    assert uploads["backlog-list"]["path"] == ".triage/backlog"
    assert uploads["backlog-results-${{ matrix.batch }}"]["path"] == ".triage/backlog/results-*.jsonl"
    downloads = [step["with"] for job in ("run", "merge") for step in find_steps(job, "actions/download-artifact")]
    assert {given["path"] for given in downloads} == {".triage/backlog"}
    assert downloads[-1]["pattern"] == "backlog-*"
    assert not [name for name in uploads if name not in ("table",) and not name.startswith("backlog-")]


def test_a_batch_ends_by_itself_before_its_job_is_killed() -> None:
    seconds = JOBS["run"]["timeout-minutes"] * 60
    assert seconds >= DEFAULT_BATCH_SECONDS + Settings().limits().run_seconds + 300, (
        "time for the checkout and the index"
    )


def test_defaults_of_the_inputs_are_those_of_the_commands() -> None:
    settings = Settings()
    assert settings.backlog_batch_seconds == DEFAULT_BATCH_SECONDS
    assert f"at most {MAX_COMMENTS}" in EXAMPLE
