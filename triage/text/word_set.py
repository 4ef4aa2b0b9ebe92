"""A set of words, written as one line."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text, split at white space."""
    return frozenset(words.split())
