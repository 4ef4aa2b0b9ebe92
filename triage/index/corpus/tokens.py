"""Words of code and prose as numbers: whole identifiers and their camelCase and snake_case parts, lower case."""

import re
from array import array
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import islice
from typing import Self

import numpy as np
from numpy.typing import NDArray

WORD_PATTERN = re.compile(r"[^\W\d]\w*")
_WORD_OR_LINE_END = re.compile(r"[^\W\d]\w*|\n")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_DIGITS = "0123456789"
_BLANKED = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "_\n")}
"""ASCII characters that stand in no word."""
_MAX_WORD = 80
"""Characters; longer ones are data."""
_SHORT_NUMBER = 4
"""Digits; such numbers are few, and many files have them."""
_STOP_WORD_LIST = """
a an and are as at be been but by can could did do does for from had has have how if in into is it its just me my no not
of on or our so some such than that the their them then there these they this to up us was we were what when where which
while who why will with would you your am any about after also all because being between both here i
"""
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())


def split_into_terms(word: str) -> list[str]:
    """A word as it is indexed: itself and its parts, without stop words and single letters."""
    if len(word) > _MAX_WORD:
        return []
    whole = word.lower()
    found = [whole, *(part.lower() for part in _PART.findall(word))] if not word.islower() or "_" in word else [whole]
    return [term for term in dict.fromkeys(found) if len(term) > 1 and term not in STOP_WORDS and not term.isdigit()]


def find_words(text: str) -> list[str]:
    """Identifiers and words of a text, as written."""
    return WORD_PATTERN.findall(text)


def _split(text: str) -> list[str]:
    """Words in order, a line's end as a word of its own; runs of ASCII words may start with digits."""
    if text.isascii():
        # Three passes in C cost half of what the pattern does.
        return text.translate(_BLANKED).replace("\n", " \0 ").split()
    return _WORD_OR_LINE_END.findall(text)


class _Numbers(dict[str, int]):
    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Forms(dict[str, int]):
    """Numbers of words by what `_split` finds; -1 for what is no word."""

    def __init__(self, words: _Numbers) -> None:
        super().__init__({"\n": 0, "\0": 0})
        self._words = words

    def __missing__(self, found: str) -> int:
        word = found.lstrip(_DIGITS)
        number = self._words[word] if word else -1
        if word or len(found) <= _SHORT_NUMBER:
            self[found] = number
        return number


class Vocabulary:
    """Words met so far, and the terms that each stands for."""

    def __init__(self) -> None:
        self._words = _Numbers({"\n": 0})
        self._terms = _Numbers()
        self._starts = array("q", [0, 0])
        self._flat = array("i")

    @classmethod
    def from_terms(cls, terms: Sequence[str]) -> Self:
        """Different terms, numbered in order, and no words yet."""
        vocabulary = cls()
        vocabulary._terms.update(zip(terms, range(len(terms)), strict=True))
        return vocabulary

    @cached_property
    def _forms(self) -> _Forms:
        return _Forms(self._words)

    def __len__(self) -> int:
        """Number of terms."""
        return len(self._terms)

    def find_number(self, term: str) -> int | None:
        """A term's number; none when no file has it."""
        return self._terms.get(term)

    @property
    def terms(self) -> Collection[str]:
        """All terms in the order of their numbers."""
        return self._terms.keys()

    @property
    def known_words(self) -> int:
        """Number of words met, and of numbers that look like one."""
        return len(self._forms)

    def add_terms(self, terms: Collection[str], most: int) -> NDArray[np.int32]:
        """Numbers of terms. New ones are learned, up to so many terms in all; what lies beyond has the number -1."""
        number = self._terms.__getitem__
        if len(self._terms) + len(terms) <= most:
            return np.fromiter(map(number, terms), dtype=np.int32, count=len(terms))
        found = (number(term) if len(self._terms) < most else self._terms.get(term, -1) for term in terms)
        return np.fromiter(found, dtype=np.int32, count=len(terms))

    def encode_words(self, text: str) -> NDArray[np.int32]:
        """Numbers of a text's words in order, 0 at each line's end."""
        found = _split(text)
        numbers = np.fromiter(map(self._forms.__getitem__, found), dtype=np.int32, count=len(found))
        return numbers[numbers >= 0]

    def expand(
        self, words: NDArray[np.int32], documents: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Terms of the words, and the document of each term."""
        self._learn()
        starts = np.frombuffer(self._starts, dtype=np.int64)
        flat = np.frombuffer(self._flat, dtype=np.int32) if self._flat else np.zeros(0, dtype=np.int32)
        first, lengths = starts[words], starts[words + 1] - starts[words]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + lengths, lengths)
        return flat[places], np.repeat(documents, lengths)

    def _learn(self) -> None:
        """Look up the terms of new words."""
        number = self._terms.__getitem__
        new = len(self._words) - (len(self._starts) - 1)
        for word in reversed([*islice(reversed(self._words), new)]):
            self._flat.extend(map(number, split_into_terms(word)))
            self._starts.append(len(self._flat))

    def renumber_terms(self, columns: Sequence[NDArray[np.int32]]) -> list[str]:
        """Number the terms of some columns anew, in place, by the list that is returned."""
        numbers = np.zeros(len(self), dtype=np.int32)
        for column in columns:
            numbers[column] = 1
        used = np.flatnonzero(numbers)
        numbers[used] = np.arange(len(used))
        for column in columns:
            column[:] = numbers[column]
        names = list(self._terms)
        return [names[number] for number in used.tolist()]
