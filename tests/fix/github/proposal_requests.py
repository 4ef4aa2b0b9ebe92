"""Commits that are asked for, and messages as `approval.commit_text` writes them."""

from collections.abc import Mapping
from typing import Any

from triage.domain.proposal import BaseFile, FileVersion, PatchDraft
from triage.fix.commit_text import write_messages
from triage.fix.fix_ports import CommitRequest, PatchCommit

CART, TEST = "shop/cart.py", "shop/tests/test_cart.py"
FIXED = "def total(prices):\r\n    return round(sum(prices), 2)\r\n"
NEW_TEST = "def test_total():\n    assert total([0.1, 0.2]) == 0.3  # ünïcode 🛒\n"
FILES = {CART: BaseFile(text=FIXED)}
TEST_FILES = {TEST: BaseFile(text=NEW_TEST)}


def make_messages(issue: int | None, base: str, *, draft: str = "d" * 64, tests: bool = True) -> tuple[str, str]:
    """Returns the messages of the commit with the test and of the commit with the patch."""
    version = FileVersion(path=CART, text=FIXED)
    value = PatchDraft(
        repository="octo/shop",
        issue=issue,
        issue_title="Totals are wrong",
        issue_text="0123456789abcdef",
        base=base,
        summary="Round totals",
        changes=[version],
        tests=[version] if tests else [],
    )
    return write_messages(value, draft)


def make_request(
    base: str,
    issue: int = 7,
    *,
    draft: str = "d" * 64,
    test_files: Mapping[str, BaseFile] = TEST_FILES,
    files: Mapping[str, BaseFile] = FILES,
    **changes: Any,
) -> CommitRequest:
    messages = make_messages(issue, base, draft=draft, tests=bool(test_files))
    test_message, message = changes.pop("test_message", messages[0]), changes.pop("message", messages[1])
    tests = [PatchCommit(files=test_files, message=test_message)] if test_files else []
    given = {"issue": issue, "base": base, "commits": [*tests, PatchCommit(files=files, message=message)]}
    return CommitRequest.model_validate(given | changes)
