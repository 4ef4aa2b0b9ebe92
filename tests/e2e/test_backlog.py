"""A backlog with the command line, from the list to the table, against a GitHub that fails now and then."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from testing.runs import external_services, sample_bug
from testing.runs.backlog_simulation import Backlog, simulate_backlog
from testing.runs.forked_process import ForkedProcess, run_command
from testing.servers.github_api import JOB_TOKEN
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, serve_script
from triage.action import main
from triage.comment.hidden_state import CommentState, render_state

COMMENT = re.compile(r"POST /repos/octo/shop/issues/\d+/comments")


@pytest.fixture
def backlog(tmp_path: Path) -> Iterator[Backlog]:
    (tmp_path / "repo").mkdir()
    sample_bug.write_plain_checkout(tmp_path / "repo")
    commit(tmp_path / "repo")
    with simulate_backlog(tmp_path / "repo", tmp_path / "backlog") as running:
        yield running


def read_csv(backlog: Backlog) -> list[dict[str, str]]:
    text = (backlog.folder / "backlog.csv").read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_every_issue_once_although_requests_fail(backlog: Backlog) -> None:
    backlog.fault_share = 0.05
    backlog.add_issues(24)
    listed = backlog.list("--query", "is:open", "--batch-size", "8")
    assert listed == {"backlog-matrix": {"batch": [1, 2, 3]}, "backlog-issues": "24", "backlog-cursor": ""}
    requests = len(backlog.api.requests)
    for batch in listed["backlog-matrix"]["batch"]:
        assert backlog.run(batch)["missing"] == 0
    assert len(backlog.api.requests) == requests < 30, "a batch asks GitHub nothing"
    page = backlog.merge()
    assert sorted(int(row["number"]) for row in read_csv(backlog)) == list(range(1, 25))
    assert Counter(re.findall(r"^\| (\d+) ", page, re.M)) == {str(number): 1 for number in range(1, 25)}
    assert not backlog.api.comments, "nothing is written unless asked for"
    assert not backlog.api.request_lines("PATCH")


def test_a_list_goes_on_where_the_last_one_ended(backlog: Backlog) -> None:
    backlog.add_issues(12)
    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        listed = backlog.list("--query", "is:open", "--limit", "5", "--after", cursor)
        backlog.run(1)
        backlog.merge()
        seen += [row["number"] for row in read_csv(backlog)]
        cursor = listed["backlog-cursor"]
        if not cursor:
            break
    assert Counter(seen) == {str(number): 1 for number in range(1, 13)}
    assert not cursor


def test_a_killed_batch_goes_on_and_loses_nothing(backlog: Backlog) -> None:
    backlog.add_issues(7)
    backlog.list("--query", "is:open")
    words = ["backlog", "run", str(backlog.folder), "--batch", "1", "--repo", str(backlog.repo)]
    nowhere = Path(os.devnull)
    results = backlog.folder / "results-001.jsonl"
    process = ForkedProcess(run_command, words, dict(os.environ), backlog.folder, [nowhere] * 3)
    while not (results.exists() and results.read_text().count('"report"') >= 2):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    finished = results.read_text().count('"report"')
    assert 2 <= finished < 7
    with results.open("a") as file:
        file.write('{"number": 3, "repo')  # cut in the middle of a line
    assert backlog.run(1) == {"done": 7, "missing": 0}
    numbers = [json.loads(line)["number"] for line in results.read_text().splitlines() if '"report":' in line]
    assert sorted(numbers) == list(range(1, 8)), "each issue was triaged once"
    backlog.merge()
    assert len(read_csv(backlog)) == 7


def test_comments_only_when_asked_for_and_never_two(backlog: Backlog) -> None:
    backlog.add_issues(12)
    backlog.list("--query", "is:open")
    backlog.run(1)
    backlog.fault_share = 0.05
    page = backlog.merge("--comments", "4")
    assert len(backlog.api.comments) == 4
    assert "Comments: 4 issues" in page
    backlog.merge("--comments", "8")
    by_issue = Counter(comment["issue"] for comment in backlog.api.comments)
    assert set(by_issue.values()) == {1}
    assert len(by_issue) == 8


def test_an_issue_with_a_comment_of_ours_is_left_out_unless_asked_for(backlog: Backlog) -> None:
    backlog.add_issues(4)
    backlog.list("--query", "is:open")
    backlog.run(1)
    backlog.merge("--comments", "1")
    assert backlog.list("--query", "is:open")["backlog-issues"] == "3"
    backlog.run(1)
    (left_out,) = [row for row in read_csv_after_merge(backlog) if row["not_triaged"]]
    assert int(left_out["number"]) == backlog.api.comments[0]["issue"]
    assert backlog.list("--query", "is:open", "--again")["backlog-issues"] == "4"


def read_csv_after_merge(backlog: Backlog) -> list[dict[str, str]]:
    backlog.merge()
    return read_csv(backlog)


def test_a_marker_of_a_stranger_changes_nothing(backlog: Backlog) -> None:
    backlog.add_issues(2)
    state = CommentState(text_hash="0" * 16, content_hash="0" * 16, quiet=True)
    backlog.api.add_comment(render_state(state) + "\n\nNothing.", by="mallory", number=1)
    assert backlog.list("--query", "is:open")["backlog-issues"] == "2"


def test_all_batches_together_stay_within_the_caps(backlog: Backlog) -> None:
    backlog.add_issues(8)
    max_tokens = 8_000
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
        }
        backlog.list("--query", "is:open", "--batch-size", "4", "--max-tokens", str(max_tokens), **model)
        assert [backlog.run(batch, **model)["done"] for batch in (1, 2)] == [4, 4]
    assert 0 < sum(tokens) <= max_tokens
    page = backlog.merge()
    assert f"Models took {sum(tokens):,} tokens of at most {max_tokens:,}" in page
    engines = {int(row["number"]): row["engine"] for row in read_csv(backlog)}
    # How many of a batch reach a model depends on the length of its prompts: what a call may cost must be left.
    batches = [[engines[number] for number in numbers] for numbers in (range(5, 9), range(1, 5))]
    assert [set(batch) for batch in batches] == [{"model", "rules"}] * 2, "each has a share, and rules triage the rest"
    rules = list(engines.values()).count("rules")
    assert f"Rules triaged {rules} issues without a model." in page
    assert sum(int(row["tokens"] or 0) for row in read_csv(backlog)) == sum(tokens)


class Job:
    """A job of the workflow: a fresh workspace, the files that were handed on, and one run of the action."""

    def __init__(self, backlog: Backlog, folder: Path) -> None:
        self.backlog, self.folder = backlog, folder
        self.workspace = folder / "workspace"
        self.files = self.workspace / ".triage" / "backlog"
        shutil.copytree(backlog.repo, self.workspace)

    def run(self, **inputs: str) -> str:
        """Returns the outputs, as they stand in the runner's file."""
        (self.folder / "event.json").write_text(json.dumps({"inputs": {}}))
        environ = {
            "GITHUB_REPOSITORY": "octo/shop",
            "GITHUB_EVENT_NAME": "workflow_dispatch",
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_API_URL": self.backlog.api.url,
            "INPUT_GITHUB-TOKEN": JOB_TOKEN,
        }
        log = io.StringIO()
        with contextlib.redirect_stdout(log):
            code = main(environ | {f"INPUT_{name.replace('_', '-').upper()}": text for name, text in inputs.items()})
        assert code == 0, log.getvalue()
        return (self.folder / "output").read_text()


