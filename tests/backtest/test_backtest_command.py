"""The command `backtest` as a person uses it: real git, GitHub on loopback."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from testing.checkouts.git_repositories import ENVIRONMENT, git, write
from testing.command_line import run_command
from testing.runs.external_services import default_reply
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from testing.servers.scripted_server import serve_script

START = datetime(2026, 1, 1, tzinfo=UTC)
MODULES = {f"shop/part{number}.py": f"def part{number}_total(prices):\n    return sum(prices)\n" for number in range(8)}
WHERE = ("while a monthly invoice is printed", "in the kiosk of the harbour", "after the currency was changed")


def run_backtest(checkout: Path, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return run_command(["backtest", "--repo", str(checkout), *words], environ, checkout)


def commit_at(root: Path, day: int, message: str, files: dict[str, str]) -> str:
    write(root, files)
    at = {f"GIT_{role}_DATE": f"{START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}" for role in ("AUTHOR", "COMMITTER")}
    for words in (("add", "-A"), ("commit", "-q", "-m", message)):
        subprocess.run(["git", "-C", str(root), *words], env=ENVIRONMENT | at, check=True, capture_output=True)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A checkout with three fixes, one each ten days, and their commits."""
    root = tmp_path_factory.mktemp("backtest") / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit_at(root, 0, "Add the shop", {**MODULES, "README.md": "Shop\n"})
    fixes = []
    for number in (1, 2, 3):
        text = MODULES[f"shop/part{number}.py"].replace("sum(prices)", f"sum(prices or [{number}])")
        fixed = {f"shop/part{number}.py": text, f"tests/test_part{number}.py": "def test_it(): pass\n"}
        fixes.append(commit_at(root, number * 10, f"Fix part{number}_total of an empty list (#{number + 20})", fixed))
    commit_at(root, 40, "Add a module", {"shop/later.py": "def part1_total_again(): pass\n"})
    return root, fixes


def test_commits_stand_in_for_issues_without_github(history: tuple[Path, list[str]], tmp_path: Path):
    page = tmp_path / "page.html"
    done = run_backtest(history[0], "--html", str(page))
    assert done.returncode == 0, done.stderr
    assert "1/3 " in done.stderr
    assert "First file right: 3 of 3 (the fix edited the file that the report names first)\n" in done.stdout
    assert "page.html has every issue." in done.stderr
    assert page.read_text(encoding="utf-8").count("<details") == 3


def serve_issues(api: GitHubApi, fixes: list[str]) -> None:
    def at(day: int) -> str:
        return f"{START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"

    api.issues.clear()
    for number, fix in enumerate(fixes, start=1):
        pull: dict[str, Any] = {"number": number + 20, "oid": fix, "title": "Fix", "at": at(number * 10)}
        pull["files"] = [f"shop/part{number}.py", f"tests/test_part{number}.py"]
        body = f"`part{number}_total([])` fails {WHERE[number - 1]}.\n\n```\nTypeError: no prices\n```"
        api.add_issue(
            number,
            title=f"part{number}_total fails {WHERE[number - 1]}",
            body=body,
            state="closed",
            state_reason="completed",
            created_at=at(number * 10 - 5),
            closed_at=at(number * 10),
            labels=[{"name": "bug"}],
            fixes=[pull],
        )
    api.add_issue(5, state="closed", created_at=at(36), fixes=[{"oid": "d" * 40, "title": "x", "at": at(38)}])


def test_closed_issues_with_their_fixes(history: tuple[Path, list[str]]):
    checkout, fixes = history
    with serve_github_api() as api:
        serve_issues(api, fixes)
        environ = {"GITHUB_API_URL": api.url, "TRIAGE_GITHUB_TOKEN": JOB_TOKEN}
        done = run_backtest(checkout, "--github", SLUG, "--json", **environ)
        assert all(line == "POST /graphql" for line in api.request_lines()), "it only reads"
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["case"]["name"] for one in found["results"]] == ["#3", "#2", "#1"]
    for one, fix in zip(found["results"], reversed(fixes), strict=True):
        number = one["case"]["number"]
        assert one["case"]["base"] == git(checkout, "rev-parse", f"{fix}^")
        assert one["case"]["edited"] == [f"shop/part{number}.py"], "tests do not count"
        assert one["files"][0] == {"path": f"shop/part{number}.py", "edited": True}
        assert "shop/later.py" not in [file["path"] for file in one["files"]]
    assert found["figures"][0]["rate"] == {"hits": 3, "cases": 3}
    assert found["left_out"] == {"the commit of the fix is not in this clone": 1}


