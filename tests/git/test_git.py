"""Git reads a foreign folder only if it was given, and is ended when it takes too long.

The repository's name from the checkout's remote."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from triage.base.errors import GitError
from triage.git.commit import CommitTree, open_commit
from triage.git.git import Git, read_origin


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_given_folder_is_read_whoever_owns_it_but_not_one_above(tmp_path: Path):
    commit(tmp_path, {"a.py": "one\n", "sub/b.py": "two\n"})
    for path in [tmp_path, *tmp_path.rglob("*")]:
        os.chown(path, 12_345, 12_345)

    assert [entry.path for entry in open_commit(tmp_path).list_files().entries] == ["a.py", "sub/b.py"]
    with pytest.raises(GitError):
        open_commit(tmp_path / "sub")


def test_git_variables_of_the_caller_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root, other = tmp_path / "one", tmp_path / "two"
    for folder in (root, other):
        folder.mkdir()
        commit(folder, {f"{folder.name}.py": "x\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))

    assert [entry.path for entry in open_commit(root).list_files().entries] == ["one.py"]


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    runner = Git(tmp_path)
    runner._environment["PATH"] = os.environ["PATH"]

    with pytest.raises(GitError, match="took too long"):
        runner.run("status", seconds=0.2)
    with runner.stream("cat-file", lines=["x"], seconds=0.2) as answers:
        assert answers.read() == b""


def test_git_that_is_not_installed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="not installed"):
        Git(tmp_path)


def test_a_revision_is_never_an_option(tmp_path: Path):
    commit(tmp_path, {"a.py": "x\n"})
    with pytest.raises(GitError):
        CommitTree(Git(tmp_path), revision="--upload-pack=touch /tmp/x")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/shop.git", "acme/shop"),
        ("https://user:token@git.acme.example/acme/shop", "acme/shop"),
        ("git@github.com:acme/shop.git", "acme/shop"),
        ("ssh://git@github.com:22/acme/shop.js/", "acme/shop.js"),
        ("https://gitlab.example/group/team/shop.git", "team/shop"),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("file:///srv", None),
    ],
)
def test_the_name_of_a_remote(tmp_path: Path, url: str, name: str | None):
    commit(tmp_path, {"a.py": "x = 1\n"})
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", url], check=True)
    assert read_origin(tmp_path) == name


def test_without_a_remote_or_git(tmp_path: Path):
    assert read_origin(tmp_path) is None
    commit(tmp_path, {"a.py": "x = 1\n"})
    assert read_origin(tmp_path) is None
