"""What is stored of a draft, on GitHub and in a local repository."""

from datetime import datetime

from triage.approval.decide_approval import is_expired
from triage.approval.proposal_id import hash_value
from triage.base.errors import CannotPublish
from triage.domain.proposal import PatchDraft, StoredProposal
from triage.fix.commit_text import normalize_message, write_local_messages, write_messages
from triage.fix.patch.commit_files import list_commit_files
from triage.proposal_ports import BaseFiles, CommitRequest, ProposalStore


def build_request(draft: PatchDraft, files: BaseFiles, *, is_local: bool = False) -> CommitRequest:
    """Return what is stored of a draft: its files with the modes that they have, and the messages of its commits.

    Messages for a local repository lack what a later job would read back.
    """
    test_message, message = write_local_messages(draft) if is_local else write_messages(draft, hash_value(draft))
    test_files, changed_files = list_commit_files(draft, files)
    return CommitRequest(
        issue=draft.issue or 0,
        base=draft.base,
        test_files=test_files,
        files=changed_files,
        test_message=test_message,
        message=message,
    )


def holds_exactly(stored: StoredProposal, request: CommitRequest, store: ProposalStore, now: datetime) -> bool:
    """Return whether each commit has the files and the message of the request and nothing else, and a time till now.

    Asks GitHub; raises as the store.
    """
    written = [request.test_message, request.message] if request.test_files else [request.message]
    messages = [normalize_message(one) for one in store.read_messages(stored.proposal)]
    if is_expired(stored.proposal, now) or messages != [normalize_message(one) for one in written]:
        return False
    try:
        found = store.read_test_files(stored.proposal), store.read_files(stored.proposal)
    except CannotPublish:
        return False
    return found == (request.test_files, {**request.test_files, **request.files})
