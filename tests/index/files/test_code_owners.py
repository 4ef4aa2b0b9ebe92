"""Rules of CODEOWNERS: the examples of GitHub's documentation, and how its patterns differ from those of gitignore."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import measure_cost_ratio
from tests.index.indexes import make_codebase
from triage.index.files.code_owners import CodeOwners

DOCUMENTED = """
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/*  docs@example.com @docs-owner
apps/ @octocat
/docs/api/ @api-owner
/scripts/ @doctocat @octocat
**/logs @logs-owner
/apps/ @octocat
/apps/github
/apps/gitlab @doctocat
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README.md", ["global-owner1", "global-owner2"]),
        ("deep/in/a/folder.md", ["global-owner1", "global-owner2"]),
        ("web/app.js", ["js-owner"]),
        ("main.go", []),
        ("notes/a.txt", ["octo-org/octocats"]),
        ("build/logs/a.md", ["logs-owner"]),
        ("docs/getting-started.md", ["docs-owner"]),
        ("docs/build-app/troubleshooting.md", ["global-owner1", "global-owner2"]),
        ("docs/api/deep/reference.md", ["api-owner"]),
        ("src/docs/getting-started.md", ["global-owner1", "global-owner2"]),
        ("src/apps/a.py", ["octocat"]),
        ("scripts/run.sh", ["doctocat", "octocat"]),
        ("src/scripts/run.sh", ["global-owner1", "global-owner2"]),
        ("deeply/nested/logs/a.log", ["logs-owner"]),
        ("apps/a.py", ["octocat"]),
        ("apps/github/a.py", []),
        ("apps/gitlab/a.py", ["doctocat"]),
    ],
)
def test_documented_examples(path: str, owners: list[str]):
    assert CodeOwners(DOCUMENTED).find_owners(path) == owners


@pytest.mark.parametrize(
    ("pattern", "path", "is_owned"),
    [
        ("/build/logs/", "build/logs/deep/a", True),
        ("/build/logs/", "x/build/logs/a", False),
        ("/*", "a", True),
        ("/*", "a/b", False),
        ("**/*", "a/b/c", True),
        ("**/docs/*", "docs/docs/a.md", True),
        ("**/docs/*", "docs/a/b.md", False),
        ("/docs/**/*", "docs/a/b/c.md", True),
        ("docs/*.md", "docs/a.md", True),
        ("a?.py", "ab.py", True),
        (r"with\ space", "with space/a.py", True),
        ("A.py", "a.py", False),
    ],
)
def test_files_that_a_pattern_owns(pattern: str, path: str, is_owned: bool):
    assert CodeOwners(f"{pattern} @octocat").find_owners(path) == ["octocat"] * is_owned


@pytest.mark.parametrize(
    "line", ["!a.py @x", "[ab].py @x", "[a.py @x", r"\#a.py @x", "/ @x", "\\ @x", "@x", "# a.py @x"]
)
def test_a_line_that_github_refuses_has_no_effect(line: str):
    for path in ("a.py", "#a.py", "[ab].py"):
        assert CodeOwners(f"* @everyone\n{line}").find_owners(path) == ["everyone"]


@given(st.text("ab/*?!#\\@[] \n\x00é", max_size=60), st.text("ab/é ", min_size=1, max_size=20))
def test_any_text_is_a_file_of_rules(text: str, path: str):
    CodeOwners(text).find_owners(path)


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "/*a*a*a*a*a*b/*", "a?*a?*a?*a?*a?*b"])
def test_the_cost_of_a_hostile_pattern_is_linear_in_the_path(pattern: str):
    """With backtracking it would be the fifth power."""
    owners = CodeOwners(f"*.py @team\n{pattern} @octo\n")

    def find(length: int) -> None:
        for _ in range(50):
            assert owners.find_owners(f"{'a' * length}.py") == ["team"]

    assert measure_cost_ratio(find, 10) < 10


@pytest.mark.parametrize(
    ("files", "owner"),
    [
        ({"CODEOWNERS": "* @root"}, "root"),
        ({"docs/CODEOWNERS": "* @docs"}, "docs"),
        ({".github/CODEOWNERS": "* @github", "CODEOWNERS": "* @root", "docs/CODEOWNERS": "* @docs"}, "github"),
        ({"CODEOWNERS": "* @root", "docs/CODEOWNERS": "* @docs"}, "root"),
    ],
)
def test_the_file_that_github_uses_is_read(tmp_path: Path, files: dict[str, str], owner: str):
    codebase = make_codebase(tmp_path, {**files, "a.py": "x = 1\n"})
    codebase.index()
    assert codebase.find_owners("a.py") == [owner]


def test_without_a_file_nobody_owns_anything(tmp_path: Path):
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
        "ISSUE_TEMPLATE.md": "What happened?\n",
        "src/ISSUE_TEMPLATE.md": "no\n",
        "src/a.py": "x = 1\n",
    }
    codebase = make_codebase(tmp_path, forms)
    (tmp_path / ".github/ISSUE_TEMPLATE/bug.yml").write_text("changed\n")
    codebase.index()
    assert codebase.read_issue_forms() == ["name: Bug\n", "---\nname: Feature\n---\n", "What happened?\n"]
