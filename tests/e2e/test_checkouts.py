"""Odd checkouts through the whole action: what is told, what is written, and that nothing runs but git."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, write
from testing.checkouts.hostile_base import SOURCES
from testing.checkouts.hostile_names import odd_names
from testing.runner_grammar import parse_commands
from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.runs.job import Job
from testing.servers.github_api import serve_issue


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        yield Job(tmp_path, github)


def written(job: Job, done: JobResult) -> str:
    """Returns all output of a run."""
    report = job.workspace / ".triage" / "report.json"
    told = report.read_text(encoding="utf-8") if report.is_file() else ""
    comments = [comment["body"] for comment in job.github.comments]
    return "\n".join([done.log, done.summary, *done.outputs.values(), *comments, told])


def test_a_checkout_with_a_path_is_read_and_named_in_the_log(job: Job):
    write(job.workspace / "code", SOURCES)
    commit(job.workspace / "code")
    done = job.run_forked()
    assert done.outputs["status"] == "complete", done.log
    assert "The repository is read in code/, below the workspace." in done.log
    assert "/shop/basket.py#L" in job.github.comments[0]["body"]
    assert (job.workspace / ".triage/report.json").is_file()
    assert not (job.workspace / "code/.triage").exists()


def test_file_names_are_inert_everywhere(job: Job):
    odd_names(job.workspace)
    job.github.issues[7]["body"] += "It happens in `basket.py`, `red`, `link`, `width.py`, `line.py` and `tag.py` too."
    done = job.run_forked()
    assert done.exit_code == 0, done.log
    (comment,) = job.github.comments
    everything = written(job, done)
    assert {command.name for command in parse_commands(done.log)} <= {
        "group",
        "endgroup",
        "add-mask",
        "warning",
        "notice",
    }
    for odd in ("\x1b", "\u202e", "\u200b", "\U000e0041", "\x07"):
        assert odd not in done.log + done.summary + comment["body"] + done.outputs["suspect-files"]
    links = re.findall(r"https://github\.com/octo/shop/blob/[^\s)\"]+", comment["body"] + done.summary)
    assert links
    assert all(re.fullmatch(r"[A-Za-z0-9_./:%~#?=-]+", link) and "/../" not in link for link in links)
    assert all(isinstance(path, str) for path in json.loads(done.outputs["suspect-files"]))
    assert "Traceback (most recent call last)" not in everything.replace(sample_bug.BODY, "")
