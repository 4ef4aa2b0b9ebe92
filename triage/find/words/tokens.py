"""Numbers the words of code and prose: whole identifiers and their camelCase and snake_case parts, lower case."""

import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

WORD_PATTERN = re.compile(r"[^\W\d]\w*")
_WORD_OR_LINE_END = re.compile(r"[^\W\d]\w*|\n")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_MAX_WORD_CHARS = 80
"""Longer words are data."""
_STOP_WORD_LIST = """
a an and are as at be been but by can could did do does for from had has have how if in into is it its just me my no not
of on or our so some such than that the their them then there these they this to up us was we were what when where which
while who why will with would you your am any about after also all because being between both here i
"""
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())


def split_into_terms(word: str) -> list[str]:
    """Return a word as it is indexed: itself and its parts, without stop words and single letters."""
    if len(word) > _MAX_WORD_CHARS:
        return []
    whole = word.lower()
    has_parts = not word.islower() or "_" in word
    terms = [whole, *(part.lower() for part in _PART.findall(word))] if has_parts else [whole]
    return [term for term in dict.fromkeys(terms) if len(term) > 1 and term not in STOP_WORDS and not term.isdigit()]


def find_words(text: str) -> list[str]:
    """Return the identifiers and words of a text, as written."""
    return WORD_PATTERN.findall(text)


def find_terms(text: str) -> set[str]:
    """Return the words of a text as they are indexed."""
    return {term for word in find_words(text) for term in split_into_terms(word)}


class _Numbers(dict[str, int]):
    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class Vocabulary:
    def __init__(self) -> None:
        self._words = _Numbers({"\n": 0})
        self._terms = _Numbers()
        self._starts = array("q", [0, 0])
        self._flat = array("i")

    def __len__(self) -> int:
        return len(self._terms)

    def find_number(self, term: str) -> int | None:
        return self._terms.get(term)

    def number_terms(self, weights: Mapping[str, float]) -> dict[int, float]:
        """Return the weights of the known terms by their numbers."""
        return {self._terms[term]: weight for term, weight in weights.items() if term in self._terms}

    @property
    def terms(self) -> Collection[str]:
        return self._terms.keys()

    @property
    def known_words(self) -> int:
        return len(self._words)

    def add_terms(self, terms: Collection[str], max_terms: int) -> NDArray[np.int32]:
        """Add terms and return their numbers: -1 for new terms once there are `max_terms` in all.

        Which new terms fit does not depend on the order in which each process has met them.
        """
        number = self._terms.__getitem__  # gives a new term the next number
        if len(self._terms) + len(terms) <= max_terms:
            return np.fromiter(map(number, terms), dtype=np.int32, count=len(terms))
        new = sorted({*terms} - self._terms.keys())
        for term in new[: max(0, max_terms - len(self._terms))]:
            number(term)
        return np.fromiter((self._terms.get(term, -1) for term in terms), dtype=np.int32, count=len(terms))

    def encode_words(self, text: str) -> NDArray[np.int32]:
        """Return the numbers of the words of a text in order, with 0 at each line end."""
        words = _WORD_OR_LINE_END.findall(text)
        number = self._words.__getitem__  # gives a new word the next number
        return np.fromiter(map(number, words), dtype=np.int32, count=len(words))

    def expand(
        self, words: NDArray[np.int32], documents: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the terms of words, and the document of each term. `documents` are those of the words."""
        self._split_new_words()
        starts = np.frombuffer(self._starts, dtype=np.int64)
        flat = np.frombuffer(self._flat, dtype=np.int32) if self._flat else np.zeros(0, dtype=np.int32)
        first, lengths = starts[words], starts[words + 1] - starts[words]
        ends = np.cumsum(lengths)
        positions = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + lengths, lengths)
        return flat[positions], np.repeat(documents, lengths)

    def _split_new_words(self) -> None:
        """Split the words that were added since the last call into their terms."""
        number = self._terms.__getitem__
        new = len(self._words) - (len(self._starts) - 1)
        for word in reversed([*islice(reversed(self._words), new)]):
            self._flat.extend(map(number, split_into_terms(word)))
            self._starts.append(len(self._flat))

    def renumber_terms(self, columns: Sequence[NDArray[np.int32]]) -> list[str]:
        """Renumber the terms of some columns in place. Return the terms by their new numbers."""
        numbers = np.zeros(len(self), dtype=np.int32)
        for column in columns:
            numbers[column] = 1
        used = np.flatnonzero(numbers)
        numbers[used] = np.arange(len(used))
        for column in columns:
            column[:] = numbers[column]
        names = list(self._terms)
        return [names[number] for number in used.tolist()]
