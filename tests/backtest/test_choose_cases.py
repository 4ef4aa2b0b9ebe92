"""Which issues a backtest uses, and which commit is the one before the fix."""

import itertools
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git
from testing.each_row import each_row
from tests.backtest.samples import AT, fixed_issue
from triage.backtest.choose_cases import (
    EARLIER_FIX,
    LARGE_FIX,
    MAX_FILES,
    NO_BUG,
    NO_CODE,
    NO_COMMIT,
    REBASED,
    choose_commits,
    choose_issues,
    open_history,
    split_message,
)
from triage.backtest.judge import is_product_code
from triage.base.errors import BadInput
from triage.domain.past_issues import PastFix, PastIssue
from triage.find.past_changes import is_about_work, is_mainly_fix
from triage.git.commit_log import LoggedCommit
from triage.git.history import GitHistory


@dataclass
class FakeHistory(GitHistory):
    """Commits by their names, the newest first; each with the files that it changed, and whether each was there."""

    commits: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    is_shallow = False

    def find_first_parent(self, commit: str) -> str | None:
        names = list(self.commits)
        return dict(itertools.pairwise(names)).get(commit)

    def list_changed_files(self, base: str, commit: str) -> dict[str, bool]:
        names = list(self.commits)
        between = names[names.index(commit) : names.index(base)]
        # The oldest commit knows whether a file was there.
        return {path: old for name in between for path, old in self.commits[name].items()}


HISTORY = FakeHistory({"d": {"a.py": True}, "c": {"b.py": True, "new.py": False}, "b": {"docs.md": True}, "a": {}})


def choose(*past: PastIssue, last: int = 50, history: FakeHistory = HISTORY):
    return choose_issues(past, history, last, "https://github.com/acme/shop/issues")


def fix(commit: str | None, days: int = 3, **changes: object) -> PastFix:
    return PastFix.model_validate({"commit": commit, "at": AT + timedelta(days=days), **changes})


def test_a_case_is_the_issue_as_it_was_opened_and_the_commit_before_its_fix():
    [case] = choose(fixed_issue(7, fix("c"), body="It crashes.", author="ann", labels=["bug"])).cases
    assert (case.name, case.number, case.title, case.body) == ("#7", 7, "Crash number 7", "It crashes.")
    assert (case.base, case.fix, case.edited, case.opened_at) == ("b", "c", ["b.py"], AT)
    assert case.url == "https://github.com/acme/shop/issues/7"


def test_the_newest_fixed_issues_are_chosen():
    past = [fixed_issue(number, fix("d")) for number in range(1, 6)]
    assert [case.number for case in choose(*past, fixed_issue(9), last=2).cases] == [5, 4]


@pytest.mark.parametrize(
    ("fixes", "reason"),
    [
        ([fix("x")], NO_COMMIT),
        ([fix("a")], NO_COMMIT),  # nothing was before it
        ([fix("b")], NO_CODE),
        ([fix("d", days=-1)], EARLIER_FIX),
    ],
)
def test_what_cannot_be_measured_is_left_out_and_counted(fixes: list[PastFix], reason: str):
    chosen = choose(fixed_issue(7, *fixes))
    assert (chosen.cases, dict(chosen.left_out)) == ([], {reason: 1})


def test_a_fix_of_very_many_files_is_left_out():
    files = {f"f{number}.py": True for number in range(MAX_FILES + 1)}
    history = FakeHistory({"d": files, "a": {}})
    assert dict(choose(fixed_issue(7, fix("d")), history=history).left_out) == {LARGE_FIX: 1}


def test_an_issue_without_a_known_fix_is_not_even_left_out():
    chosen = choose(fixed_issue(7), fixed_issue(8, fix(None)))
    assert (chosen.cases, dict(chosen.left_out)) == ([], {})


def test_of_several_fixes_the_first_one_has_the_base_and_all_files_count():
    [case] = choose(fixed_issue(7, fix("d", days=9), fix("c", days=3))).cases
    assert (case.base, case.fix, case.edited) == ("b", "c", ["a.py", "b.py"])


def test_of_a_pull_request_that_was_rebased_the_commit_before_is_not_known():
    chosen = choose(fixed_issue(7, fix("d", commits=2)))
    assert (chosen.cases, chosen.left_out) == ([], {REBASED: 1})


def test_a_file_that_only_the_first_of_two_fixes_made_cannot_be_right():
    history = FakeHistory({"d": {"new.py": True, "a.py": True}, "c": {"b.py": True, "new.py": False}, "b": {}})
    [case] = choose(fixed_issue(7, fix("c"), fix("d", days=9)), history=history).cases
    assert case.edited == ["a.py", "b.py"]


def test_a_name_that_is_not_utf_8_is_not_in_any_index():
    history = FakeHistory({"d": {"a.py": True, "b\ufffd.py": True}, "c": {}})
    assert choose(fixed_issue(7, fix("d")), history=history).cases[0].edited == ["a.py"]


def commits(*messages: str) -> list[LoggedCommit]:
    names = list(HISTORY.commits)
    return [
        LoggedCommit(name, int(AT.timestamp()), message, ("a.py",))
        for name, message in zip(names, messages, strict=False)
    ]


