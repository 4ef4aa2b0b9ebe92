"""The project's own settings in a whole job: the commit's count, and a broken file stops the run in plain words."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.checkouts.git_repositories import commit
from testing.runner_grammar import RunnerCommand, parse_commands
from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.runs.job import Job
from testing.servers.github_api import serve_issue

PATH = ".github/triage.yml"
OWN = """\
ignore: [old/]
labels: {allow: [crash]}
opt-in-label: triage
opt-out-label: no-triage
owners: {acme/core: octocat}
"""
CONTRADICTION = """\
ignore: [shop/]
labels: {allow: [bug]}
opt-out-label: triage
owners: {acme/core: mallory}
"""


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    body = sample_bug.BODY.replace("crashes", "crashes the whole program, a crash")
    with serve_issue("crash: KeyError when the basket is empty", body) as github:
        github.labels = ["bug", "crash", "triage"]
        github.issues[7]["labels"] = [{"name": "triage"}]
        yield Job(tmp_path, github)


def checkout(job: Job, committed: str, lying_about: str) -> None:
    sample_bug.write_plain_checkout(job.workspace)
    commit(job.workspace, {"old/basket.py": sample_bug.BASKET, "CODEOWNERS": "* @acme/core\n", PATH: committed})
    (job.workspace / PATH).write_text(lying_about, encoding="utf-8")


def event(job: Job, **changes: Any) -> None:
    told = {**job.github.opened_event(), **changes}
    (job.folder / "temp" / "event.json").write_text(json.dumps(told), encoding="utf-8")


def suspects(done: JobResult) -> list[str]:
    found: list[str] = json.loads(done.outputs["suspect-files"])
    return found


def test_the_commits_settings_count_and_not_the_work_trees(job: Job):
    checkout(job, OWN, CONTRADICTION)
    event(job)
    done = job.run_forked()
    assert (done.exit_code, done.outputs["status"]) == (0, "complete"), done.log
    assert suspects(done) == ["shop/basket.py"]
    assert json.loads(done.outputs["ticket-labels"]) == ["crash"]
    assert done.outputs["ticket-assignee"] == "octocat"
    report = json.loads((job.workspace / done.outputs["report-file"]).read_text(encoding="utf-8"))
    assert report["index"]["left_out"] == {"ignored by the project": 1}
    assert "@octocat" not in job.github.comments[0]["body"]


def test_a_broken_file_is_an_error_at_its_line(job: Job):
    checkout(job, "opt-in-label: triage\n\ningore: [docs]\n", OWN)
    event(job)
    done = job.run_forked()
    assert (done.exit_code, done.outputs["status"]) == (1, "failed"), done.log
    said = f"{PATH} cannot be used: line 3: 'ingore' is not a known key (did you mean ignore?)."
    where = {"file": PATH, "line": "3", "endLine": "3"}
    assert [command for command in parse_commands(done.log) if command.name == "error"] == [
        RunnerCommand("error", said, where)
    ]
    assert "line 3" in done.summary
    assert job.github.requests == []
