"""No text is paid for twice.

Chunk vectors: local ones, an endpoint's, and what happens when the endpoint fails."""

import pickle
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import openai
import pytest
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from testing.checkouts.git_repositories import commit
from tests.code.embeddings import FailingModel, LetterCounts, WrongShape
from tests.code.indexes import make_corpus
from tests.code.indexes_compared import collect_answers
from tests.code.project import DATES, PROJECT
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.code.codebase import GitCodebase
from triage.code.vectors.embed_corpus import VectorCache, embed_corpus, embed_query
from triage.code.vectors.projection import DIMENSIONS, project_files, project_query
from triage.code.vectors.vector_stores import LOCAL, ChromaStore
from triage.code.words.corpus import Corpus


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
    return GitCodebase(folder, "acme/calendar", embeddings, name, in_chroma=False, vector_folder=cache)


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
    monkeypatch.setattr("triage.code.vectors.embed_corpus.MAX_CACHED_VECTORS", 2)
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


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return make_corpus(tmp_path, PROJECT)


def chunk_of(corpus: Corpus, symbol: str) -> int:
    return corpus.chunk_symbols.index(symbol)


def test_a_projection_estimates_the_inner_product(corpus: Corpus):
    terms = ("flush", "timeout", "jobs", "leap")
    named = dict.fromkeys(terms, 1.0)
    weights = {number: 1.0 for term in terms if (number := corpus.vocabulary.find_number(term)) is not None}
    # Each of the four hashes adds the product once; BM25 multiplies by k1 + 1.
    estimated = project_files(corpus, range(len(corpus.files))) @ project_query(corpus, named) / 4
    chunks = corpus.by_chunk.score_documents(weights) / 2.5
    exact = np.bincount(corpus.chunk_files, weights=chunks, minlength=len(corpus.files))
    assert np.abs(estimated - exact).max() < 0.6
    assert int(estimated.argmax()) == int(exact.argmax())


def test_a_projection_of_some_files_in_blocks(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    everything = project_files(corpus, range(len(corpus.files)))
    monkeypatch.setattr("triage.code.vectors.projection._BLOCK", 2)
    assert np.allclose(project_files(corpus, [5, 1, 3]), everything[[5, 1, 3]])


def test_a_query_without_known_words_has_no_direction(corpus: Corpus):
    assert not project_query(corpus, {}).any()
    assert not project_query(corpus, {"nowhere": 1.0}).any()


def test_likely_sources_only_are_stored(corpus: Corpus):
    made = embed_corpus(corpus, None, LOCAL)
    assert isinstance(made.store, ChromaStore)
    stored = made.store._collection.get(include=["documents"])
    assert stored["documents"] is None or set(stored["documents"]) == {None}
    paths = {corpus.files[corpus.chunk_files[int(name)]].path for name in stored["ids"]}
    assert paths == {path for path in PROJECT if path.startswith(("src/", "web/"))}
    assert made.store.size == len(stored["ids"]) == len(paths)
    assert (made.embedding, made.notes) == (LOCAL, [])


def test_a_model_has_a_vector_of_each_passage(corpus: Corpus):
    made = embed_corpus(corpus, LetterCounts(), "letters")
    assert isinstance(made.store, ChromaStore)
    numbers = [int(name) for name in made.store._collection.get(include=[])["ids"]]
    places = [
        (corpus.files[corpus.chunk_files[one]].path, corpus.chunk_starts[one], corpus.chunk_symbols[one])
        for one in numbers
    ]
    # DateParser has 15 lines: too few to be cut into its methods.
    assert ("src/calendar_tool/dates.py", 6, "DateParser") in places


def test_a_repository_of_prose_is_stored_whole(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"docs/a.md": "# One\n", "README.md": "# Two\n"})
    made = embed_corpus(corpus, None, LOCAL)
    assert made.store is not None
    assert made.store.size == 2


def test_nothing_to_store(tmp_path: Path):
    assert embed_corpus(make_corpus(tmp_path, {}), None, LOCAL).store is None


