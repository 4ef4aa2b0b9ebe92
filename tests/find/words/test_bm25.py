"""BM25 tables agree with the formula."""

import math

import numpy as np
import pytest

from triage.find.words.bm25 import BM25, K1, B, TermCounter, TermCounts
from triage.find.words.tokens import Vocabulary

TEXTS = ["red green green blue", "red red red", "blue", "", "yellow blue green red red"]


def count_terms(texts: list[str], vocabulary: Vocabulary) -> TermCounts:
    counter = TermCounter(vocabulary)
    for text in texts:
        counter.add(vocabulary.encode_words(text))
    return counter.count()


def build_table(*parts: list[str]) -> tuple[BM25, Vocabulary]:
    vocabulary = Vocabulary()
    documents = [count_terms(texts, vocabulary) for texts in parts]
    return BM25.from_counts(documents, len(vocabulary)), vocabulary


def score_by_formula(texts: list[str], term: str, number: int) -> float:
    documents = [text.split() for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    having = sum(term in document for document in documents)
    idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
    occurrences = documents[number].count(term)
    return idf * occurrences * (K1 + 1) / (occurrences + K1 * (1 - B + B * len(documents[number]) / mean))


def test_scores_follow_the_formula():
    table, vocabulary = build_table(TEXTS)
    weights = {"red": 1.0, "green": 0.5, "yellow": 2.0}
    scores = table.score_documents({vocabulary._terms[term]: weight for term, weight in weights.items()})
    for number in range(len(TEXTS)):
        expected = sum(weight * score_by_formula(TEXTS, term, number) for term, weight in weights.items())
        assert scores[number] == pytest.approx(expected, abs=1e-5)


def test_parts_make_no_difference():
    whole, vocabulary = build_table(TEXTS)
    pieces, _ = build_table(TEXTS[:2], [], TEXTS[2:4], TEXTS[4:])
    for term in range(len(vocabulary)):
        assert np.array_equal(whole.score_documents({term: 1.0}), pieces.score_documents({term: 1.0}))


def test_counts_may_need_more_than_two_bytes():
    for words in (70_000, 7):
        table, _ = build_table(["red " * words, "blue"])
        expected = words / (words + K1 * (1 - B + B * words / ((words + 1) / 2)))
        assert table.saturated_counts.tolist()[0] == pytest.approx(expected)


def test_an_empty_repository():
    table, _ = build_table()
    assert table.size == 0
    table, _ = build_table([])
    assert table.score_documents({0: 1.0}).tolist() == []


def test_terms_added_after_the_table_score_nothing():
    table, vocabulary = build_table(["red"])
    vocabulary.expand(vocabulary.encode_words("new"), np.zeros(1, dtype=np.int32))
    assert table.score_documents({1: 1.0}).tolist() == [0.0]
