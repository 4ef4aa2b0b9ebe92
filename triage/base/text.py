"""Values that somebody wrote, as an error message shows them, and lists of words in one line."""

import difflib
from collections.abc import Iterable

MAX_QUOTED_CHARS = 40


def quote_value(value: object) -> str:
    """The value in quotes on one line, shortened, with all but printable ASCII escaped."""
    text = str(value)
    return ascii(text if len(text) <= MAX_QUOTED_CHARS else text[:MAX_QUOTED_CHARS] + "...")


def suggest_nearest(text: str, allowed: Iterable[str]) -> str:
    """Such as `did you mean labels?`; empty if no allowed word is similar."""
    nearest = difflib.get_close_matches(text.lower(), list(allowed), n=1, cutoff=0.5)
    return f"did you mean {nearest[0]}?" if nearest else ""


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())
