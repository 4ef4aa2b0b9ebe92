"""Suggestions are stored once or not at all, change nothing on the issue, and are unknown to other servers."""

from typing import Any

import pytest

from testing.servers.github_api import ApiFault, GitHubApi
from testing.servers.suggesting_github import SuggestingGitHub
from triage.base.errors import CannotPublish
from triage.domain.effect import Suggestion, SuggestionKind, SuggestionOptions
from triage.outside.github.issue_tracker import IssueTracker

POST = "POST /graphql"
LABELS = ["bug", "Good First Issue"]


def suggestion(kind: SuggestionKind, name: str) -> Suggestion:
    return Suggestion(kind=kind, name=name, rationale=f"Why {name}.", confidence="MEDIUM")


ALL = [suggestion("label", "bug"), suggestion("type", "Bug")]


@pytest.fixture
def github(api: GitHubApi) -> SuggestingGitHub:
    api.issues[7]["labels"] = [{"name": "Good First Issue"}]
    server = SuggestingGitHub(api)
    api.graphql = server
    return server


def pending(github: SuggestingGitHub) -> list[tuple[str, str]]:
    return [(row["kind"], row["name"]) for row in github.pending]


def unchanged(api: GitHubApi) -> bool:
    issue = api.issues[7]
    return issue["labels"] == [{"name": "Good First Issue"}] and "type" not in issue


class TestOptions:
    def test_what_exists_and_is_not_there_yet(self, github: SuggestingGitHub, tracker: IssueTracker) -> None:
        github.disabled_types = {"Feature"}
        options = tracker.fetch_suggestion_options(7, ["bug", "Good First Issue", "gone"])
        assert options == SuggestionOptions(labels=["bug"], types=["Task", "Bug"], can_close=True)
        assert github.api.request_lines() == [POST]
        assert [document.operation for document in github.documents] == ["query"]

    @pytest.mark.parametrize(
        ("state", "expected"),
        [
            ({"type": "Task"}, SuggestionOptions(labels=["bug"], can_close=True)),
            ({"labels": [{"name": "bug"}]}, SuggestionOptions(types=["Task", "Bug", "Feature"], can_close=True)),
        ],
    )
    def test_what_the_issue_has_is_not_offered(
        self, github: SuggestingGitHub, tracker: IssueTracker, state: dict[str, Any], expected: SuggestionOptions
    ) -> None:
        github.api.issues[7] |= {"labels": []} | state
        assert tracker.fetch_suggestion_options(7, ["bug"]) == expected

    @pytest.mark.parametrize(
        ("kind", "name", "missing"),
        [("label", "bug", "labels"), ("type", "Task", "types")],
    )
    def test_what_anybody_suggested_is_not_offered(
        self, github: SuggestingGitHub, tracker: IssueTracker, kind: str, name: str, missing: str
    ) -> None:
        github.pending = [{"kind": kind, "name": name, "rationale": "", "confidence": "LOW"}]
        options = tracker.fetch_suggestion_options(7, ["bug"])
        assert options is not None
        assert {name for name, value in options if not value} == {missing, "original"}

    def test_a_repository_without_issue_types(self, github: SuggestingGitHub, tracker: IssueTracker) -> None:
        github.types = []
        assert tracker.fetch_suggestion_options(7, []) == SuggestionOptions(can_close=True)

    def test_another_server(self, github: SuggestingGitHub, tracker: IssueTracker) -> None:
        github.knows_suggestions = False
        assert tracker.fetch_suggestion_options(7, LABELS) is None
        assert len(github.api.requests) == 1

    @pytest.mark.parametrize(
        "fault",
        [
            ApiFault(POST),
            ApiFault(POST, 502, b"<html>"),
            ApiFault(POST, 403, {"message": "no"}),
            ApiFault(POST, 200, {"data": None}),
            ApiFault(POST, 200, {"data": {"repository": None}, "errors": [{"type": "NOT_FOUND"}]}),
            ApiFault(POST, 200, {"data": {"repository": {"issue": {"id": "I_7", "pendingSuggestions": None}}}}),
            ApiFault(POST, 200, {"data": {"repository": {"issue": {"id": 7, "pendingSuggestions": []}}}}),
        ],
    )
    def test_without_a_clear_answer_nothing_is_offered(
        self, github: SuggestingGitHub, tracker: IssueTracker, fault: ApiFault
    ) -> None:
        github.api.faults = [fault]
        assert tracker.fetch_suggestion_options(7, LABELS) is None

    def test_a_part_that_github_does_not_show_is_left_out(
        self, github: SuggestingGitHub, tracker: IssueTracker
    ) -> None:
        issue: dict[str, Any] = {
            "id": "I_7",
            "issueType": None,
            "labels": None,
            "pendingSuggestions": [],
        }
        shown = {"issue": issue, "issueTypes": None, "label0": {"id": "LA_bug", "name": "bug"}}
        github.api.faults = [ApiFault(POST, 200, {"data": {"repository": shown}, "errors": [{"type": "FORBIDDEN"}]})]
        assert tracker.fetch_suggestion_options(7, ["bug"]) == SuggestionOptions(labels=["bug"], can_close=True)


