"""A past commit is indexed as if nothing had happened since."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git
from tests.find.past_issues.past import past_issue
from triage.base.errors import GitError
from triage.domain.past_issues import PastFix
from triage.find.codebase import Codebase
from triage.find.index_commit import PastCommit

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def open_past(root: Path, revision: str, until: datetime = NOW):
    return Codebase(root, "acme/shop", in_chroma=False, past_commit=PastCommit(revision, until))


def test_files_lines_and_tags_are_those_of_the_commit(tmp_path: Path):
    old = commit(tmp_path, {"a.py": "def alpha(): pass\n"})
    git(tmp_path, "tag", "v1")
    commit(tmp_path, {"a.py": "def beta(): pass\n", "b.py": "x = 1\n"})
    git(tmp_path, "tag", "v2")
    (tmp_path / "a.py").write_text("dirty\n")
    codebase = open_past(tmp_path, old)
    facts = codebase.index()
    assert (facts.commit, facts.files) == (old, 1)
    assert codebase.read_lines("a.py") == ["def alpha(): pass"]
    history = codebase._indexed.tree.history
    assert history
    assert [tag.name for tag in history.list_tags()] == ["v1"]
    assert [tag.name for tag in history.list_tags_with(old)] == ["v1"]


def test_no_commit_no_message_and_no_line_is_from_later(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    last = commit(tmp_path, {"a.py": "x = 2\n"})
    for until, known in ((NOW, 2), (datetime(2020, 1, 1, tzinfo=UTC), 0)):
        codebase = open_past(tmp_path, last, until)
        codebase.index()
        assert len(codebase._indexed.past_changes.table.changes) == min(known, 1), "the first commit counts for nothing"
        assert len(codebase.read_history("a.py", 5).changes) == known
        history = codebase._indexed.tree.history
        assert history
        assert len(history.blame("a.py", 1, 1)) == min(known, 1)


def test_a_commit_that_is_not_there_is_an_error(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    with pytest.raises(GitError):
        open_past(tmp_path, "0" * 40).index()


def test_an_index_for_many_issues_is_built_once_and_forgets_what_one_added(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    codebase = Codebase(tmp_path, "acme/shop", in_chroma=False, index_once=True)
    facts = codebase.index()
    fixed = past_issue(3, "Crash", state="closed", fixes=[PastFix(files=["a.py"], at=NOW)])
    codebase.add_past_issues([fixed])
    assert len(codebase._indexed.past_changes.table.changes) == 1
    commit(tmp_path, {"a.py": "x = 2\n"})
    assert codebase.index() is facts
    assert codebase._indexed.past_changes.table.changes == []
