"""How many of the past issues have an example, and whether that is worth it."""

import json
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import git
from testing.command_line import run_command
from testing.servers.github_api import JOB_TOKEN, SLUG, serve_github_api
from tests.reproduce.small_shop import BAD, GOOD, ISSUE, make_repository
from triage.backtest.backtest_page import count_examples

AT = "2024-01-15T00:00:00Z"


def test_examples_are_counted(tmp_path: Path) -> None:
    checkout = make_repository(tmp_path / "shop", {"1.0": GOOD, "1.1": BAD})
    fix = git(checkout, "rev-parse", "v1.1")
    words = ISSUE.partition("\n\n")[2]
    with serve_github_api() as api:
        api.issues.clear()
        for number, body in enumerate(("It is slow.", words), start=1):
            pull = {"number": number + 20, "oid": fix, "title": "Fix", "at": "2024-02-01T00:00:00Z"}
            pull["files"] = ["shop/__init__.py"]
            api.add_issue(number, title="total() fails", body=body, state="closed", fixes=[pull], created_at=AT)
        environ = {"GITHUB_API_URL": api.url, "TRIAGE_GITHUB_TOKEN": JOB_TOKEN}
        done = run_command(["backtest", "--repo", "shop", "--github", SLUG, "--json"], environ, tmp_path)
    assert done.returncode == 0, done.stderr
    figures = {one["name"]: one["figure"] for one in json.loads(done.stdout)["figures"]}
    assert figures["With an example"] == "1 of 2"


@pytest.mark.parametrize(
    ("hits", "said"),
    [
        (1, "3 % of your bugs have one: running them is not worth it here"),
        (18, "60 % of your bugs have one: worth running"),
    ],
)
def test_the_page_says_whether_it_is_worth_it(hits: int, said: str) -> None:
    figures = count_examples([number < hits for number in range(30)])
    assert [(one.figure, one.explanation) for one in figures] == [(f"{hits} of 30", said)]
