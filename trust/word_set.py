"""Words of a line as a set: a judge takes nothing from the code that it judges."""


def word_set(words: str) -> frozenset[str]:
    """The words, parted by blanks."""
    return frozenset(words.split())
