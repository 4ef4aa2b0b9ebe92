"""Tags and commits of files, for checkouts without history."""

import pytest

from testing.servers.github_api import ApiFault, GitHubApi
from triage.base.errors import TriageError
from triage.domain.code import PathChange, Tag
from triage.github.issue_tracker import IssueTracker

NEW, MIDDLE, OLD, BASE = (letter * 40 for letter in "dcba")


@pytest.fixture
def history(api: GitHubApi) -> GitHubApi:
    api.tags = {"v1.1": MIDDLE, "v1.0": BASE}
    api.commits = [
        {"sha": NEW, "at": "2026-04-01T00:00:00Z", "message": "Later", "files": ["a.py"]},
        {"sha": MIDDLE, "at": "2026-03-01T00:00:00Z", "message": "Both\n\nMore words", "files": ["a.py", "b.py"]},
        {"sha": OLD, "at": "2026-02-01T00:00:00Z", "message": "x" * 300, "files": ["b.py"]},
        {"sha": BASE, "at": "2026-01-01T00:00:00Z", "message": "Base", "files": ["a.py", "b.py"]},
    ]
    return api


def test_tags(history: GitHubApi, tracker: IssueTracker) -> None:
    assert tracker.list_tags() == [Tag(name="v1.1", commit=MIDDLE), Tag(name="v1.0", commit=BASE)]


def test_at_most_three_pages_of_tags(history: GitHubApi, tracker: IssueTracker) -> None:
    history.tags = {f"v{number}": BASE for number in range(1_000)}
    assert len(tracker.list_tags()) == 300
    assert history.request_lines() == ["GET /repos/octo/shop/tags"] * 3


def test_changes_of_files_between_two_commits(history: GitHubApi, tracker: IssueTracker) -> None:
    changes = tracker.list_changes_between(BASE, MIDDLE, ["a.py", "b.py"])
    assert changes == [
        PathChange(commit=MIDDLE, date="2026-03-01T00:00:00+00:00", subject="Both", paths=["a.py", "b.py"]),
        PathChange(commit=OLD, date="2026-02-01T00:00:00+00:00", subject="x" * 120 + "…", paths=["b.py"]),
    ]
    assert len(history.requests) == 3


@pytest.mark.parametrize(("worked", "broken"), [("e" * 40, MIDDLE), (BASE, "e" * 40)])
def test_a_commit_that_github_does_not_have(
    history: GitHubApi, tracker: IssueTracker, worked: str, broken: str
) -> None:
    with pytest.raises(TriageError):
        tracker.list_changes_between(worked, broken, ["a.py"])


@pytest.mark.parametrize("body", [{"sha": "x"}, [], {"sha": BASE}, {"sha": BASE, "commit": {"committer": None}}])
def test_an_answer_of_another_form(history: GitHubApi, tracker: IssueTracker, body: object) -> None:
    history.faults.append(ApiFault("GET .*/commits/", status=200, body=body))
    try:
        assert tracker.list_changes_between(BASE, MIDDLE, ["a.py"]) == []
    except TriageError:
        assert body != {"sha": BASE}
