"""What the doctor says of a checkout."""

import subprocess
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from testing.apps import make_app
from testing.checkouts.git_repositories import commit
from testing.each_row import each_row
from triage.app.doctor import Check, run_checks
from triage.app.settings.inputs import Settings
from triage.app.settings.runner_environment import RunnerEnvironment


def check_skills(root: Path) -> Check:
    return run_checks(make_app(Settings(), root))["skills"]


def check_checkout(root: Path) -> Check:
    return run_checks(make_app(Settings(), root))["checkout"]


def test_a_checkout_with_files(tmp_path: Path):
    commit(tmp_path, {"cart.py": "def total():\n    return 1\n"})
    check = check_checkout(tmp_path)
    assert check.state == "ok"
    assert "1 passages, commit " in check.detail


def test_a_repository_without_a_commit(tmp_path: Path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    check = check_checkout(tmp_path)
    assert check.state == "broken"
    assert check.detail.startswith("The code was not read, only the issue: the folder has no commit that git can read")
    assert check.detail.endswith("Commit the code first, or name a checkout with --repo")


def test_a_folder_of_which_nothing_can_be_indexed(tmp_path: Path):
    commit(tmp_path, {"a.bin": b"\0\1\2" * 99})
    check = check_checkout(tmp_path)
    assert check.state == "broken"
    assert check.detail == "none of the files here can be indexed (binary: 1)"


def test_skills_are_checked_one_by_one(tmp_path: Path):
    commit(tmp_path, {"cart.py": "x = 1\n"})
    assert check_skills(tmp_path) == Check(state="missing", detail="no skills in .github/triage/skills")
    good = "---\ndescription: a\n---\nb\n"
    commit(tmp_path, {".github/triage/skills/two.md": good, ".github/triage/skills/one.md": good})
    assert check_skills(tmp_path) == Check(state="ok", detail=".github/triage/skills has one, two")
    commit(tmp_path, {".github/triage/skills/bad.md": "a", ".github/triage/skills/Worse.md": good})
    broken = check_skills(tmp_path)
    assert broken.state == "broken"
    worse, bad = broken.detail.split("; .github")
    assert worse.startswith(".github/triage/skills/Worse.md: the name of the file may have small letters")
    assert bad.startswith("/triage/skills/bad.md: line 1: the file must begin with front matter")


GITHUB_TOKEN = SecretStr("t" * 20)


@each_row(
    ("settings", "server", "state"),
    [
        ({"github_token": GITHUB_TOKEN, "web_search": "github"}, "https://github.com", "ok"),
        ({"github_token": GITHUB_TOKEN}, "https://github.com", "missing"),  # no event says that it is public
        ({"github_token": GITHUB_TOKEN, "web_search": "github"}, "https://git.acme.example", "missing"),
        ({"github_token": GITHUB_TOKEN, "web_search": "off"}, "https://github.com", "missing"),
        ({"web_search": "github"}, "https://github.com", "missing"),
        ({"tavily_api_key": GITHUB_TOKEN, "web_search": "off"}, "https://github.com", "missing"),
    ],
)
def test_where_the_web_is_searched(tmp_path: Path, settings: dict[str, Any], server: str, state: str):
    app = make_app(Settings(**settings), tmp_path, environment=RunnerEnvironment(server_url=server))
    assert (app._open_web_tools() is not None) == (state == "ok")
