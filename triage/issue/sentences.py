"""Splits prose into sentences, so that a sign is judged by the sentence that it stands in."""

import re
from collections.abc import Iterator

from triage.domain.issue import ParsedIssue, Quote

MAX_CHARS = 12_000
"""Of the prose. Reporters name the problem early."""
_MAX_SENTENCE_CHARS = 600
_MAX_HEAD = 12_000
_MAX_TAIL = 4_000
_BOUNDARY = re.compile(
    r"(?<=[.!?。！？])[\"')\]*_`]{0,3}(?:\s+|$)"
    r"|\n\s*(?=\n|\W{0,4}[A-Z0-9]|[-*+>#|•\[(])"  # a line that goes on begins with a small letter
    r"|(?<=:)\n"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|ver|v)|^\W{0,4}\d{1,2})\.$", re.I)


def find_sentences(text: str) -> Iterator[str]:
    """Sentences of the text, each word for word, at most 600 characters of it."""
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        ends_line = "\n" in boundary[0]
        if not ends_line and _ABBREVIATION.search(text[max(start, boundary.start() - 8) : boundary.start()]):
            continue
        yield from _trim(text[start : boundary.end()])
        start = boundary.end()
    yield from _trim(text[start:])


def shorten_to_ends(text: str) -> str:
    """Start and end of a long text: what is in the middle is a log."""
    return text if len(text) <= _MAX_HEAD + _MAX_TAIL else f"{text[:_MAX_HEAD]}\n{text[-_MAX_TAIL:]}"


def quote(parsed: ParsedIssue, words: str) -> Quote | None:
    """The words with their place, None where the text does not have them in one piece."""
    start = parsed.text.find(words) if words else -1
    return Quote(text=words, start=start, end=start + len(words)) if start >= 0 else None


def _trim(sentence: str) -> Iterator[str]:
    trimmed = sentence.strip().lstrip("-*+>#|• ").strip()
    if trimmed:
        yield trimmed[:_MAX_SENTENCE_CHARS]