def test_with_a_model_no_issue_starts_when_the_money_is_spent(history: tuple[Path, list[str]], tmp_path: Path):
    git(tmp_path, "clone", "-q", str(history[0]), "shop")
    commit_at(
        tmp_path / "shop",
        50,
        "Set prices",
        {".github/triage.yml": "prices: {dear: {input: 1000, output: 1000}}\n"},
    )
    with serve_script(lambda request: default_reply(request)[1]) as server:
        environ = dict.fromkeys(("TRIAGE_MODEL", "TRIAGE_FAST_MODEL", "TRIAGE_FALLBACK_MODEL"), "dear")
        environ |= {"TRIAGE_MODEL_BASE_URL": f"{server.url}/v1", "TRIAGE_MAX_COST_USD": "900"}
        words = ("--engine", "model", "--max-usd", "0.01", "--json")
        done = run_backtest(tmp_path / "shop", *words, TRIAGE_TAVILY_API_KEY="tvly-x", **environ)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["results"]) == 1
    assert found["results"][0]["usd"] > 0.01
    assert found["results"][0]["by_model"]
    assert "Stopped at 0.01 US dollars (--max-usd)." in done.stderr
    assert server.requests
    assert all(request.path.endswith("/chat/completions") for request in server.requests), "the web knows the fix"


def test_a_model_without_a_price_ends_the_backtest(history: tuple[Path, list[str]]):
    with serve_script(lambda request: default_reply(request)[1]) as server:
        environ = dict.fromkeys(("TRIAGE_MODEL", "TRIAGE_FAST_MODEL", "TRIAGE_FALLBACK_MODEL"), "unknown-model")
        environ["TRIAGE_MODEL_BASE_URL"] = f"{server.url}/v1"
        done = run_backtest(history[0], "--engine", "model", **environ)
    assert done.returncode == 0, done.stderr
    assert "the price of a model is not known, so --max-usd cannot hold" in done.stderr
    assert "1/3 " in done.stderr
    assert "2/3 " not in done.stderr


def test_a_folder_that_was_not_there_yet_is_no_traceback(tmp_path: Path):
    git(tmp_path, "init", "-q", "-b", "main")
    commit_at(tmp_path, 1, "Add it", {"a.py": "x = 1\n"})
    commit_at(tmp_path, 2, "Fix it all", {"app/b.py": "y = 1\n"})
    commit_at(tmp_path, 3, "Fix it again", {"app/b.py": "y = 2\n"})
    done = run_backtest(tmp_path / "app")
    assert "Traceback" not in done.stderr
    assert "1/1 " in done.stderr


def test_a_clone_without_the_files_of_old_commits_is_refused(history: tuple[Path, list[str]], tmp_path: Path):
    git(history[0], "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", history[0].as_uri(), "shop")
    done = run_backtest(tmp_path / "shop")
    assert done.returncode == 1
    assert "not in this clone. Make one without --filter." in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--github", SLUG], "TRIAGE_GITHUB_TOKEN"),
        (["--last", "0"], "--last"),
        (["--html", "-"], "name a file"),
        (["--html", "/nowhere/page.html"], "/nowhere/page.html cannot be written"),
    ],
)
def test_what_is_missing_is_said_at_once(history: tuple[Path, list[str]], words: list[str], said: str):
    done = run_backtest(history[0], *words)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_shallow_clone_is_said(history: tuple[Path, list[str]], tmp_path: Path):
    git(tmp_path, "clone", "-q", "--depth", "3", history[0].as_uri(), "shop")
    done = run_backtest(tmp_path / "shop")
    assert done.returncode == 0
    assert "git fetch --unshallow" in done.stderr
    assert "First file right: 1 of 1" in done.stdout


def test_a_checkout_without_any_fix_is_refused(tmp_path: Path):
    git(tmp_path, "init", "-q", "-b", "main")
    commit_at(tmp_path, 1, "Add it", {"a.py": "x = 1\n"})
    done = run_backtest(tmp_path)
    assert done.returncode == 1
    assert "No commit was found that says that it fixes something" in done.stderr