class TestSuggesting:
    def test_everything_is_pending_and_the_issue_is_as_it_was(
        self, github: SuggestingGitHub, tracker: IssueTracker
    ) -> None:
        tracker.fetch_suggestion_options(7, LABELS)
        tracker.suggest(7, ALL)
        assert github.pending == [one.model_dump() for one in ALL]
        assert unchanged(github.api)
        assert [document.operation for document in github.documents] == ["query", "mutation"]

    def test_only_what_is_suggested_is_sent(self, github: SuggestingGitHub, tracker: IssueTracker) -> None:
        tracker.fetch_suggestion_options(7, [])
        tracker.suggest(7, [suggestion("type", "Bug")])
        [mutation] = [document for document in github.documents if document.operation == "mutation"]
        assert [one.name for one in mutation.selections] == ["updateIssue"]
        assert set(mutation.selections[0].arguments["input"]) == {"id", "issueType"}
        assert unchanged(github.api)

    @pytest.mark.parametrize("status", [0, 502])
    @pytest.mark.parametrize("stored", [False, True])
    def test_a_lost_answer_doubles_nothing(
        self, github: SuggestingGitHub, tracker: IssueTracker, status: int, stored: bool
    ) -> None:
        tracker.fetch_suggestion_options(7, LABELS)
        github.api.faults = [ApiFault(POST, status, b"<html>", stored=stored, times=1)]
        with pytest.raises(CannotPublish):
            tracker.suggest(7, ALL)
        assert pending(github) == ([("label", "bug"), ("type", "Bug")] if stored else [])

    def test_a_server_that_lost_the_feature_applies_nothing(
        self, github: SuggestingGitHub, tracker: IssueTracker
    ) -> None:
        tracker.fetch_suggestion_options(7, LABELS)
        github.knows_suggestions = False
        with pytest.raises(CannotPublish):
            tracker.suggest(7, ALL)
        assert unchanged(github.api)


class TestClosing:
    @pytest.fixture
    def github(self, api: GitHubApi) -> SuggestingGitHub:
        api.issues[3] = api.issues[7] | {"number": 3}
        api.graphql = SuggestingGitHub(api)
        return api.graphql

    def test_an_open_issue_and_its_original_may_be_closed(
        self, tracker: IssueTracker, github: SuggestingGitHub
    ) -> None:
        options = tracker.fetch_suggestion_options(7, [], 3)
        assert options is not None
        assert (options.can_close, options.original) == (True, 3)
        gone = tracker.fetch_suggestion_options(7, [], 404)
        assert gone is not None
        assert gone.original == 0

    @pytest.mark.parametrize("reason", ["COMPLETED", "NOT_PLANNED", "DUPLICATE 3"])
    def test_not_where_somebody_suggested_it(
        self, reason: str, tracker: IssueTracker, github: SuggestingGitHub
    ) -> None:
        github.pending = [{"kind": "close", "name": reason, "rationale": "", "confidence": "LOW"}]
        options = tracker.fetch_suggestion_options(7, [], 3)
        assert options is not None
        assert not options.can_close

    def test_not_a_closed_issue(self, tracker: IssueTracker, github: SuggestingGitHub) -> None:
        github.api.issues[7]["state"] = "closed"
        options = tracker.fetch_suggestion_options(7, [], 3)
        assert options is not None
        assert not options.can_close

    def test_as_a_duplicate(self, tracker: IssueTracker, github: SuggestingGitHub) -> None:
        tracker.fetch_suggestion_options(7, [], 3)
        tracker.suggest(7, [suggestion("close", "as duplicate of #3")])
        assert [kind for kind, _ in pending(github)] == ["close"]
