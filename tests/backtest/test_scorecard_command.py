"""The scorecard as a job and as a command, against GitHub on loopback."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import git
from testing.command_line import run_command
from testing.runs.action_run import JobResult, job_variables, run_on_event
from testing.servers.github_api import JOB_TOKEN, READ_ONLY_TOKEN, SLUG, GitHubApi, serve_github_api
from triage.say.hidden_state import CommentState, FirstNamed, render_state

TILL, CART = "src/till.py", "src/cart.py"
BOT = "github-actions[bot]"


def days_ago(days: int) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def write_time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def add_closed(api: GitHubApi, number: int, days: int, named: str) -> None:
    """Adds an issue that was closed so many days ago, a week after our comment."""
    opened, closed = days_ago(days + 7), write_time(days_ago(days))
    pull = {"number": number + 500, "at": closed, "files": [TILL, "tests/test_till.py"]}
    api.add_issue(number, title="It @breaks", state="closed", closed_at=closed, updated_at=closed, fixes=[pull])
    state = CommentState(named=FirstNamed(at=int(opened.timestamp()), by="trace", paths=[named]))
    api.add_comment(f"{render_state(state)}\nText", BOT, number, created_at=write_time(opened), updated_at=closed)


@pytest.fixture
def api() -> Iterator[GitHubApi]:
    with serve_github_api() as running:
        running.add_issue(7)
        add_closed(running, 11, 20, TILL)
        add_closed(running, 12, 6, CART)
        yield running


class TestJob:
    def run(self, api: GitHubApi, folder: Path, **inputs: str) -> JobResult:
        (folder / "workspace").mkdir(exist_ok=True)
        given = {"github_token": JOB_TOKEN, "task": "scorecard"} | inputs
        variables = job_variables(api.url, "schedule", folder, folder / "workspace", **given)
        return run_on_event(folder, {"schedule": "17 5 * * 1"}, variables)

    def test_the_page_is_the_summary(self, api: GitHubApi, tmp_path: Path) -> None:
        done = self.run(api, tmp_path, github_token=READ_ONLY_TOKEN)
        assert done.exit_code == 0
        assert "**The first file that the comment named was edited by the fix: 1 of 2.**" in done.summary
        assert "It `@breaks`" in done.summary
        assert done.outputs["status"] == "complete"
        assert {asked.line for asked in api.requests} == {"POST /graphql"}

    @pytest.mark.parametrize(
        ("inputs", "problem"),
        [
            ({"scorecard": "30d"}, "scorecard: not an input of this version"),
            ({"github_token": "wrong"}, "does not accept the token"),
        ],
    )
    def test_a_mistake_of_the_workflow_fails_the_job(
        self, api: GitHubApi, tmp_path: Path, inputs: dict[str, str], problem: str
    ) -> None:
        done = self.run(api, tmp_path, **inputs)
        assert done.exit_code == 1
        assert problem in done.summary
        assert "::error::" in done.log


class TestCommand:
    def run(self, api: GitHubApi, folder: Path, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        variables = {"GITHUB_API_URL": api.url, "TRIAGE_GITHUB_TOKEN": JOB_TOKEN}
        return run_command(["scorecard", "--since", "60d", *words], variables | environ, folder)

    def test_the_page_and_the_json(self, api: GitHubApi, tmp_path: Path) -> None:
        page = self.run(api, tmp_path, "--github", SLUG)
        assert "edited by the fix: 1 of 2.**" in page.stdout
        assert page.stderr == ""
        found = json.loads(self.run(api, tmp_path, "--github", SLUG, "--json").stdout)
        assert [(one["number"], one["place"]["first_right"]) for one in found["results"]] == [(12, False), (11, True)]

    def test_the_repository_of_the_checkout(self, api: GitHubApi, tmp_path: Path) -> None:
        git(tmp_path, "init", "--quiet")
        git(tmp_path, "remote", "add", "origin", f"https://github.com/{SLUG}.git")
        assert "Scorecard of `octo/shop`" in self.run(api, tmp_path).stdout

    @pytest.mark.parametrize(
        ("words", "environ", "problem", "code"),
        [
            (["--github", SLUG, "--since", "soon"], {}, "is not a number of days such as 90d", 2),
            (["--github", SLUG], {"TRIAGE_GITHUB_TOKEN": ""}, "set TRIAGE_GITHUB_TOKEN", 1),
            ([], {}, "must be given as owner/name, at a terminal with --github", 2),
        ],
    )
    def test_a_mistake_is_one_line(
        self, api: GitHubApi, tmp_path: Path, words: list[str], environ: dict[str, str], problem: str, code: int
    ) -> None:
        done = self.run(api, tmp_path, *words, **environ)
        assert (done.returncode, done.stdout) == (code, "")
        assert problem in done.stderr
        assert len(done.stderr.splitlines()) == 1
