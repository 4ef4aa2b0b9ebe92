"""GitHub's clients read and write no secret of ours: text is masked, and what a person approves is refused."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import ApiFault, GitHubApi
from testing.servers.pull_requests_api import PullRequestsApi
from testing.text.encoded_secrets import GITHUB, KEYS, MODEL, encode_all, find_secrets
from tests.fix.proposal_requests import FILES, TEST_FILES, make_request, read_files
from tests.outside.github.conftest import BASE_FILES, OpenStore, OpenTracker
from triage.base.errors import CannotPublish, TriageError
from triage.domain.effect import COMMENT_MARKER
from triage.domain.proposal import TextFile
from triage.fix.proposal_store import GitHubProposalStore
from triage.outside.github.issue_reader import read_unchanged_comment
from triage.outside.github.issue_tracker import IssueTracker
from triage.safety.active_content import find_active_content
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER, SecretRedactor
from triage.say.hidden_state import CommentState, parse_state, render_state

STATE = render_state(CommentState(text="0123456789abcdef", content="fedcba9876543210"))


@pytest.fixture
def redactor() -> SecretRedactor:
    return SecretRedactor(KEYS)


@pytest.fixture
def masking(open_tracker: OpenTracker, redactor: SecretRedactor) -> IssueTracker:
    return open_tracker(redactor=redactor)


class TestReading:
    def test_an_issue_and_its_thread(self, api: GitHubApi, masking: IssueTracker, redactor: SecretRedactor) -> None:
        api.add_issue(7, title=f"Key {GITHUB}", body="\n".join(encode_all(MODEL)))
        api.add_comment(f"see {MODEL}", "mona")
        read = masking.fetch_issue(7)
        assert find_secrets(read.model_dump_json()) == []
        assert read.title == f"Key {OWN_SECRET_PLACEHOLDER}"
        assert "(text from GitHub)" in redactor.warning

    def test_text_without_a_secret_stays(self, api: GitHubApi, masking: IssueTracker, redactor: SecretRedactor) -> None:
        assert masking.fetch_issue(7).body == api.issues[7]["body"]
        assert redactor.warning == ""

    def test_a_label_with_a_secret_is_none(self, api: GitHubApi, masking: IssueTracker) -> None:
        api.labels = ["bug", f"by {GITHUB}"]
        assert masking.list_labels() == ["bug"]
        masking.add_labels(7, ["bug", f"by {GITHUB}", f"by {OWN_SECRET_PLACEHOLDER}"])
        assert api.issues[7]["labels"] == [{"name": "bug"}]


class TestWriting:
    @pytest.mark.parametrize("form", encode_all(MODEL))
    def test_a_comment_keeps_its_state_and_its_shape(self, api: GitHubApi, masking: IssueTracker, form: str) -> None:
        body = f"{STATE}\n**Bug.** It says\n\n```\n{form}\n```\n\n| a | b |\n|---|---|\n| c | `{form}` |\n"
        masking.post_comment(7, body)
        posted = api.comments[-1]["body"]
        assert parse_state(posted) == parse_state(body) is not None
        assert find_secrets(posted) == []
        assert find_active_content(posted, []) == []

    def test_an_edit(self, api: GitHubApi, masking: IssueTracker) -> None:
        number, _ = masking.post_comment(7, f"{COMMENT_MARKER}\nFirst")
        masking.edit_comment(number, f"{COMMENT_MARKER}\n{GITHUB}")
        assert api.comments[-1]["body"] == f"{COMMENT_MARKER}\n{OWN_SECRET_PLACEHOLDER}"

    @pytest.mark.parametrize("stored", [True, False])
    def test_a_masked_comment_is_found_when_its_answer_is_lost(
        self, api: GitHubApi, masking: IssueTracker, stored: bool
    ) -> None:
        api.faults = [ApiFault("POST", 502, b"", stored=stored, times=1)]
        masking.post_comment(7, f"{COMMENT_MARKER}\n{GITHUB}")
        bodies = [comment["body"] for comment in api.comments]
        assert bodies == [f"{COMMENT_MARKER}\n{OWN_SECRET_PLACEHOLDER}"]

    def test_what_is_searched_for(self, api: GitHubApi, masking: IssueTracker) -> None:
        asked: list[Any] = []

        def answer(_: str, body: Any) -> tuple[int, Any]:
            asked.append(body)
            return 200, {"data": {"search": None, "repository": None}}

        api.graphql = answer
        with suppress(TriageError):
            list(masking.iterate_past_issues(5, f"fails with {MODEL}"))
        masking.fetch_suggestion_options(7, [MODEL, GITHUB])
        assert asked
        assert find_secrets(json.dumps(asked)) == []


PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "a file": lambda secret: {"files": {"a.py": TextFile(text=f"x = '{secret}'\n")}},
    "a test": lambda secret: {"test_files": {"a.py": TextFile(text=f"x = '{secret}'\n")}},
    "a path": lambda secret: {"files": {f"{secret}.py": TextFile(text="")}},
    "a message": lambda secret: {"message": f"{secret}\n{make_request('1' * 40).commits[-1].message}"},
    "the message of the test": lambda secret: {"test_message": f"Test: {secret}\n"},
}


class TestProposals:
    @pytest.fixture
    def store(self, open_store: OpenStore, redactor: SecretRedactor) -> GitHubProposalStore:
        return open_store(redactor=redactor)

    @pytest.fixture
    def base(self, git: GitDataApi) -> str:
        base = git.commit(BASE_FILES)
        git.set_ref("refs/heads/main", base)
        return base

    @pytest.mark.parametrize("place", PLACES)
    def test_a_secret_is_not_stored(self, git: GitDataApi, store: GitHubProposalStore, base: str, place: str) -> None:
        with pytest.raises(CannotPublish) as caught:
            store.save(*make_request(base, **PLACES[place](GITHUB)))
        assert GITHUB not in str(caught.value)
        assert not [ref for ref in git.refs if "triage" in ref]

    def test_a_secret_in_another_form_is_not_stored(self, store: GitHubProposalStore, base: str) -> None:
        for form in encode_all(GITHUB):
            with pytest.raises(CannotPublish, match="secret of this job"):
                store.save(*make_request(base, files={"a.py": TextFile(text=f"x = {form!r}\n")}))

    def test_a_secret_is_in_no_pull_request_and_no_branch(
        self, pulls: PullRequestsApi, store: GitHubProposalStore, base: str
    ) -> None:
        for words in ((GITHUB, "t", "b"), ("triage/7-x", GITHUB, "b"), ("triage/7-x", "t", GITHUB)):
            with pytest.raises(CannotPublish, match="secret of this job"):
                store.open_pull_request(words[0], base, *words[1:])
        with pytest.raises(CannotPublish, match="secret of this job"):
            store.create_branch(f"triage/7-{GITHUB}", base)

    def test_what_has_no_secret_passes(self, store: GitHubProposalStore, base: str) -> None:
        stored = store.save(*make_request(base))
        assert store.list_proposals(7) == [stored]
        assert read_files(store, stored) == {**TEST_FILES, **FILES}


def test_approvals_read_text_as_it_is(api: GitHubApi, open_store: OpenStore, redactor: SecretRedactor) -> None:
    tracker_text = f"{COMMENT_MARKER}\nOurs {GITHUB}"
    api.add_comment(tracker_text, "github-actions[bot]")
    body = read_unchanged_comment(open_store(redactor=redactor), api.comments[-1]["id"])
    assert body == tracker_text, "an id is computed from what is read"


def test_a_stored_file_with_a_secret_is_read_as_it_is(
    git: GitDataApi, open_store: OpenStore, redactor: SecretRedactor
) -> None:
    git.set_ref("refs/heads/main", git.commit(BASE_FILES | {"CODEOWNERS": f"* @mona # {MODEL}\n"}))
    assert open_store(redactor=redactor).read_code_owners() == f"* @mona # {MODEL}\n"
