"""Measures where the section that answers a question stands among those of the documentation: by words, by vectors, by both.

QUESTIONS has an issue as `OWNER+NAME-NUMBER.md`; the first line is the title. `bench/data/documented.tsv` has the sections
that answer it: those into which an answer in its thread leads, by path and heading. The newest commit is read.
"""

import argparse
import csv
import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from triage.domain.code import SearchQuery
from triage.find.build_corpus import IndexLimits, build_corpus
from triage.find.files.documentation import find_headings
from triage.find.past_changes import PastChanges
from triage.find.rank.query import build_query
from triage.find.rank.ranking import normalize
from triage.find.rank.search import Scores, Search
from triage.find.retriever import make_search_query
from triage.find.vectors.embed_corpus import embed_query_locally, project_chunks
from triage.find.words.corpus import Corpus
from triage.git.commit import CommitTree
from triage.git.git import Git

ANSWERS = Path(__file__).with_name("data") / "documented.tsv"
MAX_CHARS = 3_000
"""Of a section, for static vectors."""
BOTH = 0.5
"""Weight of vectors beside words, the best of 0.15, 0.3, 0.5 and 1."""


class Place(NamedTuple):
    path: str
    heading: str


Rank = Callable[[SearchQuery], Scores]
"""Scores the sections of one repository."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, OWNER+NAME/repo")
    parser.add_argument("--static", action="store_true", help="also by the static vectors of the package `wordllama`")
    options = parser.parse_args()
    positions: dict[str, list[tuple[int, int]]] = {}
    for repository, questions in read_answers(options.questions).items():
        corpus = read_corpus(options.mirror / repository.replace("/", "+") / "repo")
        chunks = np.flatnonzero(corpus.documentation_files[corpus.chunk_files]).tolist()
        places = list(list_places(corpus, chunks))
        for name, rank in build_contestants(corpus, chunks, places, use_static=options.static).items():
            for text, answers in questions:
                order = np.argsort(-rank(make_search_query(text)), kind="stable")
                positions.setdefault(name, []).append(find_positions([places[one] for one in order], answers))
        print(repository, f"{len(chunks)} sections, {len(questions)} questions", flush=True)
    for name, found in positions.items():
        sections, files = zip(*found, strict=True)
        counts = [sum(one < k for one in sections) for k in (1, 3, 10)] + [
            sum(one < k for one in files) for k in (1, 3)
        ]
        print("{:24} section @1 {} @3 {} @10 {}, file @1 {} @3 {}".format(name, *counts), f"of {len(found)}")


def read_answers(folder: Path) -> dict[str, list[tuple[str, list[Place]]]]:
    """Return the questions that the folder has with the places that answer them, by repository."""
    questions: dict[str, list[tuple[str, list[Place]]]] = {}
    with ANSWERS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            path = folder / f"{row['repository'].replace('/', '+')}-{row['issue']}.md"
            places = [Place(*one.strip().split("#", 1)) for one in row["sections"].split(";")]
            if path.exists():
                text = path.read_text(encoding="utf-8").removeprefix("# ")
                questions.setdefault(row["repository"], []).append((text, places))
    return questions


def read_corpus(folder: Path) -> Corpus:
    tree = CommitTree(Git(folder, bare=True), "HEAD")
    return build_corpus(tree, tree.list_files(), IndexLimits()).corpus


def list_places(corpus: Corpus, chunks: Sequence[int]) -> Iterator[Place]:
    for chunk in chunks:
        file = corpus.files[corpus.chunk_files[chunk]]
        headings = find_headings(file.path, file.read_lines())
        above = [one.text for one in headings if one.line <= corpus.chunk_starts[chunk]]
        yield Place(file.path, above[-1] if above else "")


def find_positions(order: Sequence[Place], answers: Sequence[Place]) -> tuple[int, int]:
    """Return the positions of the first section, and of the first file, that is among the answers."""
    paths = {one.path for one in answers}
    is_right = [place in answers or Place(place.path, "*") in answers for place in order]
    files = list(dict.fromkeys(place.path for place in order))
    return is_right.index(True), next(number for number, path in enumerate(files) if path in paths)


def build_contestants(
    corpus: Corpus, chunks: Sequence[int], places: Sequence[Place], *, use_static: bool
) -> dict[str, Rank]:
    rows = np.full(len(corpus.chunk_files), -1, dtype=np.int32)
    rows[list(chunks)] = np.arange(len(chunks))
    hashed = unit(project_chunks(corpus, rows, len(chunks)))

    def by_words(search: SearchQuery) -> Scores:
        scores: Scores = Search(corpus, build_query(search), PastChanges(corpus)).chunk_scores[list(chunks)]
        return scores

    def by_hashes(search: SearchQuery) -> Scores:
        scores: Scores = hashed @ embed_query_locally(corpus, build_query(search).term_weights)
        return scores

    ranks: dict[str, Rank] = {"words": by_words, "hashed vectors": by_hashes}
    ranks |= build_static(corpus, chunks, places) if use_static else {}

    def join(vectors: Rank) -> Rank:
        return lambda search: normalize(by_words(search)) + np.float32(BOTH) * normalize(np.maximum(vectors(search), 0))

    return ranks | {f"words, {name}": join(rank) for name, rank in ranks.items() if name != "words"}


def build_static(corpus: Corpus, chunks: Sequence[int], places: Sequence[Place]) -> dict[str, Rank]:
    """Return two rankings by the vectors of tokens: their mean, and the mean weighted by idf, without what all share."""
    package = importlib.import_module("wordllama")
    # Its own folder: it looks for the tokenizer in another one than the wheel has.
    model = package.WordLlama.load(cache_dir=Path(package.__file__ or "").parent, disable_download=True)
    texts = []
    for chunk, place in zip(chunks, places, strict=True):
        lines = corpus.files[corpus.chunk_files[chunk]].read_lines()
        own = lines[corpus.chunk_starts[chunk] - 1 : corpus.chunk_ends[chunk]]
        texts.append("\n".join([place.heading, place.heading, *own])[:MAX_CHARS])
    tokens = [np.unique(one.ids) for one in model.tokenizer.encode_batch(texts, add_special_tokens=False)]
    frequency = np.bincount(np.concatenate(tokens), minlength=len(model.embedding))
    idf = np.log1p((len(texts) - frequency + 0.5) / (frequency + 0.5))

    def embed(text: str, weights: Scores) -> Scores:
        ids = np.array(model.tokenizer.encode(text, add_special_tokens=False).ids or [0])
        vector: Scores = weights[ids] @ model.embedding[ids] / max(float(weights[ids].sum()), 1e-9)
        return vector

    def build(weights: Scores, *, is_centred: bool) -> Rank:
        matrix = np.array([embed(text, weights) for text in texts])
        centre = matrix.mean(axis=0) * is_centred
        sections = unit(matrix - centre)

        def rank(search: SearchQuery) -> Scores:
            title = search.parsed.title
            text = ". ".join([title, title, (search.parsed.prose or search.parsed.body)[:MAX_CHARS]])
            scores: Scores = sections @ (embed(text, weights) - centre)
            return scores

        return rank

    return {"static": build(np.ones_like(idf), is_centred=False), "static by idf": build(idf, is_centred=True)}


def unit(rows: Scores) -> Scores:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)


if __name__ == "__main__":
    main()
