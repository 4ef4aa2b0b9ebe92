"""Passages for a prompt."""

from pathlib import Path

import pytest
from langchain_core.retrievers import BaseRetriever

from tests.find.indexes import make_codebase
from tests.find.project import PROJECT
from triage.base.errors import NotIndexed
from triage.find.codebase import Codebase

CHARS = 20_000


@pytest.fixture(scope="module")
def codebase(tmp_path_factory: pytest.TempPathFactory) -> Codebase:
    made = make_codebase(tmp_path_factory.mktemp("shop"), PROJECT)
    made.index()
    return made


def name_of(codebase: Codebase) -> str:
    return codebase.repository


def test_documents_are_numbered_lines_with_their_place(codebase: Codebase):
    found = codebase.get_retriever(name_of(codebase), CHARS).invoke("parse_date fails in a leap year")
    assert found[0].metadata == {
        "path": "src/calendar_tool/dates.py",
        "start": 6,
        "end": 18,
        "symbol": "DateParser",
    }
    assert found[0].page_content.split("\n")[:2] == [" 6| class DateParser:", ' 7|     """Parses dates."""']


async def test_it_is_a_langchain_retriever(codebase: Codebase):
    retriever = codebase.get_retriever(name_of(codebase), CHARS)
    assert isinstance(retriever, BaseRetriever)
    assert (await retriever.ainvoke("flush the queue"))[0].metadata["path"] == "src/calendar_tool/queue.py"


def test_another_name_has_no_collection(codebase: Codebase):
    with pytest.raises(NotIndexed):
        codebase.get_retriever("acme/other", CHARS)


def test_nothing_was_indexed_yet(tmp_path: Path):
    with pytest.raises(NotIndexed):
        Codebase(tmp_path, "acme/shop").get_retriever("acme/shop", CHARS)


@pytest.mark.parametrize("text", ["", "\n\n", "x" * 70_000, "a\r\nb"])
def test_any_text_is_a_query(codebase: Codebase, text: str):
    assert isinstance(codebase.get_retriever(name_of(codebase), CHARS).invoke(text), list)


def test_a_file_of_which_nothing_fits_is_a_document_without_text(codebase: Codebase):
    found = codebase.get_retriever(name_of(codebase), 10).invoke("flush the queue")
    assert found
    assert {document.page_content for document in found} == {""}
