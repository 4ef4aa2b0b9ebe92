"""Words of code and prose as numbers: whole identifiers and their camelCase and snake_case parts, lower case."""

import re
from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"[^\W\d]\w*")
_WORD_OR_LINE_END = re.compile(r"[^\W\d]\w*|\n")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_MAX_WORD = 80
"""Characters; longer ones are data."""
_STOP_WORDS = """
a an and are as at be been but by can could did do does for from had has have how if in into is it its just me my no not
of on or our so some such than that the their them then there these they this to up us was we were what when where which
while who why will with would you your am any about after also all because being between both here i
"""
STOP = frozenset(_STOP_WORDS.split())


def terms_of(word: str) -> list[str]:
    """A word as it is indexed: itself and its parts, without stop words and single letters."""
    if len(word) > _MAX_WORD:
        return []
    whole = word.lower()
    found = [whole, *(part.lower() for part in _PART.findall(word))] if not word.islower() or "_" in word else [whole]
    return [term for term in dict.fromkeys(found) if len(term) > 1 and term not in STOP and not term.isdigit()]


def words(text: str) -> list[str]:
    """Identifiers and words of a text, as written."""
    return WORD.findall(text)


class _Numbers(dict[str, int]):
    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class Vocabulary:
    """Words met so far, and the terms that each stands for."""

    def __init__(self) -> None:
        self._words = _Numbers({"\n": 0})
        self._terms = _Numbers()
        self._starts = array("q", [0, 0])
        self._flat = array("i")

    def __len__(self) -> int:
        """Number of terms."""
        return len(self._terms)

    def number(self, term: str) -> int | None:
        """A term's number; none when no file has it."""
        return self._terms.get(term)

    @property
    def terms(self) -> Iterable[str]:
        """All terms in the order of their numbers."""
        return self._terms

    def words_of(self, text: str) -> NDArray[np.int32]:
        """Numbers of a text's words in order, 0 at each line's end."""
        number = self._words.__getitem__
        return np.array([number(word) for word in _WORD_OR_LINE_END.findall(text)], dtype=np.int32)

    def expand(
        self, words: NDArray[np.int32], documents: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Terms of the words, and the document of each term."""
        self._learn()
        starts = np.frombuffer(self._starts, dtype=np.int64)
        flat = np.frombuffer(self._flat, dtype=np.int32) if self._flat else np.zeros(0, dtype=np.int32)
        first, lengths = starts[words], starts[words + 1] - starts[words]
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        inside = np.arange(total) - np.repeat(ends - lengths, lengths)
        return flat[np.repeat(first, lengths) + inside], np.repeat(documents, lengths)

    def _learn(self) -> None:
        """Look up the terms of words that came since the last time."""
        known = len(self._starts) - 1
        if known == len(self._words):
            return
        for word in list(self._words)[known:]:
            self._flat.extend(self._terms[term] for term in terms_of(word))
            self._starts.append(len(self._flat))
