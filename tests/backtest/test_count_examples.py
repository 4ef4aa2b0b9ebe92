"""What the examples of past issues are worth: how many there are, and what running them says."""

import json
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git
from testing.command_line import run_command
from testing.servers.github_api import JOB_TOKEN, SLUG, serve_github_api
from tests.reproduce.small_shop import BAD, GOOD, ISSUE, make_repository, serve_packages, variables
from triage.backtest.backtest_page import count_examples

VERSIONS = {"1.0": GOOD, "1.1": BAD}
AT = "2024-01-15T00:00:00Z"
OTHER = GOOD.replace("sum(items)", "sum(items) + 0")


def test_examples_are_run_before_the_fix_and_at_it(tmp_path: Path) -> None:
    checkout = make_repository(tmp_path / "shop", VERSIONS)
    fixes = [git(checkout, "rev-parse", "v1.1")]
    for code in (GOOD, OTHER):
        commit(checkout, {"shop/__init__.py": code})
        fixes.append(git(checkout, "rev-parse", "HEAD"))
    words = ISSUE.partition("\n\n")[2].replace("shop 1.4", "shop 1.1")
    with serve_packages(VERSIONS) as url, serve_github_api() as api:
        api.issues.clear()
        for number, (fix, body) in enumerate(zip(fixes, ("It is slow.", words, words), strict=True), start=1):
            pull = {"number": number + 20, "oid": fix, "title": "Fix", "at": "2024-02-01T00:00:00Z"}
            pull["files"] = ["shop/__init__.py"]
            api.add_issue(number, title="total() fails", body=body, state="closed", fixes=[pull], created_at=AT)
        environ = {"GITHUB_API_URL": api.url, "TRIAGE_GITHUB_TOKEN": JOB_TOKEN, **variables(url, tmp_path)}
        arguments = ["backtest", "--repo", "shop", "--github", SLUG, "--json"]
        counted = run_command(arguments, environ, tmp_path)
        done = run_command([*arguments, "--reproduce", "--no-container"], environ, tmp_path)
        refused = run_command(["backtest", "--repo", "shop", "--reproduce"], environ, tmp_path)
    assert counted.returncode == done.returncode == 0, done.stderr
    found = ("With an example", "2 of 3")
    unasked = list_pairs(json.loads(counted.stdout)["figures"])
    assert found in unasked
    assert "Examples that ran" not in dict(unasked), "nothing is run unasked"
    # The change of the third issue is not what its example shows: it does not fail before.
    ran = [("Examples that ran", "2 of 2"), ("Failed before the fix", "1 of 2"), ("Passed after it", "1 of 1")]
    assert {found, *ran} <= {*list_pairs(json.loads(done.stdout)["figures"])}
    assert "--reproduce needs --github" in refused.stderr


def list_pairs(figures: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(one["name"], one["figure"]) for one in figures]


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


def test_what_running_them_said() -> None:
    _, *figures = count_examples([True] * 5, ["not run", "no failure", "fails after the fix", "fixed", "fixed"])
    assert [(one.name, one.figure) for one in figures] == [
        ("Examples that ran", "4 of 5"),
        ("Failed before the fix", "3 of 4"),
        ("Passed after it", "2 of 3"),
    ]
