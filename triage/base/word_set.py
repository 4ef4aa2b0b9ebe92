"""A set of words, written as one line."""


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())
