"""Only a comment that nobody but this token's account wrote and edited is ours alone. What GitHub does not say is no."""

from collections.abc import Callable
from typing import Any

import pytest

from testing.servers.github_api import JOB_TOKEN, LOGINS, PERSON_TOKEN, SLUG, ApiFault, ApiRequest, GitHubApi
from testing.servers.graphql_documents import parse_document
from tests.outside.github.conftest import QUICK, OpenStore
from triage.base.errors import GitHubUnavailable
from triage.fix.proposal_store import GitHubProposalStore
from triage.outside.github.issue_reader import read_unchanged_comment

BOT = LOGINS[JOB_TOKEN]
GRAPHQL = "POST /graphql"


@pytest.fixture
def open_store(api: GitHubApi) -> OpenStore:
    """Without git objects, which a comment needs none of."""
    return lambda token=JOB_TOKEN, **options: GitHubProposalStore(token, SLUG, api.url, **(QUICK | options))


@pytest.fixture
def comment(api: GitHubApi) -> dict[str, Any]:
    return api.add_comment("Ours\r\n", BOT)


def change_answer(api: GitHubApi, change: Callable[[dict[str, Any]], Any]) -> None:
    """Lets the server answer the next question about comment 5000 with something else."""
    node: dict[str, Any] = {
        "id": "IC_5000",
        "fullDatabaseId": "5000",
        "repository": {"nameWithOwner": SLUG},
        "body": "Ours",
        "author": {"__typename": "Bot", "login": "github-actions"},
        "editor": None,
        "lastEditedAt": None,
        "userContentEdits": {"nodes": [], "pageInfo": {"hasNextPage": False}},
    }
    data = {"viewer": {"login": BOT}, "node": node}
    change(data)
    api.faults = [ApiFault(GRAPHQL, 200, {"data": {"viewer": data.get("viewer"), "nodes": [data["node"]]}})]


def is_ours_alone(store: GitHubProposalStore, comment: int = 5000) -> bool:
    return read_unchanged_comment(store, comment) != ""


class TestOursAlone:
    def test_never_edited(self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore) -> None:
        assert read_unchanged_comment(store, 5000) == "Ours\r\n"
        assert api.request_lines() == [f"GET /repos/{SLUG}/issues/comments/5000", GRAPHQL, GRAPHQL]

    @pytest.mark.parametrize("edits", [1, 98, 99])
    def test_edited_by_us(
        self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore, edits: int
    ) -> None:
        for _ in range(edits):
            api.record_edit(comment, BOT)
        assert is_ours_alone(store)
        assert len(api.edits[5000]) == edits + 1

    def test_a_person_whose_token_wrote_it(self, api: GitHubApi, open_store: OpenStore) -> None:
        comment = api.add_comment("Mine", "mona")
        api.record_edit(comment, "Mona")
        assert is_ours_alone(open_store(PERSON_TOKEN))


class TestEditedByOthers:
    @pytest.mark.parametrize("by", ["mallory", "github-actions", "other-app[bot]", None])
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_any_edit_counts(
        self,
        api: GitHubApi,
        comment: dict[str, Any],
        store: GitHubProposalStore,
        by: str | None,
        place: int,
    ) -> None:
        for number in range(3):
            api.record_edit(comment, by if number == place else BOT)
        assert not is_ours_alone(store)

    def test_an_edit_that_was_deleted_from_the_history(
        self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore
    ) -> None:
        api.record_edit(comment, BOT, deletedAt=api.timestamp)
        assert not is_ours_alone(store)

    def test_more_edits_than_github_shows_at_once(
        self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore
    ) -> None:
        for _ in range(100):
            api.record_edit(comment, BOT)
        assert len(api.edits[5000]) == 101
        assert not is_ours_alone(store)


class TestNotOurs:
    @pytest.mark.parametrize("by", ["mallory", "github-actions", "other-app[bot]", None])
    def test_somebody_elses(self, api: GitHubApi, store: GitHubProposalStore, by: str | None) -> None:
        api.add_comment("Theirs", by)
        assert read_unchanged_comment(store, 5000) == ""

    def test_an_app_with_the_name_of_our_account(self, api: GitHubApi, open_store: OpenStore) -> None:
        api.add_comment("Theirs", "mona[bot]")
        assert read_unchanged_comment(open_store(PERSON_TOKEN), 5000) == ""

    def test_a_deleted_one(self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore) -> None:
        def delete(asked: ApiRequest) -> None:
            if asked.line == GRAPHQL:
                api.comments.clear()

        api.on_request = delete
        assert read_unchanged_comment(store, 5000) == ""
        assert read_unchanged_comment(store, 5000) == ""
        assert api.request_lines(GRAPHQL) == [GRAPHQL]

    def test_another_repository(self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore) -> None:
        comment["repository"] = "mallory/shop"
        with pytest.raises(GitHubUnavailable, match="cannot be read"):
            read_unchanged_comment(store, 5000)


class TestUnreadable:
    @pytest.mark.parametrize(
        "change",
        [
            lambda data: data["node"].update(userContentEdits=None, lastEditedAt="2026-11-21T09:00:00Z"),
            lambda data: data["node"].update(
                userContentEdits=None, editor={"__typename": "Bot", "login": "github-actions"}
            ),
            lambda data: data["node"].update(
                lastEditedAt="2026-11-21T09:00:00Z", editor={"__typename": "Bot", "login": "github-actions"}
            ),
            lambda data: data["node"]["userContentEdits"].update(nodes=[None]),
            lambda data: data["node"]["userContentEdits"]["pageInfo"].update(hasNextPage=True),
            lambda data: data["node"].update(editor={"__typename": "Mannequin", "login": "github-actions"}),
        ],
    )
    def test_what_github_does_not_say_is_no(
        self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore, change: Callable[..., Any]
    ) -> None:
        change_answer(api, change)
        assert not is_ours_alone(store)

    def test_no_list_of_edits_where_nothing_was_edited(
        self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore
    ) -> None:
        change_answer(api, lambda data: data["node"].update(userContentEdits=None))
        assert is_ours_alone(store)

    @pytest.mark.parametrize(
        "change",
        [
            lambda data: data.pop("viewer"),
            lambda data: data.update(node={}),
            lambda data: data["node"].pop("userContentEdits"),
            lambda data: data["node"].pop("lastEditedAt"),
            lambda data: data["node"].update(body=None),
            lambda data: data["node"].update(fullDatabaseId="5001"),
            lambda data: data["node"]["userContentEdits"].update(nodes=None),
            lambda data: data["node"]["userContentEdits"].update(nodes=[{"editor": None}]),
        ],
    )
    def test_an_answer_of_another_form_is_an_error(
        self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore, change: Callable[..., Any]
    ) -> None:
        change_answer(api, change)
        with pytest.raises(GitHubUnavailable, match="cannot be read"):
            read_unchanged_comment(store, 5000)

    def test_one_question_reads_the_text_and_its_edits(
        self, api: GitHubApi, comment: dict[str, Any], store: GitHubProposalStore
    ) -> None:
        """Text and history of two questions could be those of two states."""
        from triage.outside.github.issue_reader import _COMMENTS

        document = parse_document(_COMMENTS, {"ids": ["x"]})
        (fragment,) = document.selections[0].selections
        assert {"body", "userContentEdits", "editor", "lastEditedAt"} <= {one.name for one in fragment.selections}
        read_unchanged_comment(store, 5000)
        assert len(api.request_lines(GRAPHQL)) == 2, "the other one asks who we are"
