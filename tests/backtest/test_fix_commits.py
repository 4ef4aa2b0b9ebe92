"""What a backtest asks git, with real repositories."""

import subprocess
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from triage.backtest.fix_commits import is_product_code, list_commits, open_history
from triage.base.errors import BadInput


def commit_as(root: Path, message: str, files: dict[str, str]) -> str:
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
    return git(root, "rev-parse", "HEAD")


def test_commits_with_their_parents_and_the_files_that_differ(tmp_path: Path):
    first = commit(tmp_path, {"a.py": "x = 1\n", "gone.py": "x = 1\n", "old.py": "y = 1\n"})
    (tmp_path / "gone.py").unlink()
    git(tmp_path, "mv", "old.py", "moved.py")
    second = commit_as(tmp_path, "Fix it", {"a.py": "x = 2\n", "new.py": "x = 3\n"})
    _, history = open_history(tmp_path)
    assert history.find_first_parent(second) == first
    assert history.find_first_parent(first) is None
    assert history.find_first_parent("0" * 40) is None
    assert history.list_changed_files(first, second) == {
        "a.py": True,
        "gone.py": True,
        "moved.py": False,
        "new.py": False,
        "old.py": True,
    }
    assert history.list_changed_files("0" * 40, second) == {}


def test_the_parent_of_a_merge_is_where_it_was_merged(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    git(tmp_path, "switch", "-q", "-c", "side")
    commit_as(tmp_path, "Side", {"b.py": "x = 1\n"})
    git(tmp_path, "switch", "-q", "main")
    main = commit_as(tmp_path, "Main", {"c.py": "x = 1\n"})
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    tree, history = open_history(tmp_path)
    assert history.find_first_parent(tree.commit or "") == main
    assert history.list_changed_files(main, tree.commit or "") == {"b.py": False}


def test_in_a_folder_paths_are_those_below_it(tmp_path: Path):
    first = commit(tmp_path, {"app/a.py": "x = 1\n", "b.py": "x = 1\n"})
    second = commit_as(tmp_path, "Fix it", {"app/a.py": "x = 2\n", "b.py": "x = 2\n"})
    _, history = open_history(tmp_path / "app")
    assert history.list_changed_files(first, second) == {"a.py": True}


@pytest.mark.parametrize(
    ("message", "is_fix"),
    [
        ("Fix the total", True),
        ("fix(cart): the total", True),
        ("Round the total\n\nCloses #12.", True),
        ("Round the total\n\nThis bug was old.", False),
        ("feat: a total\n\nfixes #12", False),
        ("chore(deps): fix versions", False),
        ("docs: fix a typo", False),
        ("Bump fixture to 2.0", False),
        ('Revert "Fix the total"', False),
        ("Add a total", False),
    ],
)
def test_what_is_mainly_a_fix(tmp_path: Path, message: str, is_fix: bool):
    commit(tmp_path, {"a.py": "x = 1\n"})
    commit_as(tmp_path, message, {"a.py": "x = 2\n"})
    tree, _ = open_history(tmp_path)
    [found] = list_commits(tree)
    assert (found.is_fix, found.message) == (is_fix, message)


def test_a_date_that_no_calendar_has_costs_only_its_commit(tmp_path: Path):
    first = commit(tmp_path, {"a.py": "x = 1\n"})
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}")
    person = "A <a@example.org> 99999999999999 +0000"
    raw = f"tree {tree}\nparent {first}\nauthor {person}\ncommitter {person}\n\nFix it\n".encode()
    command = ["git", "-C", str(tmp_path), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"]
    odd = subprocess.run(command, input=raw, capture_output=True, check=True).stdout.decode().strip()
    git(tmp_path, "reset", "-q", "--hard", odd)
    commit_as(tmp_path, "Fix that", {"a.py": "x = 2\n"})
    tree_of_head, _ = open_history(tmp_path)
    assert [one.message for one in list_commits(tree_of_head)] == ["Fix that"]


def test_a_folder_without_git_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="no history"):
        open_history(tmp_path)


def test_tests_and_documents_are_no_product_code():
    assert is_product_code("shop/cart.py")
    assert not any(map(is_product_code, ["tests/test_cart.py", "docs/conf.py", "README.md", "examples/a.py"]))
