"""What a maintainer is told about a ranked file."""

from pathlib import Path

import pytest

from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from tests.find.indexes import make_corpus, make_query, make_trace
from triage.domain.code import SearchQuery
from triage.find.rank.query import build_query
from triage.find.rank.ranking import Ranking, rank_files
from triage.find.rank.reasons import explain_rank
from triage.find.rank.snippets import choose_chunks
from triage.find.words.corpus import Corpus

ENGINE = '''"""Engine of the acme tool."""

import os


class JobQueue:
    """Nothing here is deprecated."""

    def push(self, job):
        if not self.open_slots:
            raise OverflowError("no slots")
        return self.jobs.append(job)

    def drain_jobs(self, timeout):
        # Graceful termination.
        while self.jobs:
            self.jobs.pop().run(timeout)
        return None


def walk(node):
    return node.children
'''
PATH = "acme/engine.py"
FILES: dict[str, str] = {
    PATH: ENGINE,
    **{f"acme/part_{n}.py": f"def load_{n}(name, value):\n    return acme(name, value, {n})\n" for n in range(9)},
    "docs/guide.md": "# Draining\n\nThe timeout of a graceful drain.\n",
}


def said(corpus: Corpus, asked: SearchQuery, path: str = PATH, near: str = "") -> list[str]:
    query = build_query(asked)
    ranking = rank_files(corpus, query, {}, by_embedding=False)
    file = corpus.file_numbers[path]
    return explain_rank(ranking, file, choose_chunks(ranking.query_scores, file), near)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("reasons"), FILES)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            make_query(title="`JobQueue.push` loses a job", identifiers=["JobQueue.push"]),
            ["defines `JobQueue` and `JobQueue.push`, named in the title"],
        ),
        (
            make_query(title="Nothing is left", prose="See `open_slots` and `drain_jobs`."),
            ["defines `JobQueue.drain_jobs`, named in the issue", "matches `open_slots` in `JobQueue`"],
        ),
        (make_query(title="It hangs", prose="`open_slots` stays at zero"), ["matches `open_slots` in `JobQueue`"]),
        (make_query(title="def return self import class none timeout"), ["matches `timeout` in `JobQueue`"]),
        (make_query(title="graceful termination is deprecated, timeout too"), ["matches `timeout` in `JobQueue`"]),
    ],
)
def test_reasons_name_what_tells_this_file_from_others(corpus: Corpus, asked: SearchQuery, expected: list[str]):
    assert said(corpus, asked) == expected


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("we walk through the list", []),
        ("we `walk` through the list", ["defines `walk`, named in the issue"]),
    ],
)
def test_an_everyday_word_is_no_name_unless_it_is_marked(corpus: Corpus, prose: str, expected: list[str]):
    coded = ["walk"] if "`" in prose else []
    found = said(corpus, make_query(title="Broken tree", prose=prose, identifiers=coded))
    assert [one for one in found if one.startswith("defines")] == expected


def test_words_that_another_reason_names_are_not_said_again(corpus: Corpus):
    found = said(corpus, make_query(title="drain_jobs ignores the timeout"))
    assert found == ["defines `JobQueue.drain_jobs`, named in the title", "matches `timeout` in `JobQueue`"]


def test_long_names_are_shortened_to_their_last_two_parts(tmp_path: Path):
    code = (
        "namespace Deep.Down { namespace Further { class Store {\n"
        + "  int a;\n" * 20
        + "  void Save() { Flush(open_slots); }\n} } }\n"
    )
    made = make_corpus(tmp_path, {"Store.cs": code, "b.py": "x = 1\n"})
    assert said(made, make_query(prose="open_slots is wrong"), "Store.cs") == ["matches `open_slots` in `Store.Save`"]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([("acme/part_1.py", 2), (PATH, 10)], "innermost frame of the stack trace (line 10)"),
        ([(PATH, 10), ("acme/part_1.py", 2)], "frame of the stack trace, 1 call before the error (line 10)"),
        ([(PATH, 10), ("/usr/lib/x.py", 2)], "innermost frame of the stack trace inside this repository (line 10)"),
        ([(PATH, 3, "walk")], "innermost frame of the stack trace (line 3 in the reporter’s version)"),
        ([(PATH, None)], "innermost frame of the stack trace"),
    ],
)
def test_frames_say_where_they_stand(corpus: Corpus, frames: list[tuple[str, int]], expected: str):
    assert said(corpus, make_query(title="Lost", traces=[make_trace(*frames)]))[0] == expected


@each_row(
    ("asked", "expected"),
    [
        (make_query(paths=[PATH]), "path named in the issue"),
        (make_query(title="the engine hangs"), "file name stands in the title"),
    ],
)
def test_a_file_that_is_named(corpus: Corpus, asked: SearchQuery, expected: str):
    assert said(corpus, asked)[0] == expected


def test_what_an_embedding_model_says_comes_last(corpus: Corpus):
    assert said(corpus, make_query(title="drain_jobs hangs"), near="close in meaning") == [
        "defines `JobQueue.drain_jobs`, named in the title",
        "close in meaning",
    ]


def test_words_of_a_document_count_as_they_stand(corpus: Corpus):
    assert (
        said(corpus, make_query(title="graceful drain"), "docs/guide.md")[0]
        == "matches `drain`, `graceful` in lines 1 to 3"
    )


def test_an_issue_with_a_long_log_takes_linear_time(tmp_path: Path):
    def rank(size: int) -> tuple[Ranking, int]:
        names = [f"field_{n}_of_{n + 1}" for n in range(size)]
        files = {"big.py": "\n".join(f"{name} = 1" for name in names), "b.py": "x = 1\n"}
        made = make_corpus(tmp_path / str(size), files)
        query = build_query(make_query(title="wrong", prose=" ".join(names)))
        return rank_files(made, query, {}, by_embedding=False), made.file_numbers["big.py"]

    def explain(one: tuple[Ranking, int]) -> list[str]:
        ranking, file = one
        return explain_rank(ranking, file, choose_chunks(ranking.query_scores, file))

    assert_grows_linearly(rank, explain, 1_500)
    found = explain(rank(1_500))
    assert found
    assert all(len(one) < 300 for one in found)