def test_the_nearest_chunk_is_found(corpus: Corpus):
    made = embed_corpus(corpus, None, LOCAL)
    assert made.store is not None
    near = made.store.nearest(project_query(corpus, {"flush": 1.0, "timeout": 1.0}), 200)
    best = max(near, key=lambda chunk: near[chunk])
    assert corpus.files[corpus.chunk_files[best]].path == "src/calendar_tool/queue.py"
    assert all(-1.001 <= similarity <= 1.001 for similarity in near.values())
    assert made.store.nearest(np.zeros(DIMENSIONS, dtype=np.float32), 5) == {}


def test_many_vectors_are_added_in_batches(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    # 5,461 at once is the limit of chromadb 1.5.9; more in one call is an error.
    monkeypatch.setattr("triage.code.vectors.vector_stores._BATCH", 100)
    count = 250
    vectors = np.repeat(project_files(corpus, [0]), count, axis=0)
    store = ChromaStore(range(count), vectors)
    assert store._collection.count() == count


def test_the_graph_search_finds_what_an_exact_one_finds():
    count, near = 3_000, 200
    random = np.random.default_rng(7)
    vectors = random.standard_normal((count, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = ChromaStore(range(count), vectors)
    shares = []
    for query in random.standard_normal((10, 64)).astype(np.float32):
        exact = set(np.argsort(-(vectors @ query))[:near].tolist())
        shares.append(len(exact & set(store.nearest(query, near))) / near)
    assert min(shares) > 0.99


def test_an_endpoints_vectors(corpus: Corpus):
    model = LetterCounts()
    made = embed_corpus(corpus, model, "letters")
    assert made.store is not None
    assert (made.embedding, made.notes) == ("letters", [])
    assert made.store.nearest(np.ones(26, dtype=np.float32), 1)
    assert model.texts[0].startswith("web/render.ts Renderer\nexport class Renderer {\n")
    assert all(len(text) <= 6_000 for text in model.texts)


def test_secrets_do_not_reach_an_endpoint(tmp_path: Path):
    model = LetterCounts()
    corpus = make_corpus(tmp_path, {"src/a.py": "TOKEN = 'ghp_" + "Z9" * 18 + "'\n"})
    embed_corpus(corpus, model, "letters")
    assert "Z9Z9" not in "".join(model.texts)
    assert "[masked secret]" in "".join(model.texts)


FAULTS = [
    openai.OpenAIError("refused"),
    ModelUnavailable("unauthorized"),
    TimeoutError(),
    ValueError("no JSON"),
]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_an_endpoint_that_fails_gives_way_to_local_vectors(corpus: Corpus, error: Exception):
    made = embed_corpus(corpus, FailingModel(error), "letters")
    assert made.embedding == LOCAL
    assert made.store is not None
    assert made.store.nearest(project_query(corpus, {"flush": 1.0}), 1)
    assert made.notes == [f"The embedding endpoint failed ({type(error).__name__}); local vectors stand in."]


@pytest.mark.parametrize(
    "model",
    [
        WrongShape([]),
        WrongShape([[1.0, 2.0], [1.0]]),
        WrongShape([[]]),
        WrongShape([[float("nan"), 1.0]]),
        WrongShape([[1.0]] * 500),
    ],
)
def test_an_endpoint_that_answers_nonsense_gives_way_too(corpus: Corpus, model: Embeddings):
    made = embed_corpus(corpus, model, "letters")
    assert made.embedding == LOCAL
    assert made.notes == ["The embedding endpoint failed (ValueError); local vectors stand in."]


def test_an_endpoint_that_is_slow_sees_part_of_the_repository(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.code.vectors.embed_corpus.EMBED_SECONDS", 0.0)
    monkeypatch.setattr("triage.code.vectors.embed_corpus._BATCH", 2)
    made = embed_corpus(corpus, LetterCounts(), "letters")
    assert made.store is not None
    assert made.store.size == 2
    assert made.notes[0].startswith("The embedding model saw 2 of ")


def test_a_query_that_cannot_be_embedded():
    assert embed_query(FailingModel(TimeoutError(), queries_only=True), "x") is None
    found = embed_query(LetterCounts(), "x")
    assert found is not None
    assert found.shape == (26,)
