"""Tags, ranges and owners from real repositories, whole and shallow."""

import subprocess
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import ENVIRONMENT, write
from triage.domain.code import CodeHistory, RegressionWindow, Span
from triage.domain.issue import Issue, IssueFacts, ParsedIssue, Quote, Regression
from triage.find.codebase import Codebase
from triage.find.leads.regression import MAX_ALL
from triage.git.commit_log import MAX_FILES
from triage.read.read_issue import read_issue

PARSED = ParsedIssue(title="The total is rounded wrongly")
QUOTE = Quote(text="x", start=0, end=1)
BODY = "def total(items):\n    return sum(items)\n\n\ndef count(items):\n    return len(items)\n"


def git(root: Path, *words: str, who: str = "Mona", at: str = "2024-01-01T00:00:00Z") -> str:
    person = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", who), ("EMAIL", f"{who.lower()}@users.noreply.github.com"), ("DATE", at))
    }
    done = subprocess.run(["git", "-C", str(root), *words], env=ENVIRONMENT | person, check=True, capture_output=True)
    return done.stdout.decode().strip()


def commit(root: Path, subject: str, text: str, who: str = "Mona", at: str = "2024-01-01T00:00:00Z") -> str:
    write(root, {"till.py": text})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", subject, who=who, at=at)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "till"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, "Add a till", BODY)
    git(root, "tag", "v1.0")
    commit(
        root, "Round the total (#12)", BODY.replace("sum(items)", "round(sum(items))"), "Olaf", "2025-06-01T00:00:00Z"
    )
    git(root, "tag", "-a", "v1.1", "-m", "v1.1", at="2025-06-02T00:00:00Z")
    commit(
        root, "Count once", BODY.replace("sum(items)", "round(sum(items))") + "\n\nx = 1\n", at="2025-07-01T00:00:00Z"
    )
    return root


def look_up(root: Path, facts: IssueFacts, lines: Span | None = None, parsed: ParsedIssue = PARSED) -> CodeHistory:
    codebase = Codebase(root, "acme/till")
    assert codebase.look_up_history(parsed, facts, ["till.py"], lines) == CodeHistory(), "nothing is indexed yet"
    codebase.index()
    return codebase.look_up_history(parsed, facts, ["till.py"], lines)


def find_window(root: Path, facts: IssueFacts) -> RegressionWindow | None:
    codebase = Codebase(root, "acme/till")
    assert codebase.find_regression_window(PARSED, facts) is None, "nothing is indexed yet"
    codebase.index()
    return codebase.find_regression_window(PARSED, facts)


def regression(worked: str, broken: str) -> IssueFacts:
    return IssueFacts(regression=Regression(worked_in=worked, broken_in=broken, quote=QUOTE))


def test_commits_between_two_versions(repository: Path):
    window = find_window(repository, regression("1.0", ""))
    assert window is not None
    assert (window.worked_in, window.broken_in, window.total) == ("v1.0", "HEAD", 2)
    assert [change.subject for change in window.commits] == ["Round the total (#12)", "Count once"], "by the words"
    assert window.commits[0].paths == ["till.py"]
    between = find_window(repository, regression("", "1.1"))
    assert between is not None
    assert [change.subject for change in between.commits] == ["Round the total (#12)"]


def test_a_window_has_the_commit_that_changed_many_files(repository: Path):
    write(repository, {f"part_{number}.py": BODY for number in range(MAX_FILES + 1)})
    commit(repository, "Split the till", BODY)
    window = find_window(repository, regression("1.1", ""))
    assert window is not None
    assert "Split the till" in [change.subject for change in window.commits]


def test_what_a_changelog_says_of_a_commit_is_quoted(repository: Path):
    write(repository, {"CHANGES.md": "# Version 1.2 of till\n\n## Changed\n\n- `count` no longer counts empty items\n"})
    commit(repository, "Skip empty items", BODY + "\n\ny = 1\n")
    window = find_window(repository, regression("1.1", ""))
    assert window is not None
    said = {change.subject: (change.changelog, change.entry) for change in window.commits}
    entry = ("CHANGES.md", "`count` no longer counts empty items")
    assert said == {"Skip empty items": entry, "Count once": ("", "")}


def test_changed_lines_tell_a_commit_whose_subject_tells_nothing_but_not_where_they_are_too_many(repository: Path):
    for number in range(MAX_ALL):
        write(repository, {f"part_{number}.py": f"x = {number}\n"})
        commit(repository, f"Part {number}", BODY)
    commit(repository, "Improvements", BODY.replace("sum(items)", "wrongly_rounded_total(items)"))
    write(repository, {f"part_{number}.py": "wrongly = rounded_total\n" for number in range(MAX_FILES)})
    commit(repository, "Format", BODY)
    window = find_window(repository, regression("1.1", ""))
    assert window is not None
    assert (window.commits[0].subject, window.is_sure) == ("Improvements", True)
    write(repository, {"data.txt": "0123456789\n" * 100_000})
    commit(repository, "Add data", BODY + "x = 2\n")
    window = find_window(repository, regression("1.1", ""))
    assert window is not None
    assert window.commits == []


