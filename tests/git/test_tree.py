"""A folder without git."""

import os
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import write
from triage.git import tree
from triage.git.tree import FolderTree, Listing


def list_files(root: Path) -> tuple[list[str], dict[str, int]]:
    listing = FolderTree(root).list_files()
    return [entry.path for entry in listing.entries], dict(listing.left_out)


def test_every_regular_file_is_listed_and_all_else_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "no\u00a0git\n"
    files = ("src/a.py", "src/\u3000.py", "src/gone.py", "src/\udcff.py", "z.py", ".git/x.py", ".triage/x.py")
    write(root, dict.fromkeys(files, ""))
    (root / "link.py").symlink_to("/etc/hosts")
    (root / "link").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    lstat = Path.lstat

    def lose(path: Path) -> os.stat_result:
        if path.name == "gone.py":
            raise FileNotFoundError
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", lose)
    left_out = {"no file": 2, "name is not UTF-8": 1, "unreadable": 1}
    assert list_files(root) == (["src/a.py", "src/\u3000.py", "z.py"], left_out)
    assert list_files(tmp_path / "missing") == ([], {"unreadable": 1})


def test_repositories_inside_are_not_read(tmp_path: Path):
    files = ("a/.git/HEAD", "a/key.py", "b.git/HEAD", "b.git/objects/x", "b.git/refs/x", "c/HEAD", "c/refs/x")
    write(tmp_path, dict.fromkeys(files, ""))
    assert list_files(tmp_path)[0] == ["c/HEAD", "c/refs/x"]


def test_the_number_of_names_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tree, "MAX_ENTRIES", 3)
    write(tmp_path, dict.fromkeys(("a/1.py", "b/1.py", "b/2.py"), ""))
    listing: Listing = FolderTree(tmp_path).list_files()
    assert ([entry.path for entry in listing.entries], listing.truncated) == (["a/1.py"], True)
