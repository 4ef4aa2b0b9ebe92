"""The commits of a checkout as a backtest reads them, and git's answers about them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from triage.backtest.past_case import FixCommit
from triage.base.errors import BadInput
from triage.code.files.file_roles import classify_file
from triage.code.git.commit import CommitTree, open_commit
from triage.code.git.git import GitError
from triage.code.git.git_history import GitHistory
from triage.code.past.past_changes import is_mainly_fix

_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""


def open_history(root: Path) -> tuple[CommitTree, GitHistory]:
    """Return the newest commit of the checkout with its history. Raises BadInput without git or without a commit."""
    try:
        tree = open_commit(root.resolve())
    except GitError as error:
        raise BadInput(f"--repo: the folder has no history that git can read ({error}).") from None
    assert tree.history is not None
    return tree, tree.history


def list_commits(tree: CommitTree) -> Iterator[FixCommit]:
    """Yield the newest commits without merges, newest first; not those of bots or of more than 30 files."""
    for commit in tree.read_commits():
        # It is about another folder, or has a date that no calendar has: anybody can write one.
        if not commit.paths or commit.seconds > _LAST_SECOND:
            continue
        at = datetime.fromtimestamp(commit.seconds, UTC)
        yield FixCommit(commit=commit.commit, message=commit.message, at=at, is_fix=is_mainly_fix(commit.message))


def is_product_code(path: str) -> bool:
    """Return whether a path is code of the product: no test, example, generated documentation or data."""
    return classify_file(path).is_product_code
