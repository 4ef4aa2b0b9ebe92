"""Passages for a prompt."""

from pathlib import Path

import pytest
from langchain_core.retrievers import BaseRetriever

from tests.index.indexes import make_codebase
from tests.index.project import PROJECT
from triage.domain.code import Hit, Passage, Span
from triage.errors import NotIndexed
from triage.index.codebase import GitCodebase
from triage.index.retriever import (
    CodebaseRetriever,
    get_codebase_retriever,
    interleave_passages,
    make_search_query,
    to_document,
)


@pytest.fixture(scope="module")
def codebase(tmp_path_factory: pytest.TempPathFactory) -> GitCodebase:
    made = make_codebase(tmp_path_factory.mktemp("shop"), PROJECT)
    made.index()
    return made


def name_of(codebase: GitCodebase) -> str:
    return codebase.repository


def passage(path: str, start: int, text: str) -> Passage:
    return Passage(span=Span(path=path, start=start, end=start + text.count("\n")), text=text)


def hit(path: str, *passages: Passage) -> Hit:
    return Hit(path=path, score=1.0, passages=list(passages), reasons=[])


def test_documents_are_numbered_lines_with_their_place(codebase: GitCodebase):
    found = codebase.get_retriever(name_of(codebase)).invoke("parse_date fails in a leap year")
    assert found[0].metadata == {
        "path": "src/calendar_tool/dates.py",
        "start": 6,
        "end": 18,
        "symbol": "DateParser",
    }
    assert found[0].page_content.split("\n")[:2] == [" 6| class DateParser:", ' 7|     """Parses dates."""']


async def test_it_is_a_langchain_retriever(codebase: GitCodebase):
    retriever = codebase.get_retriever(name_of(codebase))
    assert isinstance(retriever, BaseRetriever)
    assert (await retriever.ainvoke("flush the queue"))[0].metadata["path"] == "src/calendar_tool/queue.py"


def test_another_name_has_no_collection(codebase: GitCodebase):
    with pytest.raises(NotIndexed):
        codebase.get_retriever("acme/other")


def test_nothing_was_indexed_yet(tmp_path: Path):
    with pytest.raises(NotIndexed):
        GitCodebase(tmp_path, "acme/shop").get_retriever("acme/shop")
    with pytest.raises(NotIndexed):
        get_codebase_retriever("acme/shop", {})


def test_a_trace_in_the_text_is_read():
    text = 'Crash\n\n```\nTraceback (most recent call last):\n  File "app/run.py", line 7, in go\n    x()\nValueError: no\n```\n'
    query = make_search_query(text)
    assert query.reading.title == "Crash"
    assert [frame.path for frame in query.reading.traces[0].frames] == ["app/run.py"]


@pytest.mark.parametrize("text", ["", "\n\n", "x" * 70_000, "a\r\nb"])
def test_any_text_is_a_query(codebase: GitCodebase, text: str):
    assert isinstance(codebase.get_retriever(name_of(codebase)).invoke(text), list)


def test_first_the_best_passage_of_every_file():
    one, two, three = passage("a", 1, "1"), passage("a", 5, "2"), passage("b", 1, "3")
    assert interleave_passages([hit("a", one, two), hit("c"), hit("b", three)]) == [one, three, two]


def retriever(hits: list[Hit], **limits: int) -> CodebaseRetriever:
    return CodebaseRetriever(search=lambda query, files: hits[:files], **limits)


def test_files_documents_and_characters_are_limited():
    hits = [hit(f"f{number}", passage(f"f{number}", 1, "x" * 100)) for number in range(30)]
    assert len(retriever(hits).invoke("q")) == 25
    assert len(retriever(hits, k=3).invoke("q")) == 3
    assert len(retriever(hits, chars=250).invoke("q")) == 2
    assert len(retriever(hits, files=4).invoke("q")) == 4


def test_a_smaller_passage_still_fits_where_a_larger_one_did_not():
    hits = [hit("a", passage("a", 1, "x" * 80)), hit("b", passage("b", 1, "x" * 80)), hit("c", passage("c", 1, "y"))]
    assert [found.metadata["path"] for found in retriever(hits, chars=100).invoke("q")] == ["a", "c"]


def test_a_long_passage_is_cut_after_a_whole_line():
    document = to_document(passage("a", 9, "one\ntwo\nthree"), 18)
    assert document.page_content == " 9| one\n10| two"
    assert document.metadata == {"path": "a", "start": 9, "end": 10, "symbol": ""}


def test_a_single_endless_line_is_cut():
    assert len(to_document(passage("a", 1, "x" * 100_000), 500).page_content) < 520