def test_the_commit_of_the_release_itself_changes_nothing(repository: Path):
    commit(repository, "Release 1.2", BODY + "\n\nVERSION = '1.2'\n")
    git(repository, "tag", "v1.2")
    window = find_window(repository, regression("1.1", "1.2"))
    assert window is not None
    assert [change.subject for change in window.commits] == ["Count once"]


def test_the_commit_that_the_report_names_is_the_window(repository: Path):
    culprit = git(repository, "rev-parse", "v1.1^{commit}")
    window = find_window(repository, regression("", culprit[:10]))
    assert window is not None
    assert [change.commit for change in window.commits] == [culprit]
    assert window.is_sure


def test_the_pull_request_that_the_report_names_is_the_window(repository: Path):
    git(repository, "checkout", "-q", "-b", "topic")
    commit(repository, "Count twice", BODY + "y = 2\n")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "Merge pull request #15 from mona/topic", "topic", "-Xtheirs")
    for written, subject in (("#12", "Round the total (#12)"), ("#15", "Count twice")):
        window = find_window(repository, regression("1.0", written))
        assert window is not None
        assert window.is_blamed_commit
        assert [change.subject for change in window.commits] == [subject]
    unknown = find_window(repository, regression("1.0", "#99"))
    assert unknown is not None
    assert unknown.broken_in == "HEAD", "an issue's number names no commit"


def test_a_version_that_was_fixed_later_is_no_regression(repository: Path):
    assert find_window(repository, regression("1.1", "1.0")) is None


def test_a_change_after_the_reporters_version(repository: Path):
    facts = IssueFacts(version=Quote(text="1.0", start=0, end=3))
    later = look_up(repository, facts, Span(path="till.py", start=1, end=2)).later_change
    assert later is not None
    assert (later.version, later.commit.subject, later.release) == ("v1.0", "Round the total (#12)", "v1.1")
    assert look_up(repository, facts, Span(path="till.py", start=5, end=6)).later_change is None
    unreleased = look_up(repository, facts, Span(path="till.py", start=9, end=9)).later_change
    assert unreleased is not None
    assert unreleased.release is None
    last = look_up(repository, facts, Span(path="till.py", start=1, end=2)).last_change
    assert last is not None
    assert (last.commit, last.release, last.is_reported) == (later.commit, "v1.1", False)
    current = IssueFacts(version=Quote(text="1.1", start=0, end=3))
    reported = look_up(repository, current, Span(path="till.py", start=1, end=2)).last_change
    assert reported == last.model_copy(update={"is_reported": True})
    assert look_up(repository, IssueFacts(), Span(path="till.py", start=1, end=2)).last_change == last
    assert look_up(repository, current, Span(path="till.py", start=1, end=2)).later_change is None


@pytest.mark.parametrize("words", ["Round the total (#12)", "Backport PR #12: Round the total (#12)"])
def test_a_change_that_the_reporters_version_has_as_a_backport_is_not_later(repository: Path, words: str):
    culprit = git(repository, "rev-parse", "v1.1^{commit}")
    git(repository, "checkout", "-q", "-b", "1.0.x", "v1.0")
    if words.startswith("Backport"):  # another patch
        commit(repository, words, BODY.replace("sum(items)", "round(sum(items), 0)"))
    else:
        git(repository, "cherry-pick", culprit)
    git(repository, "tag", "v1.0.1")
    git(repository, "checkout", "-q", "main")
    lines = Span(path="till.py", start=1, end=2)
    facts = [IssueFacts(version=Quote(text=text, start=0, end=3)) for text in ("1.0", "1.0.1")]
    assert [look_up(repository, one, lines).later_change is None for one in facts] == [False, True]


FIX = "Fix the empty basket: its receipt has a negative balance (#77)"
EMPTY_BASKET = ParsedIssue(title="Empty basket: receipt has negative balance", prose="An empty basket prints -0.")


def add_fix(root: Path) -> str:
    for number in range(9):
        commit(root, f"Change part {number}", BODY + f"y = {number}\n", at=f"2025-07-1{number}T00:00:00Z")
    return commit(root, FIX, BODY + "y = 99\n", at="2025-08-01T00:00:00Z")


