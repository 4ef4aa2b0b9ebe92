"""Commits after a version: by the report's words first, by the files of its facts second."""

from pathlib import Path

from testing.each_row import each_row
from tests.find.indexes import make_corpus, make_query
from triage.domain.code import MAX_NARROW
from triage.find.leads.regression import (
    MAX_ALL,
    MAX_FEW,
    MAX_NAMED,
    MIN_NAMED,
    MIN_TELLING,
    RankedCommit,
    choose_commits,
    find_sure_fix,
    is_sure,
    make_ranker,
)
from triage.find.past_changes import Change, PastChanges, read_changes
from triage.find.rank.query import build_query
from triage.git.commit_log import LoggedCommit

TITLE = "Filename of conftest is lower case: casefold is wrong"


def commit(number: int, message: str, *paths: str) -> LoggedCommit:
    return LoggedCommit(f"{number:040x}", number, message, paths or (f"shop/part_{number}.py",))


OTHERS = [commit(number, f"Change part {number}") for number in range(30)]


def rank(
    folder: Path,
    *commits: LoggedCommit,
    facts: tuple[str, ...] = (),
    title: str = TITLE,
    lines: dict[str, str] | None = None,
) -> list[RankedCommit]:
    past = PastChanges(make_corpus(folder, {"shop/a.py": "x = 1\n"}), read_changes([*commits, *OTHERS]))
    ids = [one.commit for one in [*commits, *OTHERS[:9]]]
    return make_ranker(past, build_query(make_query(title=title)), facts)(ids, (), lines or {})


def subjects(ranked: list[RankedCommit]) -> list[str]:
    return [one.change.subject for one in ranked]


def test_the_commit_that_shares_rare_words_is_first_and_only_the_window_counts(tmp_path: Path):
    ranked = rank(tmp_path, commit(40, "Bump the version"), commit(41, "Compare names\n\nThe filename is casefold."))
    assert len(ranked) == 11
    assert subjects(ranked)[:3] == ["Compare names", "Bump the version", "Change part 0"]


def test_the_subject_weighs_more_than_the_body(tmp_path: Path):
    body = commit(40, "Work around an old path\n\nWrong conftest casefold.")
    subject = commit(41, "Wrong conftest casefold\n\nWork around an old path.")
    assert subjects(rank(tmp_path, body, subject))[0] == "Wrong conftest casefold"


def test_of_the_same_words_the_file_of_a_fact_decides(tmp_path: Path):
    same = [commit(number, "Compare filename with casefold", f"shop/part_{number}.py") for number in (40, 41)]
    assert rank(tmp_path, *same)[0].change.commit == same[0].commit
    assert rank(tmp_path, *same, facts=("shop/part_41.py",))[0].change.commit == same[1].commit


def test_changed_lines_count_where_no_subject_shares_a_word(tmp_path: Path):
    commits = [commit(40, "Improvements"), commit(41, "More of the same"), commit(42, "Compare part 3")]
    lines = {
        commits[1].commit: "+    conftest = filename.casefold()\n-    conftest = filename",
        commits[2].commit: "+    key = 3",
    }
    assert not rank(tmp_path, *commits)[0].score
    first, second, *_ = rank(tmp_path, *commits, lines=lines)
    assert (first.change.subject, first.coverage > MIN_NAMED, second.coverage) == ("More of the same", True, 0.0)


def test_a_word_that_every_patch_has_decides_nothing(tmp_path: Path):
    commits = [commit(40, "Wrong conftest casefold"), commit(41, "Improvements")]
    lines = dict.fromkeys([one.commit for one in [*commits, *OTHERS[:9]]], "+    filename = 1")
    assert subjects(rank(tmp_path, *commits, lines=lines))[0] == "Wrong conftest casefold"


def test_tests_and_words_alone_are_no_change_of_the_code(tmp_path: Path):
    commits = [commit(40, "Fix casefold", "tests/test_a.py"), commit(41, "Fix casefold", "docs/a.md")]
    assert "Fix casefold" not in subjects(rank(tmp_path, *commits))


def test_commits_of_another_branch_are_added(tmp_path: Path):
    past = PastChanges(make_corpus(tmp_path, {"shop/a.py": "x = 1\n"}), read_changes(OTHERS))
    other = commit(50, "Compare filename with casefold")
    ranked = make_ranker(past, build_query(make_query(title=TITLE)), ())([other.commit, OTHERS[0].commit], [other], {})
    assert subjects(ranked) == [other.message, "Change part 0"]


@each_row(
    ("message", "is_sure"),
    [
        ("Fix lower case filename of conftest: wrong casefold", True),
        ("Fixed #12 -- Filename of conftest is lower case", True),
        ("Lower case filename of conftest: wrong casefold", False),
        ("docs: fix lower case filename of conftest: wrong casefold", False),
        ("Fix typo: lower case filename of conftest, wrong casefold", False),
        ("Fix the filename in a report of coverage", False),
        ("Fix part 31", False),
    ],
)
def test_a_fix_is_sure_only_if_nearly_all_of_the_title_is_in_it(tmp_path: Path, message: str, is_sure: bool):
    ranked = rank(tmp_path, commit(40, message))
    assert (find_sure_fix(ranked) is not None) is is_sure


def test_of_two_fixes_that_fit_alike_none_is_sure(tmp_path: Path):
    two = [commit(number, "Fix filename of conftest: casefold is wrong") for number in (40, 41)]
    one = rank(tmp_path / "one", two[0])
    assert find_sure_fix(one) is not None
    assert find_sure_fix(rank(tmp_path / "two", *two)) is None
    assert find_sure_fix([]) is None


def make_ranked(coverage: float, count: int) -> list[RankedCommit]:
    return [RankedCommit(Change("Change", (), 0), 1.0, coverage) for _ in range(count)]


def test_a_few_are_all_named_and_of_many_only_those_that_fit():
    assert len(choose_commits(make_ranked(0.0, MAX_ALL))) == MAX_ALL
    assert choose_commits(make_ranked(MIN_NAMED - 0.01, MAX_ALL + 1)) == []
    assert len(choose_commits(make_ranked(MIN_NAMED, MAX_ALL + 1))) == MAX_NAMED


@each_row(
    ("coverage", "count", "speaks"),
    [
        (0.0, 0, False),
        (0.0, MAX_ALL, True),
        (MIN_NAMED - 0.01, MAX_FEW, False),
        (MIN_NAMED, MAX_FEW, True),
        (MIN_TELLING - 0.01, MAX_FEW + 1, False),
        (MIN_TELLING, MAX_NARROW, True),
        (MIN_TELLING, MAX_NARROW + 1, False),
    ],
)
def test_many_commits_are_worth_a_comment_only_if_one_fits(coverage: float, count: int, speaks: bool):
    assert is_sure(make_ranked(coverage, count)) is speaks
