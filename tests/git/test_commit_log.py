"""The newest commits: which count, under which paths, and what a hostile history can do."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.checkouts.git_repositories import commit, git, write
from triage.git import commit_log
from triage.git.commit import CommitTree, open_commit
from triage.git.commit_log import LoggedCommit, read_commit_log
from triage.git.git import Git


def make_commit(root: Path, message: str, files: Mapping[str, str | bytes] | None = None, author: str = "A") -> str:
    commit(root, files or {"a.py": f"x = {message[:20]!r}\n"})
    amend = ("commit", "-q", "--amend", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim")
    git(root, *amend, f"--author={author} <a@example.org>", "-m", message)
    return git(root, "rev-parse", "HEAD")


def read(root: Path) -> list[LoggedCommit]:
    return open_commit(root).history.read_commits()


def messages(root: Path) -> list[str]:
    return [one.message for one in read(root)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    make_commit(made, "first", {"a.py": "1\n", "b.py": "1\n"})
    return made


def test_commits_have_their_message_files_and_date_newest_first(root: Path):
    one = make_commit(root, "Fix the sum\n\nCloses #7", {"a.py": "2\n", "b.py": "2\n"})
    two = make_commit(root, "second", {"b.py": "3\n"})
    seconds = 1_704_067_200
    assert read(root) == [
        LoggedCommit(two, seconds, "second", ("b.py",)),
        LoggedCommit(one, seconds, "Fix the sum\n\nCloses #7", ("a.py", "b.py")),
    ]


def test_it_starts_at_the_indexed_commit(root: Path):
    make_commit(root, "known")
    tree = open_commit(root)
    make_commit(root, "later")
    assert [one.message for one in tree.history.read_commits()] == ["known"]


def test_the_first_commit_and_the_oldest_of_a_shallow_clone_are_left_out(root: Path, tmp_path: Path):
    assert read(root) == []
    for name in ("two", "three", "four"):
        make_commit(root, name)
    git(tmp_path, "clone", "-q", "--depth=2", root.as_uri(), "shallow")
    assert messages(tmp_path / "shallow") == ["four"]


def test_merges_bots_and_commits_of_many_files_are_left_out(root: Path):
    make_commit(root, "counts")
    make_commit(root, "Bump a", author="dependabot[bot]")
    make_commit(root, "Sync", author="acme-bot")
    make_commit(root, "by a person", author="Abbot")
    make_commit(root, "reformat", {f"many/{n}.py": "x\n" for n in range(commit_log.MAX_FILES + 1)})
    git(root, "checkout", "-q", "-b", "side", "HEAD~1")
    make_commit(root, "on the side", {"b.py": "side\n"})
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    assert sorted(messages(root)) == ["by a person", "counts", "on the side"]


def test_renamed_files_have_todays_paths(root: Path):
    make_commit(root, "in the old place", {"a.py": "content\n"})
    folder = {f"old/{n}.py": f"text {n}\n" for n in range(40)}
    make_commit(root, "many", folder)
    make_commit(root, "old folder", {"old/3.py": "three\n"})
    (root / "src").mkdir()
    git(root, "mv", "a.py", "src/b.py")
    make_commit(root, "moved once", {"c.py": "1\n"})
    git(root, "mv", "old", "new")
    git(root, "mv", "src/b.py", "src/c.py")
    make_commit(root, "moved all", {"c.py": "2\n"})
    make_commit(root, "another at the old place", {"a.py": "another\n"})
    paths = {one.message: set(one.paths) for one in read(root)}
    assert paths["in the old place"] == {"src/c.py"}
    assert paths["old folder"] == {"new/3.py"}
    assert paths["another at the old place"] == {"a.py"}


def test_only_files_of_the_indexed_folder_count(root: Path):
    make_commit(root, "both", {"sub/a.py": "1\n", "a.py": "2\n"})
    make_commit(root, "beside", {"a.py": "3\n", "subway.py": "x\n"})
    assert [(one.message, one.paths) for one in open_commit(root / "sub").history.read_commits()] == [
        ("beside", ()),
        ("both", ("a.py",)),
    ]


def test_odd_names_are_read_as_they_are(root: Path):
    names = ["*.py", ":(top)a.py", "--all", "a b\n.py", "\nM", "R100", "ä.py", "tab\t.py", '"quoted".py', "0" * 40]
    for name in names:
        make_commit(root, "odd", {name: f"{name}\n"})
    assert [one.paths for one in read(root)] == [(name,) for name in reversed(names)]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_no_message_can_invent_a_commit_or_a_path(tmp_path_factory: pytest.TempPathFactory, message: bytes):
    root = tmp_path_factory.mktemp("message")
    make_commit(root, "one")
    parent = git(root, "rev-parse", "HEAD")
    write(root, {"a.py": "y\n"})
    git(root, "add", "a.py")
    tree = git(root, "write-tree")
    made = f"tree {tree}\nparent {parent}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n".encode() + message
    write(root, {".git/made": made})
    made_id = git(root, "hash-object", "-t", "commit", "-w", "--literally", ".git/made")
    found = CommitTree(Git(root), revision=made_id).history.read_commits()
    assert [(one.commit, one.paths) for one in found] == [(made_id, ("a.py",))]


def test_a_huge_message_is_cut_and_costs_its_share_of_the_output(root: Path, monkeypatch: pytest.MonkeyPatch):
    make_commit(root, "before")
    write(root, {"big": b"word," * 2_000_000, "a.py": "huge\n"})
    git(root, "add", "a.py")
    git(root, "commit", "-q", "-F", "big")
    huge, before = read(root)
    assert (len(huge.message), before.message) == (commit_log.MAX_MESSAGE_CHARS, "before")
    monkeypatch.setattr(commit_log, "MAX_FIELD_BYTES", 1_000_000)
    assert len(read(root)) <= 1, "git is not read further"


def test_no_more_is_read_than_the_limit(root: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("one", "two", "three"):
        make_commit(root, name)
    monkeypatch.setattr(commit_log, "MAX_COMMITS", 2)
    assert messages(root) == ["three", "two"]


def test_replaced_commits_and_grafts_change_nothing(root: Path):
    first = git(root, "rev-parse", "HEAD")
    real = make_commit(root, "real", {"a.py": "2\n"})
    last = make_commit(root, "last", {"a.py": "3\n"})
    git(root, "checkout", "-q", "--detach", first)
    forged = make_commit(root, "forged", {"b.py": "2\n"})
    git(root, "checkout", "-q", "main")
    git(root, "replace", real, forged)
    write(root, {".git/info/grafts": f"{last} {forged}\n"})
    assert [(one.message, one.paths) for one in read(root)] == [("last", ("a.py",)), ("real", ("a.py",))]


def test_missing_objects_end_the_list(root: Path):
    make_commit(root, "one")
    make_commit(root, "two")
    tree = git(root, "rev-parse", "HEAD~1^{tree}")
    known = open_commit(root)
    (root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    assert [one.message for one in known.history.read_commits()] in ([], ["two"])
    assert read_commit_log(Git(root), "0" * 40) == []


def test_a_clone_without_file_contents_needs_none(root: Path, tmp_path: Path):
    make_commit(root, "before", {"c.py": "1\n"})
    git(root, "mv", "a.py", "moved.py")
    make_commit(root, "rename", {"b.py": "2\n", "moved.py": "1\n2\n"})
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", root.as_uri(), "partial")
    assert messages(tmp_path / "partial") == ["rename", "before"]
