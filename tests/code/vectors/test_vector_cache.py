"""No text is paid for twice."""

import pickle
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from testing.checkouts.git_repositories import commit
from tests.code.embeddings import FailingModel, LetterCounts
from tests.code.indexes_compared import collect_answers
from tests.code.project import DATES, PROJECT
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.code.codebase import GitCodebase
from triage.code.vectors.vector_cache import VectorCache


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    commit(folder, PROJECT)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def vectors_file(cache: Path) -> Path:
    (found,) = cache.glob("vectors-*.npy")
    return found


def to_bytes(table: NDArray[np.generic]) -> bytes:
    file = BytesIO()
    np.save(file, table)
    return file.getvalue()


def open_codebase(
    folder: Path, cache: Path | None, embeddings: Embeddings, name: str = "test-embedding"
) -> GitCodebase:
    return GitCodebase(folder, "acme/calendar", embeddings, name, chroma=None, vector_folder=cache)


class Answers(LetterCounts):
    """Vectors of the given length."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def embed_query(self, text: str) -> list[float]:
        return super().embed_query(text)[: self.length]


def test_the_second_index_asks_for_nothing(project: Path, cache: Path):
    first, second = LetterCounts(), LetterCounts()
    cold, warm = open_codebase(project, cache, first), open_codebase(project, cache, second)
    facts = cold.index()
    assert len(first.texts) == facts.vectors > 3
    assert warm.index().vectors == facts.vectors
    assert second.texts == []
    assert collect_answers(warm) == collect_answers(cold)


def test_only_new_passages_are_asked_for(project: Path, cache: Path):
    open_codebase(project, cache, LetterCounts()).index()
    changed = DATES.replace("year % 4", "year % 400")
    commit(project, {"src/calendar_tool/dates.py": changed, "src/calendar_tool/zones.py": "def zone(): return 1\n"})
    model, reference = LetterCounts(), LetterCounts()
    later, fresh = open_codebase(project, cache, model), open_codebase(project, None, reference)
    later.index()
    fresh.index()
    assert [text.partition("\n")[0] for text in model.texts] == [
        "src/calendar_tool/dates.py DateParser",
        "src/calendar_tool/zones.py zone",
    ]
    assert collect_answers(later) == collect_answers(fresh)
    once_more = LetterCounts()
    open_codebase(project, cache, once_more).index()
    assert once_more.texts == []


def test_another_model_is_asked_for_everything(project: Path, cache: Path):
    open_codebase(project, cache, LetterCounts(), "one").index()
    other, again = LetterCounts(), LetterCounts()
    facts = open_codebase(project, cache, other, "two").index()
    assert len(other.texts) == facts.vectors
    open_codebase(project, cache, again, "one").index()
    assert again.texts == []


def test_each_answer_is_kept_before_the_next_text_is_asked_for(
    project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("triage.code.vectors.embed_corpus._BATCH", 2)
    failing = FailingModel(ModelUnavailable("rate limited (429)"), from_batch=2)
    facts = open_codebase(project, cache, failing).index()
    assert facts.embedding == "local"
    model = LetterCounts()
    facts = open_codebase(project, cache, model).index()
    assert len(model.texts) == facts.vectors - 4


def test_a_spent_budget_leaves_what_is_known(project: Path, cache: Path):
    open_codebase(project, cache, LetterCounts()).index()
    commit(project, {"src/calendar_tool/zones.py": "def zone(): return 1\n"})
    facts = open_codebase(project, cache, FailingModel(BudgetExceeded("max-tokens"))).index()
    assert facts.embedding == "test-embedding"
    assert facts.notes == [f"The embedding model saw {facts.vectors} of {facts.vectors + 1} passages."]
    assert (
        open_codebase(project, cache, FailingModel(BudgetExceeded("max-tokens")), "other").index().embedding == "local"
    )


def test_a_model_that_answers_otherwise_than_before_is_asked_for_everything_next_time(project: Path, cache: Path):
    open_codebase(project, cache, Answers(26)).index()
    commit(project, {"src/calendar_tool/zones.py": "def zone(): return 1\n"})
    facts = open_codebase(project, cache, Answers(20)).index()
    assert facts.notes == ["The embedding endpoint failed (ValueError); local vectors stand in."]
    model = Answers(20)
    facts = open_codebase(project, cache, model).index()
    assert (facts.embedding, facts.notes) == ("test-embedding", [])
    assert len(model.texts) == facts.vectors - 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-9],
        lambda whole: b"",
        lambda whole: to_bytes(np.zeros(16, "|u1")),
        lambda whole: to_bytes(np.zeros((3, 15), "|u1")),
        lambda whole: to_bytes(np.zeros((3, 17), "|u1")),
        lambda whole: to_bytes(np.zeros((3, 20), "<i4")),
        lambda whole: to_bytes(np.array(["x"])),
        lambda whole: pickle.dumps([1]),
    ],
)
def test_damaged_vectors_are_asked_for_again(project: Path, cache: Path, damage: Callable[[bytes], bytes]):
    cold = open_codebase(project, cache, LetterCounts())
    facts = cold.index()
    vectors_file(cache).write_bytes(damage(vectors_file(cache).read_bytes()))
    model, later = LetterCounts(), LetterCounts()
    warm = open_codebase(project, cache, model)
    warm.index()
    assert len(model.texts) == facts.vectors
    assert collect_answers(warm) == collect_answers(cold)
    open_codebase(project, cache, later).index()
    assert later.texts == []


def test_what_is_no_number_is_not_taken_for_one(tmp_path: Path):
    known = VectorCache(tmp_path, "m")
    known.add(["a", "b"], np.array([[1, np.nan], [1, 2]], dtype=np.float32))
    assert list(VectorCache(tmp_path, "m").find(["a", "b"])) == [1]


def test_the_texts_used_last_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.code.vectors.vector_cache.MAX_VECTORS", 2)
    known = VectorCache(tmp_path, "m")
    known.add(["a", "b"], np.eye(2, dtype=np.float32))
    known.find(["a"])
    known.add(["c"], np.ones((1, 2), dtype=np.float32))
    found = VectorCache(tmp_path, "m").find(["a", "b", "c"])
    assert {place: row.tolist() for place, row in found.items()} == {0: [1, 0], 2: [1, 1]}


def test_without_a_folder_to_write_to_it_remembers_until_the_end(tmp_path: Path):
    (tmp_path / "file").write_text("")
    known = VectorCache(tmp_path / "file", "m")
    known.add(["a"], np.ones((1, 2), dtype=np.float32))
    assert list(known.find(["a"])) == [0]
