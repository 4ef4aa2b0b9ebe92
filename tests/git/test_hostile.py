"""Every odd checkout is read without running a program, fetching or waiting, and no file outside is read."""

from pathlib import Path

import pytest

from testing.checkouts.hostile import CANARY, CHECKOUTS, SLOW, trap_was_run
from testing.checkouts.hostile_base import SOURCES
from testing.checkouts.hostile_names import NAMES
from testing.checkouts.hostile_names import odd_names as make_odd_names
from triage.base.errors import BadInput, GitError
from triage.domain.code import IndexFacts
from triage.find.codebase import Codebase
from triage.find.files.languages import detect_language
from triage.find.files.project_files import read_file
from triage.find.parse.definitions import find_definitions
from triage.git import commit
from triage.git.commit import open_commit
from triage.git.git import Git
from triage.git.tree import Listing, SourceTree

WAITS = "includes a pipe"
"""Git waits until it is ended."""
WITHOUT_COMMIT = {
    "missing", "nothing", "no commit", "unborn branch", "neighbours only", "reftable", "git is a link", "git is a file",
    "treeless", "common folder elsewhere", "git is a pipe", "sha256",
}  # fmt: skip
"""Where git has no answer, and nothing is read."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "checkout"


def open_tree(root: Path) -> tuple[SourceTree, Listing]:
    """Return the tree and its files, as the index reads them."""
    try:
        tree = open_commit(root)
        return tree, tree.list_files()
    except GitError:
        return SourceTree(), Listing()


def index_checkout(root: Path) -> tuple[Codebase, IndexFacts]:
    codebase = Codebase(root, "octo/shop", in_chroma=False)
    return codebase, codebase.index()


@pytest.mark.parametrize("name", [name for name in CHECKOUTS if name not in SLOW and name != WAITS])
def test_no_program_runs_and_no_other_file_is_read(root: Path, name: str):
    CHECKOUTS[name](root)
    tree, listing = open_tree(root)
    small = [entry for entry in listing.entries if entry.size < 1_000_000]
    read = {entry.path: data for entry, data in tree.read(small)}
    history = tree.history
    changes = [history.read_changes("shop/basket.py", 3), history.read_commits()] if history else []

    assert not trap_was_run(root)
    assert CANARY.encode() not in b"".join(data or b"" for data in read.values())
    assert CANARY not in str(changes)
    assert (tree.commit is None) == (name in WITHOUT_COMMIT)


@pytest.mark.parametrize(
    ("name", "left_out", "partial", "note"),
    [
        ("missing", {"unreadable": 1}, False, "the folder has no file"),
        ("unborn branch", {}, False, "(git rev-parse exited with 1)"),
        ("treeless and sparse", {"not fetched": 1}, True, ""),
        ("lfs pointers", {"LFS pointer": 2}, False, ""),
        ("git is a file", {}, False, "its .git leads to a repository that does not name this folder"),
        ("odd names", {"name is not UTF-8": 4}, False, ""),
    ],
)
def test_missing_files_are_reported(root: Path, name: str, left_out: dict[str, int], partial: bool, note: str):
    CHECKOUTS[name](root)
    _, facts = index_checkout(root)
    assert facts.left_out == left_out
    assert facts.partial == partial
    assert note in " ".join(facts.notes)
    assert bool(note) == bool(facts.notes)


def test_git_is_killed_when_it_waits_for_input(root: Path, monkeypatch: pytest.MonkeyPatch):
    assert Git.run.__kwdefaults__
    monkeypatch.setitem(Git.run.__kwdefaults__, "seconds", 0.3)
    CHECKOUTS[WAITS](root)
    _, facts = index_checkout(root)
    assert "git rev-parse took too long" in facts.notes[0]


def test_a_partial_clone_has_all_files_that_were_fetched(root: Path):
    CHECKOUTS["treeless and sparse"](root)
    codebase, _ = index_checkout(root)
    assert sorted(codebase.list_paths()) == sorted(SOURCES)
    assert not trap_was_run(root)


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.java", "a.php", "a.swift"])
def test_unclosed_brackets_are_not_queried(path: str, monkeypatch: pytest.MonkeyPatch):
    """A query would take a minute."""
    monkeypatch.setattr("tree_sitter.QueryCursor.matches", None)
    language = detect_language(path)
    assert language
    text = "<?php x = " * (path == "a.php") + "\n".join(["[(" * 25] * 2_000)
    assert find_definitions(text, language) == []


def test_the_number_of_files_is_limited(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(commit, "MAX_ENTRIES", 3)
    CHECKOUTS["lfs pointers"](root)
    codebase, facts = index_checkout(root)
    assert facts.partial
    assert "There are more than 3 files; further ones were not looked at." in facts.notes
    assert len(codebase.list_paths()) <= 3


@pytest.mark.parametrize("place", ["with space", "ünï", "new\nline", "-n", "a*", "#1", "quo\"te'", "  "])
@pytest.mark.parametrize("how", ["root", "folder"])
def test_the_folder_may_have_any_name(tmp_path: Path, place: str, how: str):
    root = tmp_path / place
    CHECKOUTS["of another user" if how == "root" else "shallow"](root)
    indexed_folder = root if how == "root" else root / "shop"
    codebase, facts = index_checkout(indexed_folder)
    assert facts.commit
    assert facts.notes == []
    assert sorted(codebase.list_paths()) == [
        path if how == "root" else path.removeprefix("shop/") for path in sorted(SOURCES)
    ]


def test_a_settings_file_that_is_a_link_is_refused(root: Path):
    CHECKOUTS["settings as link"](root)
    with pytest.raises(BadInput, match="is a symbolic link"):
        read_file(root, ".github/triage.yml", 1_000)


@pytest.mark.parametrize("path", ["../outside-checkout/secret.py", "etc/passwd", "loop/shop/basket.py", "/etc/passwd"])
def test_no_path_leads_through_a_link(root: Path, path: str):
    CHECKOUTS["links"](root)
    codebase, _ = index_checkout(root)
    assert codebase.read_lines(path) is None
    assert codebase.read_history(path, 3).changes == []


def test_all_odd_names_are_indexed(root: Path):
    make_odd_names(root)
    codebase, facts = index_checkout(root)
    text = [name for name in NAMES if name.decode("utf-8", "replace").encode() == name]
    assert set(codebase.list_paths()) == {f"{at}{name.decode()}" for name in text for at in ("", "shop/")} | {
        "shop/basket.py"
    }
    assert facts.left_out == {"name is not UTF-8": 2 * (len(NAMES) - len(text))}
