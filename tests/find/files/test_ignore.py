"""Paths that the project leaves out of the index."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from testing.cost_growth import measure_cost_ratio
from tests.find.indexes import make_codebase
from triage.find.codebase import Codebase
from triage.find.files.file_filter import IGNORED, remove_ignored
from triage.git.tree import Entry, Listing

FILES = {
    "src/app.py": "def app():\n    return 1\n",
    "src/gen/api.py": "def api():\n    return 2\n",
    "docs/api.md": "The api.\n",
    ".github/CODEOWNERS": "* @anna\n",
    ".github/ISSUE_TEMPLATE/bug.md": "What happened?\n",
}


@pytest.mark.parametrize(
    ("patterns", "indexed"),
    [
        ([], [".github/CODEOWNERS", ".github/ISSUE_TEMPLATE/bug.md", "docs/api.md", "src/app.py", "src/gen/api.py"]),
        (["docs/**", ".github"], ["src/app.py", "src/gen/api.py"]),
        (["*", "!src", "!*.py", "gen"], ["src/app.py"]),
        (["src/**", "!src/gen/", ".*", "docs"], ["src/gen/api.py"]),
        (["*.md", "*.py", "!app.py", "CODEOWNERS"], ["src/app.py"]),
    ],
)
def test_ignored_files_are_not_indexed_but_counted(tmp_path: Path, patterns: Sequence[str], indexed: list[str]):
    make_codebase(tmp_path, FILES)
    codebase = Codebase(tmp_path, "acme/shop", ignore=patterns)
    facts = codebase.index()
    assert sorted(codebase.list_paths()) == indexed
    assert facts.left_out.get(IGNORED, 0) == len(FILES) - len(indexed)
    assert not facts.partial


def test_owners_and_forms_are_read_from_an_ignored_folder(tmp_path: Path):
    make_codebase(tmp_path, FILES)
    codebase = Codebase(tmp_path, "acme/shop", ignore=[".github"])
    codebase.index()
    assert codebase.project.owners.find_owners("src/app.py") == ["anna"]
    assert codebase.project.forms == ["What happened?\n"]


@pytest.mark.parametrize("patterns", [["*a*a*a*a*a*b"], ["/**/*a*a*a*a*a*b"], [f"*a*a*a*a*b{n}" for n in range(99)]])
def test_the_cost_of_hostile_patterns_is_linear_in_the_path(patterns: Sequence[str]):
    """With backtracking it would be the fifth power."""

    def ignore(length: int) -> None:
        listing = Listing([Entry(f"{number}/{'a' * length}c", 0) for number in range(50)])
        assert remove_ignored(listing, patterns).entries == listing.entries

    assert measure_cost_ratio(ignore, 10) < 10