def test_a_fix_that_fits_the_report_is_told_with_its_release(repository: Path):
    fix = add_fix(repository)
    reported = IssueFacts(version=Quote(text="till 1.1 (of the shop)", start=0, end=3))
    found = look_up(repository, reported, parsed=EMPTY_BASKET).later_fix
    assert found is not None
    assert (found.commit.commit, found.version, found.release, found.is_named_by_report) == (fix, "v1.1", None, False)
    git(repository, "tag", "v0.3")  # of another package
    other = look_up(repository, reported, parsed=EMPTY_BASKET).later_fix
    assert other is not None
    assert other.release is None
    git(repository, "tag", "v1.2")
    released = look_up(repository, reported, parsed=EMPTY_BASKET).later_fix
    assert released is not None
    assert released.release == "v1.2"
    current = IssueFacts(version=Quote(text="1.2", start=0, end=3))
    for facts, parsed in ((reported, PARSED), (current, EMPTY_BASKET), (IssueFacts(), EMPTY_BASKET)):
        assert look_up(repository, facts, parsed=parsed).later_fix is None


def test_a_fix_that_a_release_branch_has_is_released(repository: Path):
    fix = add_fix(repository)
    git(repository, "checkout", "-q", "-b", "1.1.x", "v1.1")
    git(repository, "cherry-pick", "-Xtheirs", fix, at="2025-09-01T00:00:00Z")
    git(repository, "tag", "-a", "v1.1.1", "-m", "v1.1.1", at="2025-09-02T00:00:00Z")
    git(repository, "checkout", "-q", "main")
    reported, current = (IssueFacts(version=Quote(text=text, start=0, end=3)) for text in ("1.1", "1.1.1"))
    found = look_up(repository, reported, parsed=EMPTY_BASKET).later_fix
    assert found is not None
    assert found.release == "v1.1.1"
    assert look_up(repository, current, parsed=EMPTY_BASKET).later_fix is None


def test_the_fix_that_the_report_names_is_told_if_the_commit_has_it(repository: Path):
    culprit = git(repository, "rev-parse", "v1.1^{commit}")
    git(repository, "checkout", "-q", "-b", "side", "v1.0")
    elsewhere = commit(repository, "Elsewhere", "x = 2\n")
    git(repository, "checkout", "-q", "main")
    for named, version, is_told in (
        (culprit[:8], "1.0", True),
        ("#12", "1.0", True),
        (culprit[:8], "1.1", False),
        (elsewhere[:8], "1.0", False),
        ("#99", "1.0", False),
    ):
        facts = IssueFacts(version=Quote(text=version, start=0, end=3), named_fix=named)
        found = look_up(repository, facts).later_fix
        assert (found is not None) is is_told, named
        if found:
            assert (found.commit.commit, found.release, found.is_named_by_report) == (culprit, "v1.1", True)


def test_commits_of_a_release_branch_are_in_the_window(repository: Path):
    git(repository, "checkout", "-q", "-b", "1.0.x", "v1.0")
    commit(repository, "Only on the branch", BODY + "z = 1\n", at="2025-05-01T00:00:00Z")
    git(repository, "tag", "v1.0.1")
    git(repository, "checkout", "-q", "main")
    window = find_window(repository, regression("1.0", "1.0.1"))
    assert window is not None
    assert [change.subject for change in window.commits] == ["Only on the branch"]


def test_at_most_three_code_owners_are_named(repository: Path):
    write(repository, {"CODEOWNERS": "*.py @acme/tills @a @b @c\n"})
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Owners", at="2025-08-01T00:00:00Z")
    owners = look_up(repository, IssueFacts(), Span(path="till.py", start=1, end=2)).owners
    assert owners == ["acme/tills", "a", "b"]


def test_a_shallow_clone_knows_no_range(repository: Path, tmp_path: Path):
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", str(clone))
    assert look_up(clone, regression("1.0", "1.1"), Span(path="till.py", start=1, end=2)) == CodeHistory()
    assert find_window(clone, regression("1.0", "1.1")) is None
    assert [Codebase(root, "acme/till").index().shallow for root in (clone, repository)] == [True, False]


def test_a_shallow_clone_with_tags_makes_no_list_from_what_it_lacks(repository: Path, tmp_path: Path):
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", str(clone))
    git(clone, "fetch", "-q", "--depth=1", "origin", "refs/tags/*:refs/tags/*")
    assert find_window(clone, regression("1.0", "1.1")) is None


