"""A backlog from the list to the table, against a GitHub that fails now and then."""

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from testing.runs import external_services, sample_bug
from testing.runs.action_run import job_variables, run_on_event
from testing.runs.backlog_simulation import Backlog, simulate_backlog
from testing.runs.forked_process import ForkedProcess, run_command
from testing.servers.github_api import JOB_TOKEN, SLUG
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, serve_script


@pytest.fixture
def backlog(tmp_path: Path) -> Iterator[Backlog]:
    (tmp_path / "repo").mkdir()
    sample_bug.commit_plain_checkout(tmp_path / "repo")
    with simulate_backlog(tmp_path / "repo", tmp_path / "backlog") as running:
        yield running


def list_rows(page: str) -> list[int]:
    return sorted(int(number) for number in re.findall(r"^\| \[?(\d+)", page, re.M))


START = ("--github", SLUG, "--query", "is:open")


def test_every_issue_once_although_requests_fail(backlog: Backlog) -> None:
    backlog.fault_share = 0.05
    backlog.add_issues(21)
    assert list_rows(backlog.run(*START)) == list(range(1, 22))
    assert len(backlog.api.requests) < 30
    assert not backlog.api.comments
    assert not backlog.api.request_lines("PATCH")


def test_a_killed_backlog_goes_on_and_loses_nothing(backlog: Backlog) -> None:
    backlog.add_issues(7)
    words = ["backlog", str(backlog.folder), "--repo", str(backlog.repo), *START]
    nowhere = Path(os.devnull)
    reports = backlog.folder / ".triage" / "backlog-01.json"
    process = ForkedProcess(
        run_command, words, dict(os.environ) | backlog.environment, backlog.folder.parent, [nowhere] * 3
    )
    while not reports.exists() or len(json.loads(reports.read_text())) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    finished = json.loads(reports.read_text())
    assert 2 <= len(finished) < 7
    requests = len(backlog.api.requests)
    assert list_rows(backlog.run()) == list(range(1, 8))
    assert json.loads(reports.read_text())[: len(finished)] == finished, "each issue was triaged once"
    assert len(backlog.api.requests) == requests, "a batch asks GitHub nothing"


@pytest.mark.parametrize("words", [START, ("--query", "is:closed")])
def test_what_was_paid_for_is_not_listed_anew(backlog: Backlog, words: Sequence[str]) -> None:
    backlog.add_issues(2)
    backlog.run(*START)
    reports = (backlog.folder / ".triage" / "backlog-01.json").read_bytes()
    with pytest.raises(AssertionError, match="WrongUsage"):
        backlog.run(*words)
    assert (backlog.folder / ".triage" / "backlog-01.json").read_bytes() == reports


def test_a_batch_stays_within_its_cap(backlog: Backlog) -> None:
    backlog.add_issues(6)
    tokens: list[int] = []

    def reply(request: ReceivedRequest) -> ScriptedReply:
        found = external_services.default_reply(request)[1]
        if "messages" in request.body:
            usage = found.body["usage"] | {"prompt_tokens": 900, "completion_tokens": 300, "total_tokens": 1_200}
            found.body["usage"] = usage
            tokens.append(usage["total_tokens"])
        return found

    with serve_script(reply) as endpoint:
        model = {
            "TRIAGE_ENGINE": "model",
            "TRIAGE_MODEL_API_KEY": "sk-" + "y2" * 20,
            "TRIAGE_MODEL_BASE_URL": f"{endpoint.url}/v1",
            "TRIAGE_MAX_COST_USD": "0.002",
        }
        page = backlog.run(*START, **model)
    found = re.search(r"Models took ([\d,]+) tokens and ([\d.]+) US dollars\. Rules triaged (\d) issues?", page)
    assert found, page
    assert int(found[1].replace(",", "")) == sum(tokens) > 0
    assert float(found[2]) <= 0.002
    assert 0 < int(found[3]) < 6


class Job:
    """A job of the workflow: a fresh workspace, the files that were handed on, and one run of the action."""

    def __init__(self, backlog: Backlog, folder: Path) -> None:
        self.backlog, self.folder = backlog, folder
        self.workspace = folder / "workspace"
        self.files = self.workspace / ".triage"
        shutil.copytree(backlog.repo, self.workspace)

    def run(self, **inputs: str) -> str:
        """Returns the outputs, as they stand in the runner's file."""
        variables = job_variables(
            self.backlog.api.url, "workflow_dispatch", self.folder, self.workspace, github_token=JOB_TOKEN, **inputs
        )
        done = run_on_event(self.folder, {"inputs": {}}, variables)
        assert done.exit_code == 0, done.log
        return (self.folder / "output").read_text()


def test_the_jobs_of_the_workflow(backlog: Backlog, tmp_path: Path) -> None:
    backlog.add_issues(6)
    first = Job(backlog, tmp_path / "list")
    assert '{"batch": [1]}' in first.run(task="backlog-list", backlog_query="is:open")
    requests = len(backlog.api.requests)

    second = Job(backlog, tmp_path / "run")
    shutil.copytree(first.files, second.files)
    second.run(task="backlog-run", backlog_batch="1")

    third = Job(backlog, tmp_path / "merge")
    shutil.copytree(second.files, third.files)
    third.run(task="backlog-merge")
    summary = (third.folder / "summary").read_text()
    assert summary.startswith("## Backlog of `octo/shop`\n\n6 issues triaged")
    assert summary.strip() == (third.files / "backlog.md").read_text().strip()
    assert len(backlog.api.requests) == requests
    for batch in ("", "2"):
        with pytest.raises(AssertionError, match=r"backlog-batch: give the job|There is no batch 2"):
            second.run(task="backlog-run", backlog_batch=batch)
