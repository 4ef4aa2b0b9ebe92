"""Folders and files of the cache are closed to others, and belong to the owner of the folder above."""

import os
import stat
from pathlib import Path

import pytest

from triage.base.private_folder import has_symlink, make_private_folder, write_private_file

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give things away")


def test_folders_and_files_are_closed_to_others(tmp_path: Path):
    folder = make_private_folder(tmp_path / "a" / "b")
    write_private_file(folder / "file", b"text", 1_000.0)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder)] == [0o700, 0o700]
    (file,) = folder.iterdir()
    assert (file.name, file.read_bytes()) == ("file", b"text")
    assert (stat.S_IMODE(file.stat().st_mode), file.stat().st_mtime) == (0o600, 1_000.0)


@as_root
def test_they_belong_to_the_owner_of_the_folder_above(tmp_path: Path):
    os.chown(tmp_path, 1001, 1002)
    file = make_private_folder(tmp_path / "cache" / "runs") / "file"
    write_private_file(file, b"", 0.0)
    owners = [(path.stat().st_uid, path.stat().st_gid) for path in (file.parent.parent, file.parent, file)]
    assert owners == [(1001, 1002)] * 3


def test_a_link_is_replaced_and_not_followed(tmp_path: Path):
    (tmp_path / "target").write_text("theirs")
    (tmp_path / "file").symlink_to(tmp_path / "target")
    write_private_file(tmp_path / "file", b"ours", 0.0)
    assert [(tmp_path / name).read_text() for name in ("target", "file")] == ["theirs", "ours"]


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert not make_private_folder(tmp_path / "file" / "below").exists()


@pytest.mark.parametrize(
    ("place", "away"),
    [
        (".cache/index", False),
        ("link/index", True),
        ("folder/link", True),
        ("folder/link/runs", True),
        ("dangling", True),
        ("../link/x", False),
        ("/link/x", False),
    ],
)
def test_a_link_below_leads_away(tmp_path: Path, place: str, away: bool):
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path)
    (root / "folder/link").symlink_to("..")
    (root / "dangling").symlink_to("nowhere")
    assert has_symlink(root, root / place) == away
