"""A language of the settings from the command to the verdict: real repositories, shells and runs, without a container."""

import json
from pathlib import Path
from typing import Any

import pytest

from testing import command_line
from testing.checkouts.git_repositories import commit, git

GOOD = "total() { echo 0; }\n"
BAD = "total() { echo 'lib.sh: error: no items' >&2; return 3; }\n"
LINES = {
    "file": "examples/report.sh",
    "setup": "echo set up >made\ntest ! -e examples/report.sh",
    "build": "sh -n examples/report.sh",
    "run": "grep -q 'set up' made\nsh examples/report.sh",
}
ISSUE = "# total fails\n\nVersion: 1.1\n\n```sh\n. ./lib.sh\ntotal\n```\n\n```\nlib.sh: error: no items\n```\n"


def change_lines(repo: Path, **lines: str) -> None:
    settings = {"image": "debian:stable-slim", "package": "lib.sh", "languages": {"sh": LINES | lines}}
    commit(repo, {".github/triage.yml": f"reproduce: {json.dumps(settings)}\n"})


@pytest.fixture
def repo(tmp_path):
    repo = tmp_path / "repo"
    repo.mkdir()
    for version, code in {"1.0": GOOD, "1.1": BAD, "1.2": BAD}.items():
        commit(repo, {"README.md": f"Before {version}\n"})
        commit(repo, {"lib.sh": code})
        git(repo, "tag", f"v{version}")
    change_lines(repo)
    return repo


def run(repo: Path, issue: str = ISSUE, *words: str) -> Any:
    (repo.parent / "issue.md").write_text(issue)
    arguments = ["reproduce", "--repo", "repo", "--issue", "issue.md", "--no-container", "--json", *words]
    done = command_line.run_command(arguments, {"HOME": str(repo.parent)}, repo.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_says_that_it_still_happens_and_since_when(repo):
    found = run(repo, ISSUE, "--bisect")
    assert (found["verdict"], found["measure"], found["example"]["language"]) == ("still", "error", "sh")
    assert [(one["on"], one["outcome"], one["error"], one["repeats"]) for one in found["runs"]] == [
        ("1.1", "failed", "error: no items", 2),
        ("main", "failed", "error: no items", 2),
    ]
    bad = git(repo, "rev-parse", "v1.1")
    assert found["first_bad"]["before"] == "1.0"
    assert (found["first_bad"]["release"], found["first_bad"]["commit"]) == ("1.1", bad)


def test_it_says_that_it_no_longer_happens(repo):
    commit(repo, {"lib.sh": GOOD})
    found = run(repo)
    assert found["verdict"] == "fixed"
    assert [(one["outcome"], one["output"]) for one in found["runs"]] == [
        ("failed", "lib.sh: error: no items\n"),
        ("passed", "0\n"),
    ]


def test_an_error_that_the_report_does_not_show_is_another_one(repo):
    found = run(repo, ISSUE.replace("no items", "the network is down"))
    assert found["verdict"] == "other-failure"


@pytest.mark.parametrize(("shown", "verdict"), [("no items", "could-not-run"), ("Syntax error: x", "still")])
def test_an_example_that_cannot_be_built_fails_only_if_the_report_shows_it(repo, shown, verdict):
    printed = "echo 'report.sh:2:1: error: Syntax error: x'; exit 1"
    change_lines(repo, build=printed)
    found = run(repo, ISSUE.replace("no items", shown))
    assert found["verdict"] == verdict
    assert found["runs"][0]["reason"] == ("" if verdict == "still" else "it cannot be built")


def test_a_version_that_its_lines_cannot_make_ready_is_not_run(repo):
    change_lines(repo, setup="echo error: no tool\nfalse")
    found = run(repo)
    assert (found["verdict"], found["runs"][0]["reason"]) == ("could-not-install", "error: no tool")
