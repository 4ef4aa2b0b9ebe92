"""Closed issues are read with their fixes and with our comment; whatever somebody else wrote counts for nothing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from testing.servers.github_api import JOB_TOKEN, PERSON_TOKEN, SLUG, ApiFault, GitHubApi
from tests.outside.github.conftest import QUICK
from triage.backtest import closed_issues
from triage.backtest.closed_issues import ClosedIssue, ClosedIssues, ClosingFix, OurComment, ScorecardIssues
from triage.base.errors import (
    GitHubUnavailable,
    TriageError,
)
from triage.say.hidden_state import CommentState, FirstNamed, hash_label, render_state

POST = "POST /graphql"
BOT = "github-actions[bot]"
START = datetime(2026, 11, 1, tzinfo=UTC)
STATE = CommentState(
    asked=["version"],
    labels=[hash_label("bug")],
    named=FirstNamed(at=1_793_600_000, by="trace", paths=["src/till.py", "src/cart.py"]),
)
TEXT = f"{render_state(STATE)}\nThe innermost line of this repository in the error is in `src/till.py`."
PULL = {"number": 9, "oid": "a" * 40, "at": "2026-11-09T10:00:00Z", "files": ["src/till.py", "tests/test_till.py"]}
Open = Callable[..., ScorecardIssues]


def day(number: int, hour: int = 10) -> str:
    return f"2026-11-{number:02}T{hour:02}:00:00Z"


def at(number: int, hour: int = 10) -> datetime:
    return datetime(2026, 11, number, hour, tzinfo=UTC)


def add_closed(api: GitHubApi, number: int = 8, **fields: Any) -> None:
    closed = {"state": "closed", "created_at": day(1), "closed_at": day(10), "updated_at": day(11), "fixes": [PULL]}
    api.add_issue(number, title=f"Issue {number}", **(closed | fields))


def add_ours(api: GitHubApi, number: int = 8, by: str | None = BOT, text: str = TEXT, **fields: Any) -> dict[str, Any]:
    comment = api.add_comment(text, by, number, **({"created_at": day(4), "updated_at": day(4)} | fields))
    api.issues[number]["updated_at"] = day(11)
    return comment


@pytest.fixture
def open_issues(api: GitHubApi) -> Open:
    def open_one(token: str = JOB_TOKEN, **options: Any) -> ScorecardIssues:
        return ScorecardIssues(token, SLUG, api.url, **(QUICK | options))

    return open_one


@pytest.fixture
def issues(open_issues: Open) -> ScorecardIssues:
    return open_issues()


def test_all_that_is_read_of_an_issue(api: GitHubApi, issues: ScorecardIssues) -> None:
    add_closed(api, labels=[{"name": "Bug"}], last_edited_at=day(5), editor="mona")
    add_ours(api)
    api.add_comment("It is 1.4.", "mona", 8, created_at=day(6), updated_at=day(11))
    api.add_comment("Thanks!", "octocat", 8, created_at=day(7), updated_at=day(11))
    issue = ClosedIssue(
        number=8,
        title="Issue 8",
        opened_at=at(1),
        closed_at=at(10),
        labels=["Bug"],
        fix=ClosingFix(files=["src/till.py", "tests/test_till.py"]),
        reporter_wrote_at=[at(6), at(5)],
        comment=OurComment(posted_at=at(4), is_ours_alone=True, state=STATE),
    )
    assert issues.read_closed_issues(START) == ClosedIssues(closed=1, issues=[issue], since=START)
    assert api.request_lines() == [POST] * 3  # one for our own login, once


def test_only_issues_that_were_closed_since_and_have_our_comment(api: GitHubApi, issues: ScorecardIssues) -> None:
    add_closed(api, 8)
    add_closed(api, 9)
    add_ours(api, 9)
    add_closed(api, 10, closed_at="2026-10-30T10:00:00Z")
    add_ours(api, 10)
    add_ours(api, 7)  # it is open
    found = issues.read_closed_issues(START)
    assert (found.closed, [one.number for one in found.issues]) == (2, [9])


def test_issues_without_a_comment_that_were_opened_after_our_first_one(api: GitHubApi, issues: ScorecardIssues) -> None:
    pull = {"number": 5, "oid": "a" * 40, "at": day(9), "files": ["src/till.py"]}
    add_closed(api)
    add_ours(api)
    add_closed(api, 9, created_at=day(5), fixes=[pull], duplicate_of=3)
    add_closed(api, 10, created_at=day(5), fixes=[{"oid": "b" * 40, "at": day(9)}])
    add_closed(api, 11, created_at=day(1))
    silent = [one for one in issues.read_closed_issues(START).issues if one.comment is None]
    assert [(one.number, one.is_duplicate, one.fix and one.fix.files) for one in silent] == [
        (10, False, None),
        (9, True, ["src/till.py"]),
    ]
    assert set(api.request_lines()) == {POST}, "no commit is read"


def test_a_comment_after_the_close_is_none(api: GitHubApi, issues: ScorecardIssues) -> None:
    add_closed(api)
    add_ours(api, created_at=day(10, 11))
    assert issues.read_closed_issues(START).issues == []


def read_ours(issues: ScorecardIssues) -> list[OurComment]:
    return [one.comment for one in issues.read_closed_issues(START).issues if one.comment]


class TestForgedComments:
    def read(self, api: GitHubApi, issues: ScorecardIssues, by: str | None) -> list[OurComment]:
        add_closed(api)
        add_ours(api, by=by)
        return read_ours(issues)

    @pytest.mark.parametrize("by", [BOT, "till-bot[bot]"])
    def test_ours(self, api: GitHubApi, issues: ScorecardIssues, by: str) -> None:
        api.viewer = "till-bot[bot]"
        assert [one.state for one in self.read(api, issues, by)] == [STATE]

    @pytest.mark.parametrize("by", ["mona", "github-actions", "till-bot", None])
    def test_anybody_can_write_the_marker(self, api: GitHubApi, issues: ScorecardIssues, by: str | None) -> None:
        api.viewer = "till-bot[bot]"
        assert self.read(api, issues, by) == []

    def test_another_workflow_writes_with_the_same_account(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        add_closed(api)
        for _ in range(3):
            api.add_comment("This issue is stale.", BOT, 8, created_at=day(3))
        add_ours(api)
        [ours] = read_ours(issues)
        assert ours.state == STATE

    @pytest.mark.parametrize(("editor", "counts"), [(BOT, True), ("octocat", False), (None, False)])
    def test_only_what_nobody_else_edited(
        self, api: GitHubApi, issues: ScorecardIssues, editor: str | None, counts: bool
    ) -> None:
        add_closed(api)
        api.record_edit(add_ours(api), editor)
        [comment] = read_ours(issues)
        assert (comment.is_ours_alone, comment.state) == (counts, STATE if counts else CommentState())

    def test_an_unreadable_state_names_nothing(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        add_closed(api)
        add_ours(api, text="<!-- bug-triage: v2 {} -->\nText")
        [ours] = read_ours(issues)
        assert ours.state == CommentState()


class TestFixes:
    def read(self, api: GitHubApi, issues: ScorecardIssues, *fixes: dict[str, Any]) -> ClosingFix | None:
        add_closed(api, fixes=list(fixes))
        add_ours(api)
        [issue] = issues.read_closed_issues(START).issues
        return issue.fix

    def test_none(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        assert self.read(api, issues) is None

    def test_files_of_all_pull_requests(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        fix = self.read(api, issues, PULL, PULL | {"number": 11, "files": ["src/cart.py", "src/till.py"]})
        assert fix == ClosingFix(files=["src/till.py", "tests/test_till.py", "src/cart.py"])

    def test_a_pull_request_that_was_not_merged(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        assert self.read(api, issues, PULL | {"at": None}) is None

    @pytest.mark.parametrize("fix", [PULL, {"oid": "b" * 40}])
    def test_a_fix_in_another_repository(self, api: GitHubApi, issues: ScorecardIssues, fix: dict[str, Any]) -> None:
        assert self.read(api, issues, fix | {"repository": "octo/till"}) is None

    def test_a_large_pull_request_is_not_whole(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        fix = self.read(api, issues, PULL | {"files": [f"{number}.py" for number in range(130)]})
        assert fix is not None
        assert (len(fix.files), fix.is_whole) == (100, False)

    @pytest.mark.parametrize(("count", "is_whole"), [(2, True), (300, False)])
    def test_a_commit(self, api: GitHubApi, issues: ScorecardIssues, count: int, is_whole: bool) -> None:
        files = [f"{number}.py" for number in range(count)]
        api.commits.append({"sha": "b" * 40, "at": day(9), "message": "Fixes #8", "files": files})
        assert self.read(api, issues, {"oid": "b" * 40}) == ClosingFix(files=files, is_whole=is_whole)

    def test_a_commit_that_is_gone(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        assert self.read(api, issues, {"oid": "b" * 40}) is None


class TestManyIssues:
    def test_no_issue_costs_one_request(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        assert issues.read_closed_issues(START) == ClosedIssues(closed=0, issues=[], since=START)
        assert api.request_lines() == [POST]

    def test_beyond_the_maximum_only_the_newest_count(
        self, api: GitHubApi, issues: ScorecardIssues, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(closed_issues, "MAX_ISSUES", 60)
        for number in range(100, 250):
            closed = f"{START + timedelta(minutes=number):%Y-%m-%dT%H:%M:%SZ}"
            add_closed(api, number, closed_at=closed, updated_at=closed)
        found = issues.read_closed_issues(START)
        assert (found.closed, found.since) == (100, START + timedelta(minutes=150))


class TestFaults:
    def test_a_server_without_fixes_has_no_scorecard(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        asked: list[str] = []

        def note(sent: Any) -> bool:
            asked.append(sent["query"])
            return False

        api.refuse_graphql = note
        add_closed(api)
        issues.read_closed_issues(START)
        assert asked[0].count("...pull") == 2, "also where it closed the issue"
        api.faults.append(ApiFault("graphql", 200, {"errors": [{"message": "unknown field"}]}, times=2))
        with pytest.raises(TriageError):
            issues.read_closed_issues(START)

    def test_a_server_without_graphql(self, api: GitHubApi, issues: ScorecardIssues) -> None:
        api.faults.append(ApiFault("graphql", status=404, body={"message": "Not Found"}))
        with pytest.raises(GitHubUnavailable, match="GraphQL API was not found here"):
            issues.read_closed_issues(START)


def test_a_person_reads_the_comments_of_the_job_token(api: GitHubApi, open_issues: Open) -> None:
    api.viewer = "mona"
    add_closed(api)
    add_ours(api)
    [ours] = read_ours(open_issues(PERSON_TOKEN))
    assert ours.is_ours_alone
