"""Git runs no program from the config of a repository, and reads a foreign folder only if it was given.

The repository's name from the checkout's remote."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from triage.base.errors import GitError
from triage.code.git.commit import CommitTree, open_commit
from triage.code.git.git import Git, read_origin


def script(folder: Path, name: str, mark: Path) -> str:
    file = folder / name
    file.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize(
    ("key", "attributes"),
    [
        ("core.fsmonitor", ""),
        ("filter.evil.clean", "* filter=evil\n"),
        ("filter.evil.process", "* filter=evil\n"),
        ("filter.with.dots=and more.clean", "* filter=with.dots=and more\n"),
        ("diff.evil.textconv", "* diff=evil\n"),
        ("diff.external", ""),
        ("core.pager", ""),
        ("core.editor", ""),
    ],
)
def test_no_program_of_the_repository_runs(tmp_path: Path, key: str, attributes: str):
    root, mark = tmp_path / "repo", tmp_path / "ran"
    root.mkdir()
    commit(root, {"a.py": "one\n", ".gitattributes": attributes})
    git(root, "config", key, script(tmp_path, "evil.sh", mark))
    # Same size and another time: git has to look at the content, which is where filters run.
    (root / "a.py").write_text("two\n")
    os.utime(root / "a.py", (1, 1))

    tree = open_commit(root)
    listing = tree.list_files()
    assert [data for _, data in tree.read(listing.entries)]
    assert tree.is_dirty()

    assert not mark.exists()


def test_no_hook_runs(tmp_path: Path):
    root, mark = tmp_path / "repo", tmp_path / "ran"
    root.mkdir()
    commit(root, {"a.py": "one\n"})
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        script(root / ".git/hooks", hook, mark)
    os.utime(root / "a.py", (1, 1))

    assert not open_commit(root).is_dirty()
    assert not mark.exists()


def test_status_writes_nothing(tmp_path: Path):
    commit(tmp_path, {"a.py": "one\n"})
    os.utime(tmp_path / "a.py", (1, 1))
    before = (tmp_path / ".git/index").read_bytes()

    assert not open_commit(tmp_path).is_dirty()
    assert (tmp_path / ".git/index").read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_given_folder_is_read_whoever_owns_it_but_not_one_above(tmp_path: Path):
    commit(tmp_path, {"a.py": "one\n", "sub/b.py": "two\n"})
    for path in [tmp_path, *tmp_path.rglob("*")]:
        os.chown(path, 12_345, 12_345)

    assert [entry.path for entry in open_commit(tmp_path).list_files().entries] == ["a.py", "sub/b.py"]
    with pytest.raises(GitError):
        open_commit(tmp_path / "sub")


def test_replace_refs_do_not_change_what_a_commit_holds(tmp_path: Path):
    commit(tmp_path, {"a.py": "true\n"})
    write(tmp_path, {"other": "false\n"})
    git(tmp_path, "replace", git(tmp_path, "rev-parse", "HEAD:a.py"), git(tmp_path, "hash-object", "-w", "other"))

    tree = open_commit(tmp_path)
    assert [data for _, data in tree.read(tree.list_files().entries)] == [b"true\n"]


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
        CommitTree(Git(tmp_path), bare=False, revision="--upload-pack=touch /tmp/x")


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
