"""Commits between two versions: all of a few, else those that share rare words with the report."""

from pathlib import Path

from tests.code.indexes import make_corpus, make_query
from triage.code.git.commit_log import LoggedCommit
from triage.code.leads.regression import MAX_ALL, MAX_NAMED, choose_commits, list_product_commits, make_rater
from triage.code.rank.query import build_query


def commit(number: int, message: str, *paths: str) -> LoggedCommit:
    return LoggedCommit(f"{number:040x}", number, message, paths or (f"shop/part_{number}.py",))


MANY = [commit(number, f"Change part {number}") for number in range(30)]


def test_a_few_are_all_named_in_their_order():
    assert choose_commits(MANY[:MAX_ALL], lambda _: 0.0) == MANY[:MAX_ALL]


def test_of_many_only_those_that_fit_are_named_newest_first():
    assert choose_commits(MANY, lambda _: 0.0) == []
    assert choose_commits(MANY, lambda one: float(one.seconds == 7)) == [MANY[7]]
    assert choose_commits(MANY, lambda one: float(one.seconds)) == MANY[-MAX_NAMED:]


def test_tests_and_words_alone_are_no_change_of_the_code():
    commits = [commit(1, "Fix", "tests/test_a.py"), commit(2, "Fix", "docs/a.md"), commit(3, "Fix", "shop/a.py")]
    assert list_product_commits(commits) == commits[2:]


def test_one_shared_word_is_chance(tmp_path: Path):
    files = {f"shop/part_{number}.py": f"def change_{number}(): return {number}\n" for number in range(40)}
    files["shop/paths.py"] = "def lower_filename(path):\n    return path.casefold()\n"
    query = build_query(make_query(title="Filename of conftest is lower case: casefold is wrong"))
    rate = make_rater(make_corpus(tmp_path, files), query, ["shop/part_9.py"])
    assert rate(commit(1, "Compare filename with casefold", "shop/paths.py")) > 0
    assert rate(commit(2, "Change the filename", "shop/part_1.py")) == 0
    assert rate(commit(3, "Bump the version", "shop/part_2.py")) == 0
    assert rate(commit(4, "Bump the version", "shop/part_9.py")) > 0, "a likely file"