def test_messages_of_fixing_commits_stand_in_for_issues():
    chosen = choose_commits(
        commits(
            "Add a thing", "fix(cart): total of an empty cart (#12)\n\nIt divides by zero.\n", "Fix the list of pages"
        ),
        HISTORY,
        50,
    )
    [case] = chosen.cases
    assert (case.name, case.number, case.title, case.body) == (
        "c",
        None,
        "total of an empty cart",
        "It divides by zero.",
    )
    assert (case.base, case.fix, case.edited, case.url) == ("b", "c", ["b.py"], "")
    assert dict(chosen.left_out) == {NO_CODE: 1}


@pytest.mark.parametrize(
    ("message", "title", "body"),
    [
        ("Fix crash", "Fix crash", ""),
        ("bugfix: no crash (#1)", "no crash", ""),
        ("fix!: a\n\nb\n\nSigned-off-by: Ann <ann@example.org>", "a", "b"),
        ("Fix (#1) in title (#22)", "Fix (#1) in title", ""),
        ("", "", ""),
    ],
)
def test_what_only_a_commit_has_is_cut_off(message: str, title: str, body: str):
    assert split_message(message) == (title, body)


def test_commits_with_their_parents_and_the_files_that_differ(tmp_path: Path):
    first = commit(tmp_path, {"a.py": "x = 1\n", "gone.py": "x = 1\n", "old.py": "y = 1\n"})
    (tmp_path / "gone.py").unlink()
    git(tmp_path, "mv", "old.py", "moved.py")
    second = commit(tmp_path, {"a.py": "x = 2\n", "new.py": "x = 3\n"}, "Fix it")
    history = open_history(tmp_path)
    assert history.find_first_parent(second) == first
    assert history.find_first_parent(first) is None
    assert history.find_first_parent("0" * 40) is None
    assert history.list_changed_files(first, second) == {
        "a.py": True,
        "gone.py": True,
        "moved.py": False,
        "new.py": False,
        "old.py": True,
    }
    assert history.list_changed_files("0" * 40, second) == {}


def test_the_parent_of_a_merge_is_where_it_was_merged(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    git(tmp_path, "switch", "-q", "-c", "side")
    commit(tmp_path, {"b.py": "x = 1\n"}, "Side")
    git(tmp_path, "switch", "-q", "main")
    main = commit(tmp_path, {"c.py": "x = 1\n"}, "Main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
    history = open_history(tmp_path)
    assert history.find_first_parent(history.commit) == main
    assert history.list_changed_files(main, history.commit) == {"b.py": False}


def test_in_a_folder_paths_are_those_below_it(tmp_path: Path):
    first = commit(tmp_path, {"app/a.py": "x = 1\n", "b.py": "x = 1\n"})
    second = commit(tmp_path, {"app/a.py": "x = 2\n", "b.py": "x = 2\n"}, "Fix it")
    history = open_history(tmp_path / "app")
    assert history.list_changed_files(first, second) == {"a.py": True}


@each_row(
    ("message", "is_fix"),
    [
        ("Fix the total", True),
        ("fix(cart): the total", True),
        ("Round the total\n\nCloses #12.", True),
        ("Round the total\n\nThis bug was old.", False),
        ("feat: a total\n\nfixes #12", False),
        ("chore(deps): fix versions", False),
        ("Bump fixture to 2.0", False),
        ('Revert "Fix the total"', False),
        ("fix mypy finding", False),
        ("fix: Update version to 0.31.7 and add changelog for bug fixes", False),
        ("Fix format of dates before 1970", True),
        ("Fix the imports of a module without a name", True),
    ],
)
def test_what_is_mainly_a_fix(message: str, is_fix: bool):
    assert (is_mainly_fix(message) and not is_about_work(message)) == is_fix


def test_fixes_of_the_work_itself_are_counted_and_left_out(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    commit(tmp_path, {"a.py": "x = 2\n"}, "Fix the total")
    commit(tmp_path, {"a.py": "x: int = 2\n"}, "fix mypy finding")
    history = open_history(tmp_path)
    chosen = choose_commits(history.read_commits(), history, 50)
    assert [case.title for case in chosen.cases] == ["Fix the total"]
    assert chosen.left_out == {NO_BUG: 1}


def test_a_date_that_no_calendar_has_costs_only_its_commit(tmp_path: Path):
    first = commit(tmp_path, {"a.py": "x = 1\n"})
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}")
    person = "A <a@example.org> 99999999999999 +0000"
    raw = f"tree {tree}\nparent {first}\nauthor {person}\ncommitter {person}\n\nFix it\n".encode()
    command = ["git", "-C", str(tmp_path), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"]
    odd = subprocess.run(command, input=raw, capture_output=True, check=True).stdout.decode().strip()
    git(tmp_path, "reset", "-q", "--hard", odd)
    commit(tmp_path, {"a.py": "x = 2\n"}, "Fix that")
    history = open_history(tmp_path)
    assert [case.title for case in choose_commits(history.read_commits(), history, 50).cases] == ["Fix that"]


def test_a_folder_without_git_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="no history"):
        open_history(tmp_path)


def test_tests_and_documents_are_no_product_code():
    assert is_product_code("shop/cart.py")
    assert not any(map(is_product_code, ["tests/test_cart.py", "docs/conf.py", "README.md", "examples/a.py"]))
