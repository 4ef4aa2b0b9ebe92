"""Commits that are asked for, and messages as `approval.commit_text` writes them."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from testing.servers.github_api import START
from triage.domain.proposal import Patch, PatchCommit, PatchedFile, Proposal, TextFile
from triage.fix.commit_text import write_messages
from triage.fix.proposal_store import GitHubProposalStore

CART, TEST = "shop/cart.py", "shop/tests/test_cart.py"
FIXED = "def total(prices):\r\n    return round(sum(prices), 2)\r\n"
NEW_TEST = "def test_total():\n    assert total([0.1, 0.2]) == 0.3  # ünïcode 🛒\n"
FILES = {CART: TextFile(text=FIXED)}
TEST_FILES = {TEST: TextFile(text=NEW_TEST)}


def make_messages(
    issue: int | None, base: str, *, summary: str = "Round totals", tests: bool = True
) -> tuple[str, str]:
    """Returns the messages of the commit with the test and of the commit with the patch."""
    version = PatchedFile(path=CART, text=FIXED)
    value = Patch(
        repository="octo/shop",
        issue=issue,
        issue_title="Totals are wrong",
        issue_text_hash="0123456789abcdef",
        base=base,
        summary=summary,
        changes=[version],
        tests=[version] if tests else [],
    )
    return write_messages(value)


class Request(NamedTuple):
    """What a store is given."""

    issue: int
    base: str
    commits: list[PatchCommit]
    now: datetime = START


def make_request(
    base: str,
    issue: int = 7,
    *,
    summary: str = "Round totals",
    test_files: Mapping[str, TextFile] = TEST_FILES,
    files: Mapping[str, TextFile] = FILES,
    test_message: str = "",
    message: str = "",
) -> Request:
    messages = make_messages(issue, base, summary=summary, tests=bool(test_files))
    tests = [PatchCommit(files=test_files, message=test_message or messages[0])] if test_files else []
    return Request(issue, base, [*tests, PatchCommit(files=files, message=message or messages[1])])


def read_files(store: GitHubProposalStore, proposal: Proposal) -> dict[str, TextFile]:
    """The files that a stored patch changes, by path, as it leaves them."""
    return {path: file for commit in store.read_commits(proposal) for path, file in commit.files.items()}
