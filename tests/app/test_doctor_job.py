"""What the job finds out about GitHub, and that nothing of it stays."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from testing.runs.action_run import job_variables, run_on_event
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, SLUG, ApiFault, GitHubApi, serve_github_api

OFF = {"message": "GitHub Actions is not permitted to create or approve pull requests."}
SAME = {"message": "Validation Failed", "errors": [{"message": "No commits between main and main"}]}


@dataclass
class Doctor:
    folder: Path
    api: GitHubApi
    git: GitDataApi
    edits: Any = ()

    def answer(self, token: str, sent: dict[str, Any]) -> Any:
        return 200, {"data": {"repository": {"issues": {"nodes": [{"number": 7, "userContentEdits": self.edits}]}}}}

    def run(self) -> tuple[int, str]:
        """Runs the job. Returns its exit code and its page."""
        given = {"github_token": JOB_TOKEN, "task": "doctor"}
        variables = job_variables(self.api.url, "workflow_dispatch", self.folder, self.folder / "work", **given)
        system = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.folder)}
        done = run_on_event(self.folder, {}, variables | system)
        return done.exit_code, done.summary


@pytest.fixture
def doctor(tmp_path: Path) -> Iterator[Doctor]:
    remote = tmp_path / SLUG
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    with serve_github_api() as api:
        git = GitDataApi(api, remote)
        git.set_ref("refs/heads/main", git.commit({"a.py": "x = 1\n"}))
        subprocess.run(["git", "clone", "-q", remote, tmp_path / "work"], check=True)
        api.labels = ["bug"]
        api.add_issue(7, title="t", body="b")
        api.faults = [ApiFault("POST .*/pulls", 422, SAME)]
        doctor = Doctor(tmp_path, api, git, edits={"nodes": []})
        api.graphql = doctor.answer
        yield doctor


def test_everything_works_and_nothing_stays(doctor: Doctor) -> None:
    before = dict(doctor.git.refs)
    doctor.api.faults.append(ApiFault("GET .*/git/ref/triage", 404))  # not shown yet
    code, page = doctor.run()
    assert code == 0
    assert "| proposals | ✅ works | a commit below refs/triage/ was stored and removed |" in page
    assert "| pull requests | ✅ works |" in page
    assert "| edits | ✅ works |" in page
    assert doctor.git.refs == before


@pytest.mark.parametrize(
    ("status", "body", "said"), [(403, OFF, "the setting is off"), (403, {"message": "Resource not"}, "the job lacks")]
)
def test_actions_may_not_open_pull_requests(doctor: Doctor, status: int, body: Any, said: str) -> None:
    doctor.api.faults = [ApiFault("POST .*/pulls", status, body)]
    code, page = doctor.run()
    assert code == 1
    assert "failed" in (doctor.folder / "output").read_text()
    assert said in page
    assert "Allow GitHub Actions to create and approve pull requests" in page


def test_a_token_without_the_right_to_write_contents(doctor: Doctor) -> None:
    doctor.api.faults.append(ApiFault("POST .*/git/commits", 403, {"message": "Resource not accessible"}))
    code, page = doctor.run()
    assert code == 1
    assert "| proposals | ❌ **does not work** |" in page


def test_edits_that_are_not_shown(doctor: Doctor) -> None:
    doctor.edits = None
    code, page = doctor.run()
    assert code == 1
    assert "| edits | ❌ **does not work** | GitHub does not say who edited" in page