@pytest.mark.parametrize("author", ["1700000000 +9900", "99999999999999 +0000", "abc", "-5 +0000"])
def test_a_commit_with_an_odd_date_costs_no_owner(repository: Path, author: str):
    write(repository, {"CODEOWNERS": "*.py @acme/tills\n"})
    git(repository, "add", "-A")
    tree = git(repository, "write-tree")
    head = git(repository, "rev-parse", "HEAD")
    text = f"tree {tree}\nparent {head}\nauthor A <a@b> {author}\ncommitter A <a@b> {author}\n\nOdd\n"
    done = subprocess.run(
        ["git", "-C", str(repository), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        input=text.encode(),
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
    )
    git(repository, "update-ref", "refs/heads/main", done.stdout.decode().strip())
    found = look_up(repository, regression("1.0", ""), Span(path="till.py", start=1, end=2))
    assert found.owners[0] == "acme/tills"
    assert find_window(repository, regression("1.0", "")) is not None


def test_where_no_word_tells_the_order_is_that_of_the_history(repository: Path):
    late = commit(repository, "Written long ago", BODY + "y = 1\n", at="2019-01-01T00:00:00Z")
    window = find_window(repository, regression("1.1", ""))
    assert window is not None
    assert window.commits[0].commit == late


def test_a_folder_without_git_has_no_history(tmp_path: Path):
    write(tmp_path, {"till.py": BODY})
    assert look_up(tmp_path, regression("1.0", "1.1"), Span(path="till.py", start=1, end=2)) == CodeHistory()
    assert find_window(tmp_path, regression("1.0", "1.1")) is None


def test_what_is_no_version_asks_git_nothing_odd(repository: Path):
    codebase = Codebase(repository, "acme/till", in_chroma=False)
    codebase.index()
    for version in ("--output=/tmp/x", "HEAD", "main", "v1.0..HEAD", "-1", "1.0\n", "\0"):
        regressed = regression(version, version).regression
        facts = IssueFacts(version=Quote(text=version, start=0, end=1), regression=regressed)
        codebase.look_up_history(PARSED, facts, ["till.py"], Span(path="till.py", start=1, end=2))
        assert codebase.find_regression_window(PARSED, facts) is None, version


def test_a_commit_is_shown_only_if_the_indexed_one_contains_it(repository: Path):
    culprit = git(repository, "rev-parse", "v1.1^{commit}")
    git(repository, "checkout", "-q", "-b", "side", "v1.0")
    elsewhere = commit(repository, "Elsewhere", "x = 2\n")
    git(repository, "checkout", "-q", "main")
    write(repository, {"key.bin": "\0secret", "docs/notes.py": "x = 3\n"})
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Both")
    both = git(repository, "rev-parse", "HEAD")
    git(repository, "rm", "-q", "key.bin")
    git(repository, "commit", "-q", "-m", "Without the key")
    codebase = Codebase(repository, "acme/till")
    assert codebase.show_commit(culprit) == ""
    codebase.index()
    shown = codebase.show_commit(culprit[:10])
    assert "Round the total (#12)" in shown
    assert "+    return round(sum(items))" in shown
    assert "docs/notes.py" in codebase.show_commit(both)
    assert "key.bin" not in codebase.show_commit(both), "files that are not indexed are not shown"
    for written in (elsewhere, "main", "--output=/tmp/x", "HEAD", "", culprit[:6], "0" * 40):
        assert codebase.show_commit(written) == "", written


TILL = "class Till:\n    def total(self, items):\n%s        return sum(items)\n"


def find_line(tmp_path: Path, then: str, now: str, number: int) -> list[tuple[int | None, str | None]]:
    """Returns line and name of the places of a frame of v1.0 that shows only a number."""
    git(tmp_path, "init", "-q")
    commit(tmp_path, "First", then)
    git(tmp_path, "tag", "v1.0")
    commit(tmp_path, "Second", f"{now}\n\nx = 1\n")
    trace = f'Traceback (most recent call last):\n  File "till.py", line {number}, in total\nTypeError: no sum\n'
    codebase = Codebase(tmp_path, "acme/till", in_chroma=False)
    codebase.index()
    parsed = read_issue(Issue(title="total() fails", body=f"It fails in till 1.0:\n\n```\n{trace}```\n"))
    return [(place.line, place.symbol) for place in codebase.find_places(parsed)]


@pytest.mark.parametrize(
    ("then", "now", "line"),
    [
        ("", "        seen = 0\n        open = 1\n", 5),  # it stands two lines lower now
        ("        seen = 0\n", "", 3),
        ("", "", 3),
    ],
)
def test_a_line_of_another_version_is_found_where_it_is_now(tmp_path: Path, then: str, now: str, line: int):
    assert find_line(tmp_path, TILL % then, TILL % now, 3 + then.count("\n")) == [(line, "Till.total")]


def test_of_a_line_that_is_gone_the_function_is_told(tmp_path: Path):
    gone = (TILL % "").replace("sum(items)", "my_sum(items)")
    assert find_line(tmp_path, gone, TILL % "", 3) == [(None, "Till.total")]
