"""The commits of a file: literal paths, limited output, and `partial` for what is unknown."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.checkouts.git_repositories import commit, git, write
from tests.find.indexes import make_codebase
from triage.agents.code_tools import render_log
from triage.domain.code import History
from triage.find.codebase import Codebase
from triage.git import history as git_history
from triage.git.git import Git
from triage.git.history import GitHistory


def commits(root: Path, *subjects: str, path: str = "a.py") -> list[str]:
    """A commit for each subject, each changing the file; their ids, oldest first."""
    commit_ids = []
    for subject in subjects:
        commit(root, {path: f"x = {subject[:20]!r}\n"})
        git(root, "commit", "-q", "--amend", "--allow-empty-message", "--cleanup=verbatim", "-m", subject)
        commit_ids.append(git(root, "rev-parse", "HEAD"))
    return commit_ids


def subjects(history: History) -> list[str]:
    return [change.subject for change in history.changes]


def test_the_newest_commits_of_a_file_come_first(tmp_path: Path):
    first, second = commits(tmp_path, "one", "two")
    commits(tmp_path, "other", path="b.py")
    codebase = Codebase(tmp_path, "acme/past")
    assert codebase.read_history("a.py", 5) == History(), "nothing is indexed yet"
    codebase.index()

    history = codebase.read_history("a.py", 5)
    assert [(change.commit, change.subject) for change in history.changes] == [(second, "two"), (first, "one")]
    assert history.changes[0].date.startswith("2024-01-01T00:00:00")
    assert not history.partial
    assert subjects(codebase.read_history("a.py", 1)) == ["two"]
    assert subjects(codebase.read_history("b.py", 5)) == ["other"]


def test_the_commits_that_added_or_removed_a_text(tmp_path: Path):
    for body in ("x = 1\n", "x = 1\ny = 2\n", "y = 2\n"):
        commit(tmp_path, {"a.py": body})
    codebase = Codebase(tmp_path, "acme/past")
    codebase.index()
    found = [change.commit for change in codebase.read_history("a.py", 5, "x = 1").changes]
    assert found == [git(tmp_path, "rev-parse", name) for name in ("HEAD", "HEAD~2")]
    assert codebase.read_history("a.py", 5, "z = 3") == History(), "an answer, and no failure of git"


def test_a_commit_is_shown_for_one_of_its_files(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    commit(tmp_path, {"a.py": "x = 3\n", "b.py": "y = 4\n"})
    newest = git(tmp_path, "rev-parse", "HEAD")
    codebase = Codebase(tmp_path, "acme/past")
    codebase.index()
    assert "+y = 4" in codebase.show_commit(newest)
    shown = codebase.show_commit(newest, "a.py")
    assert "+x = 3" in shown
    assert "b.py" not in shown


def test_a_merge_shows_what_it_brought_of_indexed_files_alone(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n", ".env": "KEY=one\n"})
    git(tmp_path, "checkout", "-q", "-b", "topic")
    commit(tmp_path, {"a.py": "x = 2\n", ".env": "KEY=two\n"})
    git(tmp_path, "checkout", "-q", "main")
    commit(tmp_path, {"b.py": "y = 1\n"})
    git(tmp_path, "merge", "-q", "--no-ff", "--no-commit", "topic")
    commit(tmp_path, {".env": "KEY=three\n"})
    codebase = Codebase(tmp_path, "acme/past")
    codebase.index()
    shown = codebase.show_commit(git(tmp_path, "rev-parse", "HEAD"))
    assert "+x = 2" in shown
    assert "KEY=" not in shown


def test_each_commit_has_the_first_release_that_contains_it(tmp_path: Path):
    first, second = commits(tmp_path, "one", "two")
    git(tmp_path, "tag", "-a", "v1.0", "-m", "first")
    third = commits(tmp_path, "three")[0]
    git(tmp_path, "tag", "v1.1")
    fourth = commits(tmp_path, "four")[0]
    codebase = Codebase(tmp_path, "acme/past")
    codebase.index()
    history = codebase.read_history("a.py", 5)
    assert history.releases == {first: "v1.0", second: "v1.0", third: "v1.1"}
    assert [line.partition("(")[2] for line in map(str, render_log(codebase, "a.py")[1:])] == [
        "",
        "in v1.1)",
        "in v1.0)",
        "in v1.0)",
    ]
    assert fourth not in history.releases


def test_a_file_in_a_folder_of_the_repository(tmp_path: Path):
    commits(tmp_path, "above", path="a.py")
    commits(tmp_path, "below", path="sub/a.py")
    codebase = Codebase(tmp_path / "sub", "acme/sub")
    codebase.index()
    assert subjects(codebase.read_history("a.py", 5)) == ["below"]


def test_only_indexed_files_have_a_history(tmp_path: Path):
    codebase = make_codebase(tmp_path, {"a.py": "x\n"})
    codebase.index()
    for path in ("*.py", "a[.]py", ":(top)a.py", "../a.py", "/a.py", "--all", "a.py\0", "", "."):
        assert codebase.read_history(path, 5) == History(), path


HOSTILE = [
    "*.py",
    "a[b].py",
    ":(top)a.py",
    ":!a.py",
    "--all",
    "-n1",
    "--output=pwned",
    "a b\n.py",
    "ä.py",
    "$(touch x).py",
]


def test_paths_are_not_patterns(tmp_path: Path):
    commits(tmp_path, "plain", path="a.py")
    for number, name in enumerate(HOSTILE):
        commits(tmp_path, f"hostile {number}", path=name)
    codebase = Codebase(tmp_path, "acme/names", in_chroma=False)
    codebase.index()
    found = [subjects(codebase.read_history(name, 5)) for name in [*HOSTILE, "a.py"]]
    assert found == [*([f"hostile {number}"] for number in range(len(HOSTILE))), ["plain"]]
    assert not (tmp_path / "pwned").exists()


def test_the_oldest_commit_of_a_shallow_clone_is_left_out(tmp_path: Path):
    origin = tmp_path / "origin"
    origin.mkdir()
    commits(origin, "one")
    commits(origin, "untouched", path="old.py")
    commits(origin, "two", "three")
    for depth, expected in ((1, []), (2, ["three"])):
        clone = tmp_path / f"depth{depth}"
        git(tmp_path, "clone", "-q", f"--depth={depth}", origin.as_uri(), str(clone))
        codebase = Codebase(clone, "acme/shallow")
        codebase.index()
        history = codebase.read_history("a.py", 5)
        assert (subjects(history), history.partial) == (expected, True)
        assert codebase.read_history("old.py", 5) == History(partial=True)


CONFIG = {
    "log.follow": "true",
    "log.mailmap": "true",
    "mailmap.file": "/dev/zero",
    "log.decorate": "full",
    "log.date": "human",
    "log.diffMerges": "on",
    "log.showRoot": "true",
    "format.pretty": "fuller",
    "format.notes": "*",
    "color.ui": "always",
    "core.quotePath": "true",
    "i18n.logOutputEncoding": "UTF-16",
    "diff.renames": "copies",
    "diff.orderFile": "/nowhere",
}


def read_changes(root: Path, commit_id: str, path: str = "a.py") -> History:
    return GitHistory(Git(root), Git(root), commit_id, "").read_changes(path, 5)


def test_the_repositorys_config_changes_nothing(tmp_path: Path):
    commits(tmp_path, "one", "Grüße")
    git(tmp_path, "mv", "a.py", "b.py")
    commit(tmp_path)
    git(tmp_path, "notes", "add", "-m", "a note")
    for key, value in CONFIG.items():
        git(tmp_path, "config", key, value)
        for path, expected in (("b.py", ["x"]), ("a.py", ["x", "Grüße", "one"])):
            assert subjects(read_changes(tmp_path, "HEAD", path)) == expected, key
        git(tmp_path, "config", "--unset", key)


TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("\x1b[31mred\x1b[0m \u202e\u200b\ttab", "[31mred [0m tab"),
        (f"Remove {TOKEN} at last", "Remove [masked secret] at last"),
        (f"{'x' * 100} {TOKEN}", f"{'x' * 100} [masked secret]"),
        ("y" * 50_000, "y" * 120 + "…"),
        ("", ""),
        ("first\nsecond\n\nbody", "first second"),
    ],
)
def test_a_subject_is_one_short_printable_line_without_secrets(tmp_path: Path, subject: str, expected: str):
    commits(tmp_path, subject)
    codebase = Codebase(tmp_path, "acme/subjects")
    codebase.index()
    assert subjects(codebase.read_history("a.py", 5)) == [expected]


def test_a_subject_of_megabytes_makes_the_history_partial(tmp_path: Path):
    commits(tmp_path, "one", "two")
    write(tmp_path, {"message": "z" * 3_000_000})
    commit(tmp_path, {"a.py": "x = 9\n"})
    git(tmp_path, "commit", "-q", "--amend", "-F", "message")
    (newest,) = commits(tmp_path, "newest")
    codebase = Codebase(tmp_path, "acme/huge")
    codebase.index()
    history = codebase.read_history("a.py", 5)
    assert [change.commit for change in history.changes] == [newest]
    assert history.partial


def test_a_commit_that_is_gone_gives_no_history(tmp_path: Path):
    commits(tmp_path, "one")
    assert read_changes(tmp_path, "0" * 40) == History(partial=True)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_commit_message_becomes_one_line(tmp_path_factory: pytest.TempPathFactory, message: bytes):
    root = tmp_path_factory.mktemp("message")
    commits(root, "one")
    tree, parent = git(root, "rev-parse", "HEAD^{tree}"), git(root, "rev-parse", "HEAD")
    made = f"tree {tree}\nparent {parent}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n".encode() + message
    write(root, {".git/made": made, "a.py": "y\n"})
    git(root, "add", "a.py")
    changed = git(root, "write-tree")
    write(root, {".git/made": made.replace(tree.encode(), changed.encode(), 1)})
    commit_id = git(root, "hash-object", "-t", "commit", "-w", "--literally", ".git/made")
    history = read_changes(root, commit_id)
    assert [change.commit for change in history.changes] == [commit_id, parent]
    subject = history.changes[0].subject
    assert subject.isprintable()
    assert len(subject) <= git_history.MAX_SUBJECT_CHARS + 1
