"""Which issues a backtest uses, and which commit is the one before the fix."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tests.backtest.samples import AT, fixed_issue
from triage.backtest.choose_cases import (
    EARLIER_FIX,
    LARGE_FIX,
    MAX_FILES,
    NO_CODE,
    NO_COMMIT,
    choose_commits,
    choose_issues,
    find_base,
    split_message,
)
from triage.backtest.past_case import FixCommit
from triage.domain.past_issues import PastFix, PastIssue


@dataclass
class FakeHistory:
    """Commits by their names, the newest first; each with the files that it changed, and whether each was there."""

    commits: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    def is_shallow(self) -> bool:
        return False

    def find_first_parent(self, commit: str) -> str | None:
        names = list(self.commits)
        return dict(itertools.pairwise(names)).get(commit)

    def list_changed_files(self, base: str, commit: str) -> Mapping[str, bool]:
        names = list(self.commits)
        between = names[names.index(commit) : names.index(base)]
        # The oldest commit knows whether a file was there.
        return {path: old for name in between for path, old in self.commits[name].items()}


HISTORY = FakeHistory({"d": {"a.py": True}, "c": {"b.py": True, "new.py": False}, "b": {"docs.md": True}, "a": {}})


def is_code(path: str) -> bool:
    return path.endswith(".py")


def choose(*past: PastIssue, last: int = 50, history: FakeHistory = HISTORY):
    return choose_issues(past, history, is_code, last, "https://github.com/acme/shop/issues")


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


def test_a_pull_request_that_was_rebased_begins_before_its_first_commit():
    assert find_base(HISTORY, fix("d")) == "c"
    assert find_base(HISTORY, fix("d", commits=2)) == "b"
    assert find_base(HISTORY, fix("d", commits=9)) is None
    assert find_base(HISTORY, fix("d", commits=2, files=["a.py", "b.py", "new.py"])) == "b"
    assert find_base(HISTORY, fix("d", commits=2, files=["a.py"])) == "c", "others wrote the commit before"
    assert find_base(HISTORY, fix("d", commits=2, files=["app/a.py", "app/b.py", "app/new.py"])) == "b", "in a folder"
    [case] = choose(fixed_issue(7, fix("d", commits=2))).cases
    assert (case.base, case.edited) == ("b", ["a.py", "b.py"])


def test_a_file_that_only_the_first_of_two_fixes_made_cannot_be_right():
    history = FakeHistory({"d": {"new.py": True, "a.py": True}, "c": {"b.py": True, "new.py": False}, "b": {}})
    [case] = choose(fixed_issue(7, fix("c"), fix("d", days=9)), history=history).cases
    assert case.edited == ["a.py", "b.py"]


def test_a_name_that_is_not_utf_8_is_not_in_any_index():
    history = FakeHistory({"d": {"a.py": True, "b\ufffd.py": True}, "c": {}})
    assert choose(fixed_issue(7, fix("d")), history=history).cases[0].edited == ["a.py"]


def commits(*messages: str) -> list[FixCommit]:
    names = list(HISTORY.commits)
    return [
        FixCommit(commit=name, message=message, at=AT, is_fix="ix" in message)
        for name, message in zip(names, messages, strict=False)
    ]


def test_messages_of_fixing_commits_stand_in_for_issues():
    chosen = choose_commits(
        commits("Add a thing", "fix(cart): total of an empty cart (#12)\n\nIt divides by zero.\n", "Fix the docs"),
        HISTORY,
        is_code,
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
