"""Ranked files, their passages and their reasons, end to end on a small project."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from tests.find.embeddings import FailingModel, LetterCounts
from tests.find.indexes import make_codebase, make_corpus, make_query, make_trace
from tests.find.project import PROJECT
from triage.domain.code import RankReason
from triage.domain.past_issues import PastFix, PastIssue
from triage.find.codebase import Codebase
from triage.find.past_changes import PastChanges, read_changes
from triage.find.rank.query import build_query
from triage.find.rank.ranking import PAST_FEATURE, rank_files
from triage.git.commit_log import LoggedCommit

DATES = "src/calendar_tool/dates.py"


@pytest.fixture(scope="module")
def codebase(tmp_path_factory: pytest.TempPathFactory) -> Codebase:
    made = make_codebase(tmp_path_factory.mktemp("search"), PROJECT)
    made.index()
    return made


ISSUE = make_query(
    title="parse_date fails in a leap year",
    prose="Calling it with the last of February raises an error, see src/calendar_tool/dates.py.",
    code="ValueError: not a date",
    paths=[DATES],
)


def test_the_culprit_comes_first_and_scores_are_relative(codebase: Codebase):
    hits = codebase.search(ISSUE, 10)
    assert hits[0].path == DATES
    assert hits[0].score == 1.0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_tests_and_docs_are_demoted_not_excluded(codebase: Codebase):
    paths = [hit.path for hit in codebase.search(ISSUE, 10)]
    assert {"tests/test_dates.py", "docs/dates.md"} <= set(paths[1:])


def test_the_limit_holds(codebase: Codebase):
    assert len(codebase.search(ISSUE, 2)) == 2
    assert codebase.search(ISSUE, 0) == []


def test_passages_quote_the_lines_that_they_name(codebase: Codebase):
    for hit in codebase.search(ISSUE, 10):
        lines = codebase.read_lines(hit.path)
        assert lines is not None
        assert 1 <= len(hit.passages) <= 3
        for passage in hit.passages:
            assert passage.span.path == hit.path
            assert passage.text == "\n".join(lines[passage.span.start - 1 : passage.span.end])


def test_nothing_in_common_finds_nothing(codebase: Codebase):
    assert codebase.search(make_query(title="zzz qqq"), 5) == []
    assert codebase.search(make_query(), 5) == []


@pytest.mark.parametrize("text", ["日本語のバグ", "\udcff\x00", "a" * 70_000, "`" * 1_000, "{{}} $x %s \\"])
def test_odd_issues_do_not_fail(codebase: Codebase, text: str):
    made = make_query(title="x", prose=text.encode("utf-8", "replace").decode())
    assert isinstance(codebase.search(made, 5), list)


LONG = {
    "src/engine.py": "".join(f"def step_{n}(x):\n    y = x + {n}\n    return y\n\n\n" for n in range(40)),
    "src/runner.py": "from engine import step_7\n\n\ndef run():\n    return step_7(1)\n",
}


def test_the_line_of_the_innermost_frame_is_shown_beside_what_the_title_names(tmp_path: Path):
    codebase = make_codebase(tmp_path, LONG)
    codebase.index()
    frames = [("src/runner.py", 5), ("src/engine.py", 37)]
    hit = codebase.search(make_query(title="step_3 and step_4 crash", traces=[make_trace(*frames)]), 5)[0]
    assert hit.path == "src/engine.py"
    shown = {passage.symbol: (passage.span.start, passage.span.end) for passage in hit.passages}
    assert set(shown) == {"step_7", "step_3", "step_4"}
    assert shown["step_7"] == (36, 38)


FAR = {"src/alpha.py": "def alpha(): return 'one'\n", "src/zebra.py": "def zebra(): return 'zzz zzzz zzz zz zzz'\n"}


def test_an_embedding_model_finds_what_no_word_matches(tmp_path: Path):
    codebase = make_codebase(tmp_path, FAR, LetterCounts())
    facts = codebase.index()
    assert (facts.embedding, facts.vectors) == ("test-embedding", 2)
    hits = codebase.search(make_query(title="zzzzz zzzzzzz zzzzz"), 5)
    assert hits[0].path == "src/zebra.py"
    assert hits[0].reasons == [RankReason(text="close in meaning to the issue, by `test-embedding`")]


def test_an_embedding_model_that_fails_for_the_query_leaves_the_words(tmp_path: Path):
    codebase = make_codebase(tmp_path, PROJECT, FailingModel(TimeoutError(), queries_only=True))
    codebase.index()
    assert codebase.search(ISSUE, 1)[0].path == DATES


PAST_FILES = {f"src/part_{n}.py": f"def load_{n}(name):\n    return name\n" for n in range(6)}
PAST_ISSUE = make_query(title="Wrong interest in a leap year", prose="The load of February is wrong.")


def make_history(root: Path) -> None:
    """Every file is changed, and one of them in a fix that shares words with the issue."""
    commit(root, PAST_FILES)
    for path, text in PAST_FILES.items():
        commit(root, {path: f"{text}\n"})
    fix = {"src/part_4.py": "def load_4(name):\n    return name + 1\n"}
    commit(root, fix, "Fix the interest of a leap year (#12)")


def test_a_file_of_a_past_fix_with_the_same_words_comes_first(tmp_path: Path):
    make_history(tmp_path)
    codebase = Codebase(tmp_path, "acme/past", in_chroma=False)
    codebase.index()
    assert codebase.search(PAST_ISSUE, 10)[0].path == "src/part_4.py"


def test_the_past_counts_as_much_as_it_covers(tmp_path: Path):
    corpus = make_corpus(tmp_path, PAST_FILES)
    fix = LoggedCommit("0" * 40, 1, "Fix the interest of a leap year", ("src/part_4.py",))
    others = [LoggedCommit("1" * 40, 1, "Tidy", (path,)) for path in PAST_FILES]
    chances = []
    for commits in ([], [fix], [fix, *others[:3]], [fix, *others]):
        past = PastChanges(corpus, read_changes(commits))
        ranking = rank_files(corpus, build_query(PAST_ISSUE), {}, by_embedding=False, past_changes=past)
        chances.append(ranking.probabilities.get(corpus.file_numbers["src/part_4.py"], 0.0))
        assert sum(ranking.probabilities.values()) <= 1.0
    assert chances == sorted(set(chances)), "more at each step"


def test_weak_evidence_of_the_past_is_weak_though_no_other_file_has_better(tmp_path: Path):
    corpus = make_corpus(tmp_path, PAST_FILES)
    others = [LoggedCommit("1" * 40, 1, f"Tidy number {number}", (path,)) for number, path in enumerate(PAST_FILES)]
    scores = []
    for message in ("Mention a leap", "Fix the wrong interest of the load in a leap year of February"):
        past = PastChanges(corpus, read_changes([LoggedCommit("0" * 40, 1, message, ("src/part_4.py",)), *others]))
        ranking = rank_files(corpus, build_query(PAST_ISSUE), {}, by_embedding=False, past_changes=past)
        scores.append(float(ranking.features[PAST_FEATURE].max()))
    assert 0 < 2 * scores[0] < scores[1] < 1


def test_a_fix_leads_to_a_file_that_shares_no_word_with_the_issue(tmp_path: Path):
    files = {**{f"src/leap_{n}.py": "leap = 'year'\n" for n in range(3)}, "src/engine.py": "x = 1\n"}
    corpus = make_corpus(tmp_path, files)
    query = build_query(make_query(title="leap year"))
    assert corpus.file_numbers["src/engine.py"] not in rank_files(corpus, query, {}, by_embedding=False).order
    fixes = [LoggedCommit(str(n) * 40, 1, "Fix leap year", (path,)) for n, path in enumerate(files)]
    past = PastChanges(corpus, read_changes(fixes))
    assert (
        corpus.file_numbers["src/engine.py"]
        in rank_files(corpus, query, {}, by_embedding=False, past_changes=past).order
    )


def test_past_issues_change_the_search(tmp_path: Path):
    codebase = make_codebase(tmp_path, PAST_FILES)
    fix = PastFix(files=["src/part_3.py"], at=datetime(2024, 1, 1, tzinfo=UTC))
    past = PastIssue(
        number=7, title="Interest is wrong in a leap year", created_at=datetime(2023, 1, 1, tzinfo=UTC), fixes=[fix]
    )
    codebase.add_past_issues([past])  # nothing is indexed yet
    codebase.index()
    before = {hit.path: hit.probability for hit in codebase.search(PAST_ISSUE, 10)}
    codebase.add_past_issues([past])
    after = {hit.path: hit for hit in codebase.search(PAST_ISSUE, 10)}
    assert after["src/part_3.py"].probability > before.get("src/part_3.py", 0.0)
