import time
from pathlib import Path

import pytest

from tests.index.indexes import make_codebase
from triage.index.files.code_owners import CodeOwners

RULES = """
# Comment
*       @everyone
*.js    @acme/web @anna
/src/   @bert person@example.org
docs/   person@example.org
[a-     @broken
/**/*a*a*a*a*a*a*b @hostile
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README.md", ["everyone"]),
        ("web/app.js", ["acme/web", "anna"]),
        ("src/a.py", ["bert"]),
        ("docs/a.md", []),
    ],
)
def test_owners_of_a_path(path: str, owners: list[str]):
    assert CodeOwners(RULES).find_owners(path) == owners


def test_hostile_patterns_take_no_time():
    started = time.perf_counter()
    assert CodeOwners("*a" * 30 + "b @x\n" + "**/" * 30 + "b @x").find_owners("a" * 4_000 + "/" * 50 + "c") == []
    assert time.perf_counter() - started < 0.25


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "**/a*/**/a*/**/b", "/*a*a/*a*a/*b", "a?*a?*a?*b"])
def test_a_pattern_of_many_stars_takes_no_time_on_a_long_name(pattern: str):
    owners = CodeOwners(f"{pattern} @octo\n*.py @team\n")
    began = time.process_time()
    assert owners.find_owners(f"shop/{'a' * 250}.py") == ["team"]
    assert owners.find_owners(f"{'a' * 2_000}.py") == ["team"]
    assert time.process_time() - began < 0.25


@pytest.mark.parametrize(
    ("files", "owner"),
    [
        ({"CODEOWNERS": "* @root"}, "root"),
        ({"docs/CODEOWNERS": "* @docs"}, "docs"),
        ({".github/CODEOWNERS": "* @github", "CODEOWNERS": "* @root", "docs/CODEOWNERS": "* @docs"}, "github"),
        ({"CODEOWNERS": "* @root", "docs/CODEOWNERS": "* @docs"}, "root"),
    ],
)
def test_the_file_that_github_reads_counts(tmp_path: Path, files: dict[str, str], owner: str):
    codebase = make_codebase(tmp_path, {**files, "a.py": "x = 1\n"})
    codebase.index()
    assert codebase.find_owners("a.py") == [owner]


def test_nobody(tmp_path: Path):
    codebase = make_codebase(tmp_path, {"a.py": "x = 1\n"})
    assert codebase.find_owners("a.py") == []
    codebase.index()
    assert codebase.find_owners("a.py") == []
    assert codebase.read_issue_forms() == []


def test_issue_forms_are_read_from_the_commit(tmp_path: Path):
    forms = {
        ".github/ISSUE_TEMPLATE/bug.yml": "name: Bug\n",
        ".github/ISSUE_TEMPLATE/feature.md": "---\nname: Feature\n---\n",
        ".github/ISSUE_TEMPLATE/deep/no.md": "no\n",
        ".github/ISSUE_TEMPLATE/logo.png": "no\n",
        ".github/workflows/ci.yml": "no\n",
        "src/a.py": "x = 1\n",
    }
    codebase = make_codebase(tmp_path, forms)
    (tmp_path / ".github/ISSUE_TEMPLATE/bug.yml").write_text("changed\n")
    codebase.index()
    assert codebase.read_issue_forms() == ["name: Bug\n", "---\nname: Feature\n---\n"]
