"""A secret of ours is in no commit, branch or pull request; everything else passes unchanged."""

from collections.abc import Callable
from typing import Any

import pytest

from testing.fake_proposals import FakeIssueApprovals, FakeProposalStore
from testing.text.encoded_secrets import GITHUB, KEYS, encode_all
from tests.fix.github.proposal_requests import make_request
from triage.base.errors import CannotPublish
from triage.domain.proposal import BaseFile, CommentRecord
from triage.safety.secrets.redactor import SecretRedactor
from triage.writes.redacting_proposals import RedactingIssueApprovals, RedactingProposalStore

BASE = "1" * 40


@pytest.fixture
def store() -> RedactingProposalStore:
    return RedactingProposalStore(FakeProposalStore(), SecretRedactor(KEYS))


def file(text: str) -> dict[str, BaseFile]:
    return {"a.py": BaseFile(text=text)}


REQUESTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "a file": lambda secret: {"files": file(f"x = '{secret}'\n")},
    "a test": lambda secret: {"test_files": file(f"x = '{secret}'\n")},
    "a path": lambda secret: {"files": {f"{secret}.py": BaseFile(text="")}},
    "a message": lambda secret: {"message": f"{secret}\n{make_request(BASE).message}"},
    "the message of the test": lambda secret: {"test_message": f"Test: {secret}\n"},
}


@pytest.mark.parametrize("place", REQUESTS)
def test_a_secret_is_not_stored(place: str) -> None:
    fake = FakeProposalStore()
    with pytest.raises(CannotPublish, match="secret of this job") as caught:
        RedactingProposalStore(fake, SecretRedactor(KEYS)).store(make_request(BASE, **REQUESTS[place](GITHUB)))
    assert GITHUB not in str(caught.value)
    assert fake.calls == []


def test_a_secret_in_another_form_is_not_stored(store: RedactingProposalStore) -> None:
    for form in encode_all(GITHUB):
        with pytest.raises(CannotPublish):
            store.store(make_request(BASE, files=file(f"x = {form!r}\n")))


@pytest.mark.parametrize("words", [(GITHUB, "t", "b"), ("triage/7-x", GITHUB, "b"), ("triage/7-x", "t", GITHUB)])
def test_a_secret_is_in_no_pull_request_and_no_branch(
    store: RedactingProposalStore, words: tuple[str, str, str]
) -> None:
    with pytest.raises(CannotPublish):
        store.open_pull_request(words[0], BASE, *words[1:])
    with pytest.raises(CannotPublish):
        store.create_branch(f"triage/7-{GITHUB}", BASE)


def test_what_has_no_secret_passes(store: RedactingProposalStore) -> None:
    stored = store.store(make_request(BASE))
    assert store.list_proposals(7) == [stored]
    assert store.list_expired(5) == []
    assert store.list_changed_on_base(stored.proposal) == []
    assert store.read_code_owners() is None
    assert store.read_files(stored.proposal) == {**make_request(BASE).test_files, **make_request(BASE).files}
    assert store.read_test_files(stored.proposal) == make_request(BASE).test_files
    assert store.read_messages(stored.proposal) == [make_request(BASE).test_message, make_request(BASE).message]
    assert store.is_on_default_branch(BASE)
    assert store.create_branch("triage/7-x", stored.proposal.commit)
    assert store.open_pull_request("triage/7-x", stored.proposal.commit, "t", "b") == store.find_pull_request(
        "triage/7-x", stored.proposal.commit
    )
    store.delete(stored)
    assert [one.ref for one in store.list_proposals(7)] == ["refs/heads/triage/7-x"]
    assert store.build_compare_url("triage/7-x").endswith("/compare/triage/7-x?expand=1")


def test_approvals() -> None:
    record = CommentRecord(comment_id=5, body=f"Ours {GITHUB}", is_ours_alone=True)
    fake = FakeIssueApprovals(records={5: record})
    approvals = RedactingIssueApprovals(fake, SecretRedactor(KEYS))
    assert approvals.read_comment_record(5) == record, "an id is computed from what is read"
    approvals.react(5, "+1")
    approvals.set_issue_type(7, "Bug")
    approvals.add_assignee(7, "mona")
    for write in (approvals.set_issue_type, approvals.add_assignee):
        with pytest.raises(CannotPublish):
            write(7, GITHUB)
    assert (fake.reactions, fake.types, fake.assignees) == ([(5, "+1")], {7: "Bug"}, {7: ["mona"]})