def test_the_jobs_of_the_workflow(backlog: Backlog, tmp_path: Path) -> None:
    backlog.add_issues(8)
    first = Job(backlog, tmp_path / "list")
    outputs = first.run(backlog="list", backlog_query="is:open", backlog_limit="6")
    assert '{"batch": [1]}' in outputs
    assert re.search(r"backlog-cursor<<(\w+)\n2026-\S+/\d\S*\n\1", outputs)
    requests = len(backlog.api.requests)

    second = Job(backlog, tmp_path / "run")
    shutil.copytree(first.files, second.files)
    second.run(backlog="run", backlog_batch="1")
    assert len(backlog.api.requests) == requests

    third = Job(backlog, tmp_path / "merge")
    shutil.copytree(second.files, third.files)
    third.run(backlog="merge", backlog_comments="1")
    summary = (third.folder / "summary").read_text()
    assert "6 issues triaged" in summary
    assert (third.files / "backlog.csv").exists()
    assert len(backlog.api.comments) == 1


def test_files_of_another_repository_are_refused(backlog: Backlog, tmp_path: Path) -> None:
    backlog.add_issues(1)
    job = Job(backlog, tmp_path / "job")
    job.run(backlog="list", backlog_query="is:open")
    plan = (job.files / "plan.json").read_text().replace("octo/shop", "octo/other")
    (job.files / "plan.json").write_text(plan)
    with pytest.raises(AssertionError, match="of another repository"):
        job.run(backlog="merge")


def test_outputs_of_a_step(backlog: Backlog, tmp_path: Path) -> None:
    backlog.add_issues(3)
    output, summary = tmp_path / "output", tmp_path / "summary"
    backlog.list("--query", "is:open", GITHUB_OUTPUT=str(output))
    assert re.search(r'backlog-matrix<<(\w+)\n\{"batch": \[1\]\}\n\1\n', output.read_text())
    backlog.run(1)
    backlog.call("merge", str(backlog.folder), GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text().startswith("## Backlog of `octo/shop`")
