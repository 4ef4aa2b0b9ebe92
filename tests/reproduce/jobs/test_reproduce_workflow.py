"""`.github/workflows/reproduce.yml` and its caller: which job may do what, and that each gets what the one before has."""

import re
from pathlib import Path
from typing import Any

import yaml

from triage.reproduce.jobs.execute_job import MAX_SECONDS
from triage.reproduce.jobs.handover import EVIDENCE, SELECTION
from triage.reproduce.run_example import RUN_SECONDS

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / ".github/workflows/reproduce.yml").read_text(encoding="utf-8")
WORKFLOW: dict[str, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, Any] = WORKFLOW["jobs"]
CALLER: dict[Any, Any] = yaml.safe_load((ROOT / "examples/workflows/reproduce.yml").read_text(encoding="utf-8"))


def find_steps(job: str, used: str) -> list[dict[str, Any]]:
    return [step for step in JOBS[job]["steps"] if step.get("uses", "").startswith(used)]


def ours(job: str) -> dict[str, Any]:
    (found,) = find_steps(job, "$/")
    return dict(found)


def test_what_each_job_may_do() -> None:
    assert WORKFLOW["permissions"] == CALLER["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "select": {"contents": "read", "issues": "read"},
        "run": {"contents": "read"},
        "report": {"contents": "read", "issues": "write"},
    }
    assert CALLER["jobs"]["reproduce"]["permissions"] == JOBS["report"]["permissions"], "a call cannot have more"


def test_the_job_with_strangers_code_has_no_secret_and_leaves_one_file() -> None:
    assert "secrets" not in TEXT
    assert "secrets" not in CALLER["jobs"]["reproduce"]
    assert "outputs" not in JOBS["run"]
    assert [step["with"]["path"] for step in find_steps("run", "actions/upload-artifact")] == [f".triage/{EVIDENCE}"]
    assert not re.search(r"cache|github\.token|GITHUB_TOKEN", TEXT)


def test_each_job_does_its_part() -> None:
    assert {name: ours(name)["with"]["task"] for name in JOBS} == {name: f"reproduce-{name}" for name in JOBS}
    assert ours("run")["uses"] == "$/composite", "in our own container there is no Docker"


def test_versions_and_the_default_branch_are_there() -> None:
    for name in JOBS:
        (checkout,) = find_steps(name, "actions/checkout")
        assert checkout["with"] == {
            "ref": "${{ github.event.repository.default_branch }}",
            "fetch-depth": 0,
            "persist-credentials": False,
        }


def test_the_files_are_handed_on() -> None:
    (selection,) = find_steps("select", "actions/upload-artifact")
    assert selection["with"]["path"] == f".triage/{SELECTION}"
    (taken,) = find_steps("run", "actions/download-artifact")
    assert taken["with"] == {"name": selection["with"]["name"], "path": ".triage"}
    (both,) = find_steps("report", "actions/download-artifact")
    assert both["with"]["path"] == ".triage"
    assert both["continue-on-error"] is True
    digest = JOBS["select"]["outputs"]["selection"]
    assert digest == "${{ steps.triage.outputs.reproduce-selection }}"
    assert ours("report")["with"]["selection"] == "${{ needs.select.outputs.selection }}"


def test_what_was_found_is_uploaded_when_time_is_up() -> None:
    (upload,) = find_steps("run", "actions/upload-artifact")
    assert upload["if"] == "always()", "`!cancelled()` is false after a time limit"
    assert MAX_SECONDS + 2 * RUN_SECONDS < ours("run")["timeout-minutes"] * 60 < JOBS["run"]["timeout-minutes"] * 60


def test_jobs_that_write_wait_for_each_other_and_none_is_dropped() -> None:
    assert JOBS["report"]["concurrency"] == {"group": "reproduce-report", "queue": "max"}


def test_no_job_follows_without_a_task() -> None:
    assert JOBS["run"]["if"] == "needs.select.outputs.next == 'run'"
    assert "needs.select.outputs.next != ''" in JOBS["report"]["if"]


def test_nobody_can_drop_the_command_of_somebody_else() -> None:
    group = "reproduce-${{ github.event.issue.number || inputs.issue-number }}-${{ github.actor }}"
    assert WORKFLOW["concurrency"] == {"group": group, "cancel-in-progress": False, "queue": "max"}
