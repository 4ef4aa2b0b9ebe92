"""What is made in the cache's folder: closed to others, and given to whoever owns the folder."""

import os
import stat
from pathlib import Path

import pytest

from triage.adapters.cache.private_folder import has_symlink, make_private_file, make_private_folder

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give things away")


def test_folders_and_files_are_closed_to_others(tmp_path: Path):
    folder = make_private_folder(tmp_path / "a" / "b")
    file = make_private_file(folder / "state")
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder.parent, folder, file)] == [0o700, 0o700, 0o600]


def test_what_is_there_keeps_its_content(tmp_path: Path):
    (tmp_path / "state").write_text("kept")
    (tmp_path / "state").chmod(0o644)
    assert make_private_file(make_private_folder(tmp_path) / "state").read_text() == "kept"
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o600


@as_root
def test_they_belong_to_whoever_owns_the_folder_above(tmp_path: Path):
    os.chown(tmp_path, 1001, 1002)
    file = make_private_file(make_private_folder(tmp_path / "cache" / "runs") / "state")
    assert [(one.stat().st_uid, one.stat().st_gid) for one in (file.parent.parent, file.parent, file)] == [
        (1001, 1002)
    ] * 3


def test_a_link_is_not_followed_and_a_place_that_cannot_be_made_is_no_error(tmp_path: Path):
    (tmp_path / "target").write_text("x")
    (tmp_path / "target").chmod(0o644)
    (tmp_path / "state").symlink_to(tmp_path / "target")
    make_private_file(tmp_path / "state")
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o644
    assert not make_private_folder(tmp_path / "target" / "below").exists()


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
