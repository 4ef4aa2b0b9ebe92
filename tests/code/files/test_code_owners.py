"""The file with the owners and the issue forms, read from the indexed commit."""

from pathlib import Path

import pytest

from tests.code.indexes import make_codebase


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
