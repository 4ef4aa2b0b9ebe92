"""A folder without git: only regular files are read."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.checkouts.git_repositories import write
from testing.each_row import each_row
from triage.code.files.file_text import decode_text, split_lines
from triage.code.git.tree import FolderTree


@each_row(
    ("data", "text"),
    [
        (b"plain\n", "plain\n"),
        ("größe\n".encode(), "größe\n"),
        ("größe\n".encode("latin-1"), "größe\n"),
        (b"\xef\xbb\xbfmark\n", "mark\n"),
        ("wide ü\n".encode("utf-16"), "wide ü\n"),
        (b"\xfe\xff" + "wide\n".encode("utf-16-be"), "wide\n"),
        (b"\xff\xfe\x00\xd8", "�"),
        (b"", ""),
        (b"a\x00b", None),
        (b"\x7fELF\x02\x01\x01\x00", None),
        (b"x" * 9_000 + b"\x00", "x" * 9_000 + "\x00"),
    ],
)
def test_text_of_bytes(data: bytes, text: str | None):
    assert decode_text(data) == text


@given(st.binary(max_size=400))
def test_decoded_text_can_be_encoded(data: bytes):
    text = decode_text(data)
    if text is not None:
        text.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\n", ["a", ""]),
        # These end a line for Python's splitlines, but not for git, GitHub or an editor's line numbers.
        ("a\x0cb\x0bc\u2028d\x85e\n", ["a\x0cb\x0bc\u2028d\x85e"]),
        ("a\rb\n", ["a\rb"]),
    ],
)
def test_lines_are_numbered_as_on_github(text: str, lines: list[str]):
    assert split_lines(text) == lines


def paths(root: Path) -> list[str]:
    return [entry.path for entry in FolderTree(root).list_files().entries]


def test_files_with_their_sizes_and_bytes(tmp_path: Path):
    write(tmp_path, {"b/c.py": "xyz\n", "a.py": "é"})
    tree = FolderTree(tmp_path)
    entries = tree.list_files().entries
    assert [(entry.path, entry.size) for entry in entries] == [("a.py", 2), ("b/c.py", 4)]
    assert [data for _, data in tree.read(entries)] == ["é".encode(), b"xyz\n"]
    assert tree.commit is None
    assert not tree.is_dirty()


def test_git_and_our_own_folder_are_skipped(tmp_path: Path):
    write(tmp_path, {".git/config": "x", ".triage/report.json": "{}", "sub/.git": "gitdir: x", "a.py": "x"})
    assert paths(tmp_path) == ["a.py"]


def test_links_are_not_followed(tmp_path: Path):
    outside = write(tmp_path / "outside", {"secret.py": "x"})
    root = write(tmp_path / "root", {"a.py": "x"})
    (root / "file.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    listing = FolderTree(root).list_files()
    assert [entry.path for entry in listing.entries] == ["a.py"]
    assert listing.left_out == {"symbolic link": 3}


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path):
    write(tmp_path, {"a.py": "x", "secret": "s"})
    tree = FolderTree(tmp_path)
    entry = next(entry for entry in tree.list_files().entries if entry.path == "a.py")
    (tmp_path / "a.py").unlink()
    (tmp_path / "a.py").symlink_to("secret")
    assert list(tree.read([entry])) == [(entry, None)]


def test_a_file_that_grows_stays_within_its_size(tmp_path: Path):
    write(tmp_path, {"a.py": "12"})
    tree = FolderTree(tmp_path)
    entries = tree.list_files().entries
    write(tmp_path, {"a.py": "123456"})
    assert [data for _, data in tree.read(entries)] == [b"12"]


def test_pipes_and_sockets_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    os.mkfifo(tmp_path / "pipe.py")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.py")
        listing = FolderTree(tmp_path).list_files()
    assert listing.entries == []
    assert listing.left_out == {"no file": 2}


def test_names_that_are_not_utf8_are_counted(tmp_path: Path):
    (tmp_path / os.fsdecode(b"bad\xff.py")).write_bytes(b"x")
    write(tmp_path, {"ünï.py": "x"})
    listing = FolderTree(tmp_path).list_files()
    assert [entry.path for entry in listing.entries] == ["ünï.py"]
    assert listing.left_out == {"name is not UTF-8": 1}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_files_are_counted(tmp_path: Path):
    write(tmp_path, {"closed/a.py": "x"})
    (tmp_path / "closed").chmod(0)
    assert FolderTree(tmp_path).list_files().left_out == {"unreadable": 1}


def test_a_folder_that_does_not_exist(tmp_path: Path):
    listing = FolderTree(tmp_path / "nowhere").list_files()
    assert listing.entries == []
    assert listing.left_out == {"unreadable": 1}
