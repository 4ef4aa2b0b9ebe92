"""A shadow week: reports of runs that wrote nothing are judged by what happened since, by the command, over HTTP."""

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from testing.command_line import run_command
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from tests.backtest.test_scorecard_command import TILL, days_ago, write_time
from tests.say.sample_reports import FULL, change_report
from triage.domain.code import Place, Span
from triage.domain.report import IssueRef


def save(folder: Path, number: int, days: int, name: str = "", **changes: Any) -> Path:
    """Writes the report of a run with dry-run, as its artifact has it. Without changes it names the till."""
    given: dict[str, Any] = {
        "repository": SLUG,
        "issue": IssueRef(number=number, title="It @breaks", url=""),
        "started_at": days_ago(days),
        "best_place": Place(sign="name", rule="name", span=Span(path=TILL, start=1, end=7), probability=0.9),
        "suspects": [FULL.suspects[0].model_copy(update={"path": TILL})],
        "why": "",
        "comment_reason": "found",
        "comment": "**Probably** `src/till.py`",
    }
    path = folder / (name or str(number)) / "report.json"
    path.parent.mkdir(parents=True)
    path.write_text(change_report(**given | changes).model_dump_json(by_alias=True), encoding="utf-8")
    return path


def close(api: GitHubApi, number: int, days: int, files: list[str]) -> None:
    closed = write_time(days_ago(days))
    pull = {"number": number + 500, "at": closed, "files": files}
    api.add_issue(number, title="It @breaks", state="closed", closed_at=closed, updated_at=closed, fixes=[pull])


def run(api: GitHubApi, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    variables = {"GITHUB_API_URL": api.url, "TRIAGE_GITHUB_TOKEN": JOB_TOKEN}
    return run_command(["scorecard", "--github", SLUG, "--shadow", str(folder), *words], variables, folder)


def test_what_would_have_been_said_stands_beside_what_happened(tmp_path: Path) -> None:
    with serve_github_api() as api:
        close(api, 11, 2, [TILL])
        close(api, 12, 2, ["src/cart.py"])
        api.add_issue(13, title="It @breaks")
        for number in (11, 12, 13):
            save(tmp_path, number, 5)
        save(tmp_path, 14, 5, comment_reason=None, comment=None)
        save(tmp_path, 11, 9, "an older run of the same issue", comment_reason=None, comment=None)
        save(tmp_path, 15, 5, "of another repository", repository="octo/other")
        done = run(api, tmp_path)
    assert done.stderr == ""
    page = done.stdout
    assert "Shadow week of `octo/shop`" in page
    assert "Of 4 runs that wrote nothing, 3 would have commented." in page
    assert "edited by the fix: 1 of 2.**" in page
    assert "#13: the comment" in page
    assert "#14: the comment" not in page
    assert "**Probably** `src/till.py`" in page


def test_an_issue_that_was_closed_before_the_run_does_not_count(tmp_path: Path) -> None:
    with serve_github_api() as api:
        close(api, 11, 8, [TILL])
        save(tmp_path, 11, 5)
        page = run(api, tmp_path).stdout
    assert "1 issue was closed. 0 of them would have had a comment of this action." in page


@pytest.mark.parametrize(
    ("text", "problem"), [(None, "0 files report.json were read"), ("{}", "is not a report of this version")]
)
def test_a_folder_without_reports_is_refused(tmp_path: Path, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / "report.json").write_text(text)
    with serve_github_api() as api:
        done = run(api, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert problem in done.stderr


def test_the_time_of_a_run_is_that_of_its_comment() -> None:
    from triage.backtest.scorecard import make_comment

    late = change_report(started_at=FULL.started_at + timedelta(days=1), comment_reason="found")
    assert make_comment(late).posted_at == late.started_at
