"""Past issues are read in pages with their fixes, once, and an odd answer costs only what is odd in it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from testing.servers.github_api import ApiFault, GitHubApi
from tests.outside.github.conftest import OpenTracker
from triage.base.errors import GitHubUnavailable, TriageError
from triage.domain.past_issues import PastFix, PastIssue
from triage.outside.github.issue_tracker import IssueTracker
from triage.outside.github.read_past_issues import MAX_BODY_CHARS
from triage.say.hidden_state import CommentState, render_state

POST = "POST /graphql"
TIME = "2026-11-01T10:00:00Z"
AT = datetime(2026, 11, 1, 10, tzinfo=UTC)


def read(tracker: IssueTracker, limit: int = 500, words: str = "") -> list[PastIssue]:
    return [issue for page in tracker.iterate_past_issues(limit, words) for issue in page]


def add_many(api: GitHubApi, count: int) -> None:
    for number in range(10, 10 + count):
        api.add_issue(number, title=f"Issue {number}", created_at=TIME, updated_at=TIME)


def test_all_that_is_read_of_an_issue(api: GitHubApi, tracker: IssueTracker) -> None:
    pull = {"number": 9, "oid": "a" * 40, "title": "Fix it", "at": TIME, "milestone": "1.4", "files": ["a.py", "b.py"]}
    api.issues.clear()
    api.add_issue(
        8,
        title="It breaks",
        body="x" * 10_000,
        state="closed",
        state_reason="completed",
        closed_at=TIME,
        milestone="1.4",
        type="Bug",
        labels=[{"name": "bug"}],
        created_at=TIME,
        updated_at=TIME,
        fixes=[pull, {"oid": "b" * 40, "title": "And that", "at": TIME}],
    )
    [issue] = read(tracker)
    assert issue == PastIssue(
        number=8,
        title="It breaks",
        body="x" * MAX_BODY_CHARS,
        author="mona",
        labels=["bug"],
        issue_type="Bug",
        state="closed",
        state_reason="completed",
        created_at=AT,
        updated_at=AT,
        closed_at=AT,
        milestone="1.4",
        fixes=[
            PastFix(number=9, commit="a" * 40, title="Fix it", milestone="1.4", files=["a.py", "b.py"], at=AT),
            PastFix(commit="b" * 40, title="And that", at=AT),
        ],
    )


@pytest.mark.parametrize(
    ("headline", "commits", "merged"),
    [
        ("Correct it", ["Begin", "Correct it"], 2),  # rebased
        ("Correct it (#9)", ["Begin", "Correct it"], 1),  # squashed
        ("Merge pull request #9", ["Begin", "Correct it"], 1),
        ("Correct it", ["Correct it"], 1),
        ("", [], 1),
    ],
)
def test_only_rebasing_puts_several_commits_onto_the_branch(
    api: GitHubApi, tracker: IssueTracker, headline: str, commits: list[str], merged: int
) -> None:
    pull = {"number": 9, "oid": "a" * 40, "at": TIME, "headline": headline, "commits": commits}
    api.add_issue(8, state="closed", fixes=[pull])
    [issue] = [one for one in read(tracker) if one.number == 8]
    assert issue.fixes[0].commits == merged


def test_a_duplicate_names_the_other_issue(api: GitHubApi, tracker: IssueTracker) -> None:
    api.add_issue(8, state="closed", state_reason="duplicate", duplicate_of=3)
    assert [(one.state_reason, one.duplicate_of) for one in read(tracker) if one.number == 8] == [("duplicate", 3)]


@pytest.mark.parametrize(("limit", "requests"), [(500, 4), (250, 4), (200, 3), (30, 2)])
def test_pages_end_at_the_limit(api: GitHubApi, tracker: IssueTracker, limit: int, requests: int) -> None:
    add_many(api, 260)
    assert len(read(tracker, limit)) == min(limit, 261)
    assert api.request_lines() == [POST] * requests


def test_an_old_issue_is_found_by_its_words(api: GitHubApi, tracker: IssueTracker) -> None:
    add_many(api, 100)
    api.add_issue(3, title="Cannot open the till", created_at="2020-01-01T00:00:00Z", updated_at=TIME)
    assert read(tracker, limit=100, words='"open the till"')[-1].number == 3
    assert len(api.requests) == 3


def test_pull_requests_that_are_open_or_merged_are_read_too(api: GitHubApi, tracker: IssueTracker) -> None:
    merged = {"state": "closed", "pull_request": {"merged_at": TIME}, "closed_at": TIME}
    api.add_issue(8, title="Open the till", pull_request={"merged_at": None}, created_at=TIME, updated_at=TIME)
    api.add_issue(9, title="Open the drawer", created_at=TIME, updated_at=TIME, **merged)
    api.add_issue(10, title="Open all", state="closed", pull_request={"merged_at": None})
    found = read(tracker, words="Open")
    pulls = [(one.number, one.title, one.state) for one in found if one.is_pull_request]
    assert pulls == [(9, "Open the drawer", "closed"), (8, "Open the till", "open")]
    assert len(found) == 3


def test_a_token_may_read_no_pull_requests(api: GitHubApi, tracker: IssueTracker) -> None:
    api.add_issue(3, title="Cannot open the till", created_at="2020-01-01T00:00:00Z")
    api.refuse_graphql = lambda sent: "issues: pullRequests" in sent["query"]
    assert [one.number for one in read(tracker, limit=1, words="till")] == [7, 3]


class TestOurReports:
    state = CommentState(suspects=["src/till.py"], wrong=["known"])

    def suspects(self, api: GitHubApi, tracker: IssueTracker, by: str | None) -> list[str]:
        api.add_comment("Me too.")
        api.add_comment(f"{render_state(self.state)}\nText", by=by)
        [issue] = read(tracker)
        assert bool(issue.wrong_subjects) == bool(issue.suspects)
        return issue.suspects

    @pytest.mark.parametrize("by", ["github-actions[bot]", "till-bot[bot]"])
    def test_their_suspects(self, api: GitHubApi, tracker: IssueTracker, by: str) -> None:
        api.viewer = "till-bot[bot]"
        assert self.suspects(api, tracker, by) == ["src/till.py"]

    @pytest.mark.parametrize("by", ["mona", "github-actions", None])
    def test_somebody_else_writes_the_marker(self, api: GitHubApi, tracker: IssueTracker, by: str | None) -> None:
        assert self.suspects(api, tracker, by) == []


class TestFaults:
    def test_an_older_server(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.is_old = True
        api.add_issue(8, labels=[{"name": "bug"}], type="Bug")
        add_many(api, 150)
        found = read(tracker, words="breaks")
        assert len(found) == 152
        assert [(one.labels, one.issue_type) for one in found if one.number == 8] == [(["bug"], "")]
        assert len(api.requests) == 5  # the fields are refused once

    @pytest.mark.parametrize(("refusals", "known"), [(0, ("Bug", 1)), (1, ("", 1)), (2, ("", 0))])
    def test_what_a_server_does_not_know_is_left_out_in_steps(
        self, api: GitHubApi, tracker: IssueTracker, refusals: int, known: tuple[str, int]
    ) -> None:
        api.add_issue(8, state="closed", type="Bug", fixes=[{"oid": "b" * 40, "title": "Fix", "at": TIME}])
        api.faults.append(ApiFault("graphql", 200, {"errors": [{"message": "unknown field"}]}, times=refusals))
        [issue] = [one for one in read(tracker) if one.number == 8]
        assert (issue.issue_type, len(issue.fixes)) == known

    def test_a_page_that_takes_too_long_is_asked_for_in_parts(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_issue(8, type="Bug")
        api.faults.append(ApiFault("graphql", status=502, times=3))
        assert [one.issue_type for one in read(tracker) if one.number == 8] == ["Bug"]

    def test_what_was_read_before_an_error_stays(self, api: GitHubApi, tracker: IssueTracker) -> None:
        add_many(api, 150)
        found: list[PastIssue] = []

        def read_all() -> None:
            for page in tracker.iterate_past_issues(500, ""):
                found.extend(page)
                api.faults.append(ApiFault("graphql", status=502))

        with pytest.raises(GitHubUnavailable):
            read_all()
        assert len(found) == 100

    @pytest.mark.parametrize(
        "data",
        [
            {},
            {"repository": None},
            {"repository": {"issues": None}},
            {"repository": {"issues": []}},
            {"repository": {"issues": {"nodes": 5}}},
            {"repository": {"issues": {"nodes": [], "pageInfo": {"hasNextPage": True, "endCursor": 5}}}},
        ],
    )
    def test_an_answer_of_another_form(self, api: GitHubApi, tracker: IssueTracker, data: Any) -> None:
        api.faults.append(ApiFault("graphql", status=200, body={"data": data}))
        with pytest.raises(TriageError):
            read(tracker)

    def test_an_odd_issue_costs_only_itself(self, api: GitHubApi, tracker: IssueTracker) -> None:
        good = {"number": 5, "createdAt": TIME, "title": "Good", "labels": None, "author": None, "body": None}
        odd: list[Any] = [
            None,
            {},
            {"number": "x"},
            {"number": 6},
            good | {"number": 0},
            good | {"createdAt": "yesterday"},
            [],
        ]
        page = {"nodes": [*odd, good], "pageInfo": {"hasNextPage": True, "endCursor": None}}
        api.faults.append(ApiFault("graphql", status=200, body={"data": {"repository": {"issues": page}}}))
        assert read(tracker) == [PastIssue(number=5, title="Good", author="ghost", created_at=AT)]

    def test_a_page_that_repeats_ends(self, api: GitHubApi, tracker: IssueTracker) -> None:
        node = {"number": 5, "createdAt": TIME, "title": "Again"}
        page = {"nodes": [node], "pageInfo": {"hasNextPage": True, "endCursor": "again"}}
        api.faults.append(ApiFault("graphql", status=200, body={"data": {"repository": {"issues": page}}}))
        read(tracker)
        assert len(api.requests) == 3

    def test_a_match_in_another_repository_does_not_count(self, api: GitHubApi, tracker: IssueTracker) -> None:
        node = {"number": 5, "createdAt": TIME, "repository": {"nameWithOwner": "Octo/Shop"}}
        other = node | {"number": 6, "repository": {"nameWithOwner": "evil/shop"}}
        data = {"repository": {"issues": {"nodes": []}}, "search": {"nodes": [other, node, {}]}}
        api.faults.append(ApiFault("graphql", status=200, body={"data": data}))
        assert [issue.number for issue in read(tracker, words="x")] == [5]


def test_a_server_without_graphql_says_so(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults.append(ApiFault("graphql", status=404, body={"message": "Not Found"}))
    with pytest.raises(GitHubUnavailable, match="GraphQL API was not found here"):
        read(tracker)


def test_without_permission_to_read(open_tracker: OpenTracker, api: GitHubApi) -> None:
    with pytest.raises(TriageError):
        read(open_tracker("bad-token"))
    assert api.request_lines() == [POST]
