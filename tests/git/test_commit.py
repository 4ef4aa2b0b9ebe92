"""HEAD's commit is read from git objects, whatever is in the work tree."""

from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from triage.base.errors import GitError
from triage.git.commit import CommitTree, find_checkout, open_commit


def contents(tree: CommitTree) -> dict[str, bytes | None]:
    return {entry.path: data for entry, data in tree.read(tree.list_files().entries)}


def test_sizes_are_bytes(tmp_path: Path):
    commit(tmp_path, {"a.py": "é\n"})
    assert open_commit(tmp_path).list_files().entries[0].size == 3


def test_links_and_submodules_are_counted_not_followed(tmp_path: Path):
    inner = tmp_path / "inner"
    inner.mkdir()
    commit(inner, {"x.py": "x\n"})
    outer = tmp_path / "outer"
    outer.mkdir()
    write(outer, {"a.py": "x\n"})
    (outer / "passwords").symlink_to("/etc/passwd")
    (outer / "folder").symlink_to("/etc")
    commit(outer)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    commit(outer)

    tree = open_commit(outer)
    listing = tree.list_files()
    assert [entry.path for entry in listing.entries] == [".gitmodules", "a.py"]
    assert listing.left_out == {"symbolic link": 2, "submodule": 1}


def test_a_bare_repository(tmp_path: Path):
    work, bare = tmp_path / "work", tmp_path / "bare.git"
    work.mkdir()
    sha = commit(work, {"a.py": "x\n"})
    git(tmp_path, "clone", "-q", "--bare", str(work), str(bare))

    tree = open_commit(bare)
    assert tree.commit == sha
    assert contents(tree) == {"a.py": b"x\n"}


def test_only_the_given_folder_of_a_work_tree_is_indexed(tmp_path: Path):
    commit(tmp_path, {"a.py": "x\n", "sub/b.py": "y\n", "sub/deep/c.py": "z\n"})
    tree = open_commit(tmp_path / "sub")
    assert contents(tree) == {"b.py": b"y\n", "deep/c.py": b"z\n"}


def test_a_folder_that_the_commit_does_not_know(tmp_path: Path):
    commit(tmp_path, {"a.py": "x\n"})
    (tmp_path / "unpacked").mkdir()
    with pytest.raises(GitError, match="rev-parse exited with 1"):
        open_commit(tmp_path / "unpacked")


def test_a_checkout_below_the_workspace_is_found_by_its_remote(tmp_path: Path):
    assert find_checkout(tmp_path, "octo/shop") == tmp_path
    for folder, remote in (("src/code", "https://github.com/Octo/shop"), ("tools", "https://github.com/octo/private")):
        commit(tmp_path / folder, {"a.py": "x\n"})
        git(tmp_path / folder, "remote", "add", "origin", remote)
    assert find_checkout(tmp_path, "octo/shop") == tmp_path / "src/code"
    assert find_checkout(tmp_path, "octo/other") == tmp_path, "a private neighbour is not read in its place"
    git(tmp_path / "tools", "remote", "remove", "origin")
    assert find_checkout(tmp_path, "octo/shop") == tmp_path, "nobody knows which"
    commit(tmp_path, {"b.py": "x\n"})
    assert find_checkout(tmp_path, "octo/shop") == tmp_path


def test_a_git_that_leads_elsewhere_is_no_checkout_below_the_workspace(tmp_path: Path):
    commit(tmp_path / "outside", {"a.py": "x\n"})
    for name in ("link", "file", "folder"):
        (tmp_path / name).mkdir()
    for name in ("link", "file"):
        (tmp_path / name / "code").mkdir()
    (tmp_path / "link/code/.git").symlink_to(tmp_path / "outside/.git")
    (tmp_path / "file/code/.git").write_text(f"gitdir: {tmp_path}/outside/.git\n")
    (tmp_path / "folder/code").symlink_to(tmp_path / "outside")
    for name in ("link", "file", "folder"):
        assert find_checkout(tmp_path / name, "octo/shop") == tmp_path / name
