import math

import numpy as np
import pytest

from triage.index.bm25 import BM25, K1, B, Counting
from triage.index.tokens import Vocabulary

TEXTS = ["red green green blue", "red red red", "blue", "", "yellow blue green red red"]


def built(texts: list[str]) -> tuple[BM25, Vocabulary]:
    vocabulary = Vocabulary()
    counting = Counting(vocabulary)
    for text in texts:
        counting.add(vocabulary.words_of(text))
    return counting.finish(), vocabulary


def by_the_book(texts: list[str], term: str, number: int) -> float:
    documents = [text.split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    having = sum(term in document for document in documents)
    idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
    many = documents[number].count(term)
    return idf * many * (K1 + 1) / (many + K1 * (1 - B + B * len(documents[number]) / mean))


def test_scores_are_those_of_the_formula():
    table, vocabulary = built(TEXTS)
    weights = {"red": 1.0, "green": 0.5, "yellow": 2.0}
    scores = table.scores({vocabulary._terms[term]: weight for term, weight in weights.items()})
    for number in range(len(TEXTS)):
        expected = sum(weight * by_the_book(TEXTS, term, number) for term, weight in weights.items())
        assert scores[number] == pytest.approx(expected, abs=1e-5)


def test_batches_make_no_difference(monkeypatch: pytest.MonkeyPatch):
    whole, vocabulary = built(TEXTS)
    monkeypatch.setattr("triage.index.bm25._BATCH", 2)
    pieces, _ = built(TEXTS)
    for term in range(len(vocabulary)):
        assert np.allclose(whole.scores({term: 1.0}), pieces.scores({term: 1.0}))


def test_parts_add_up_to_the_score():
    table, vocabulary = built(TEXTS)
    weights = {term: 1.0 + term for term in range(len(vocabulary))}
    for number in range(len(TEXTS)):
        parts = table.parts(number, weights)
        assert sum(parts.values()) * (K1 + 1) == pytest.approx(float(table.scores(weights)[number]), abs=1e-5)


def test_a_document_in_parts_is_one_document():
    vocabulary = Vocabulary()
    counting = Counting(vocabulary)
    counting.add(vocabulary.words_of("red"), vocabulary.words_of("red blue"))
    assert counting.finish().scores({vocabulary._terms["red"]: 1.0}).shape == (1,)


def test_nothing_at_all():
    table, _ = built([])
    assert table.scores({0: 1.0}).tolist() == []


def test_terms_that_came_after_the_table_was_made_score_nothing():
    table, vocabulary = built(["red"])
    vocabulary.expand(vocabulary.words_of("new"), np.zeros(1, dtype=np.int32))
    assert table.scores({1: 1.0}).tolist() == [0.0]
    assert table.parts(0, {1: 1.0}) == {}
