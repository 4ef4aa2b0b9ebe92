"""What a maintainer is told about a ranked file."""

from pathlib import Path

import pytest

from testing.each_row import each_row
from tests.find.indexes import make_corpus, make_query, make_trace
from triage.domain.code import SearchQuery
from triage.find.rank.query import build_query
from triage.find.rank.ranking import rank_files
from triage.find.rank.reasons import explain_rank
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


def said(corpus: Corpus, asked: SearchQuery, path: str = PATH) -> list[str]:
    ranking = rank_files(corpus, build_query(asked), {}, by_embedding=False)
    return [reason.text for reason in explain_rank(ranking, corpus.file_numbers[path])]


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
            ["defines `JobQueue.drain_jobs`, named in the issue"],
        ),
        (make_query(title="It hangs", prose="`open_slots` stays at zero"), []),
    ],
)
def test_reasons_name_what_the_file_defines_and_no_words(corpus: Corpus, asked: SearchQuery, expected: list[str]):
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


def test_long_names_are_shortened_to_their_last_two_parts(tmp_path: Path):
    code = (
        "namespace Deep.Down { namespace Further { class Store {\n" + "  int a;\n" * 20 + "  void SaveAll() {}\n} } }\n"
    )
    made = make_corpus(tmp_path, {"Store.cs": code, "b.py": "x = 1\n"})
    ranking = rank_files(made, build_query(make_query(prose="SaveAll is slow")), {}, by_embedding=False)
    (reason,) = explain_rank(ranking, made.file_numbers["Store.cs"])
    assert reason.text == "defines `Store.SaveAll`, named in the issue"
    assert reason.symbol == "Deep.Down.Further.Store.SaveAll"


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
