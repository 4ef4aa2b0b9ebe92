"""No text is paid for twice."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from testing.checkouts.git_repositories import commit
from tests.index.caches import cached, told
from tests.index.embeddings import Failing, Lettered
from tests.index.indexes import ask
from tests.index.project import DATES, PROJECT
from triage.errors import BudgetSpent, ModelUnavailable
from triage.index.build.array_file import packed_columns
from triage.index.build.cache_folder import CacheFolder
from triage.index.vectors.vector_cache import KnownVectors


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
    (found,) = cache.glob("vectors-*.bin")
    return found


class Answers(Lettered):
    """Vectors of the given length."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def embed_query(self, text: str) -> list[float]:
        return super().embed_query(text)[: self.length]


def test_the_second_index_asks_for_nothing(project: Path, cache: Path):
    first, second = Lettered(), Lettered()
    cold, warm = cached(project, cache, first), cached(project, cache, second)
    facts = cold.index()
    assert len(first.texts) == facts.vectors > 3
    assert warm.index().vectors == facts.vectors
    assert second.texts == []
    assert told(warm) == told(cold)


def test_only_new_passages_are_asked_for(project: Path, cache: Path):
    cached(project, cache, Lettered()).index()
    changed = DATES.replace("year % 4", "year % 400")
    commit(project, {"src/calendar_tool/dates.py": changed, "src/calendar_tool/zones.py": "def zone(): return 1\n"})
    model, reference = Lettered(), Lettered()
    later, anew = cached(project, cache, model), cached(project, None, reference)
    later.index()
    anew.index()
    assert [text.partition("\n")[0] for text in model.texts] == [
        "src/calendar_tool/dates.py DateParser",
        "src/calendar_tool/zones.py zone",
    ]
    assert told(later) == told(anew)
    once_more = Lettered()
    cached(project, cache, once_more).index()
    assert once_more.texts == []


def test_another_model_is_asked_for_everything(project: Path, cache: Path):
    cached(project, cache, Lettered(), "one").index()
    other, again = Lettered(), Lettered()
    facts = cached(project, cache, other, "two").index()
    assert len(other.texts) == facts.vectors
    cached(project, cache, again, "one").index()
    assert again.texts == []


def test_each_answer_is_kept_before_the_next_text_is_asked_for(
    project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("triage.index.vectors.embed_corpus._BATCH", 2)
    failing = Failing(ModelUnavailable("rate limited (429)"), from_batch=2)
    facts = cached(project, cache, failing).index()
    assert facts.embedding == "local"
    model = Lettered()
    facts = cached(project, cache, model).index()
    assert len(model.texts) == facts.vectors - 4


def test_a_spent_budget_leaves_what_is_known(project: Path, cache: Path):
    cached(project, cache, Lettered()).index()
    commit(project, {"src/calendar_tool/zones.py": "def zone(): return 1\n"})
    facts = cached(project, cache, Failing(BudgetSpent("max-tokens"))).index()
    assert facts.embedding == "test-embedding"
    assert facts.notes == [f"The embedding model saw {facts.vectors} of {facts.vectors + 1} passages."]
    assert cached(project, cache, Failing(BudgetSpent("max-tokens")), "other").index().embedding == "local"


def test_a_model_that_answers_otherwise_than_before_is_asked_for_everything(project: Path, cache: Path):
    cached(project, cache, Answers(26)).index()
    commit(project, {"src/calendar_tool/zones.py": "def zone(): return 1\n"})
    model = Answers(20)
    codebase = cached(project, cache, model)
    facts = codebase.index()
    assert (facts.embedding, facts.notes) == ("test-embedding", [])
    assert len(model.texts) == len(set(model.texts)) == facts.vectors
    assert codebase.search(ask(title="zone"), 1)[0].path == "src/calendar_tool/zones.py"


class Growing(Lettered):
    """Each answer is longer than the one before."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[1.0] * (2 + len(self.texts)) for _ in texts]


def test_a_model_that_never_answers_alike_is_given_up(project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.index.vectors.embed_corpus._BATCH", 1)
    facts = cached(project, cache, Growing()).index()
    assert facts.embedding == "local"
    assert facts.notes == ["The embedding endpoint failed (OtherDimensions); local vectors stand in."]


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-9],
        lambda whole: b"",
        lambda whole: whole[:200] + b"!" + whole[201:],
        lambda whole: b"".join(packed_columns({}, {})),
        lambda whole: b"".join(packed_columns({}, {"keys": np.zeros(16, "|u1"), "rows": np.zeros(3, "<f4")})),
        lambda whole: b"".join(packed_columns({}, {"keys": np.zeros(15, "|u1"), "rows": np.zeros((1, 3), "<f4")})),
        lambda whole: b"".join(packed_columns({}, {"keys": np.zeros(16, "|u1"), "rows": np.zeros((1, 3), "<i4")})),
    ],
)
def test_damaged_vectors_are_asked_for_again(project: Path, cache: Path, damage: Callable[[bytes], bytes]):
    cold = cached(project, cache, Lettered())
    facts = cold.index()
    vectors_file(cache).write_bytes(damage(vectors_file(cache).read_bytes()))
    model, later = Lettered(), Lettered()
    warm = cached(project, cache, model)
    assert warm.index().cache == "The index cache was damaged and is made anew."
    assert len(model.texts) == facts.vectors
    assert told(warm) == told(cold)
    assert cached(project, cache, later).index().cache == ""
    assert later.texts == []


def test_what_is_no_number_is_not_taken_for_one(tmp_path: Path):
    known = KnownVectors(CacheFolder(tmp_path), "m")
    known.keep(["a", "b"], np.array([[1, np.nan], [1, 2]], dtype=np.float32))
    assert list(KnownVectors(CacheFolder(tmp_path), "m").of(["a", "b"])) == [1]


def test_the_texts_used_last_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.index.vectors.vector_cache.MOST", 2)
    known = KnownVectors(CacheFolder(tmp_path), "m")
    known.keep(["a", "b"], np.eye(2, dtype=np.float32))
    known.of(["a"])
    known.keep(["c"], np.ones((1, 2), dtype=np.float32))
    found = KnownVectors(CacheFolder(tmp_path), "m").of(["a", "b", "c"])
    assert {place: row.tolist() for place, row in found.items()} == {0: [1, 0], 2: [1, 1]}


def test_without_a_folder_to_write_to_it_remembers_until_the_end(tmp_path: Path):
    (tmp_path / "file").write_text("")
    folder = CacheFolder(tmp_path / "file")
    known = KnownVectors(folder, "m")
    known.keep(["a"], np.ones((1, 2), dtype=np.float32))
    assert list(known.of(["a"])) == [0]
    assert folder.trouble == "The index cache could not be read (not a directory)."
