"""The words of an issue as issues are compared by them: short enough, without comments, in their stems."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from triage.code.words.tokens import WORD_PATTERN, split_into_terms
from triage.safety.clean_text import clean_text

MAX_TITLE_CHARS, MAX_BODY_CHARS = 300, 5_000
"""What follows is mostly logs. With 2,500 or 10,000 characters no more duplicates are found."""
_MAX_RAW_CHARS = 20_000
"""Of a body with its comments, which templates are full of."""
_MAX_LINE_CHARS = 1_000
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SUFFIXES = (("sses", "ss"), ("ies", "y"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""))
_MIN_STEM_CHARS = 3


@dataclass(frozen=True, slots=True)
class IssueTerms:
    title: list[str]
    lines: list[tuple[str, list[str]]]
    """Each line of the body that has words, with its terms."""
    numbers: frozenset[str]
    """In the title: versions, years, sizes."""


def extract_terms(title: str, body: str) -> IssueTerms:
    """Take time linear in the text, and at most that of 20,000 characters."""
    title = clean_text(title[:MAX_TITLE_CHARS])
    text = drop_comments(clean_text(body[:_MAX_RAW_CHARS]))[:MAX_BODY_CHARS]
    stripped = (line.strip()[:_MAX_LINE_CHARS] for line in text.split("\n"))
    return IssueTerms(
        title=_find_terms(title),
        lines=[(line, terms) for line in stripped if line and (terms := _find_terms(line))],
        numbers=frozenset(_NUMBER.findall(title)),
    )


def drop_comments(body: str) -> str:
    """Without HTML comments, which a page does not show. One without an end reaches to the end of the text."""
    return "".join(_split_at_comments(body))


def _split_at_comments(body: str) -> Iterator[str]:
    position = 0
    while (start := body.find("<!--", position)) >= 0:
        yield body[position:start]
        end = body.find("-->", start)
        if end < 0:
            return
        position = end + 3
    yield body[position:]


def _find_terms(text: str) -> list[str]:
    return [term for word in WORD_PATTERN.findall(text) for term in stem_parts(word)]


@lru_cache(maxsize=50_000)
def stem_parts(word: str) -> Sequence[str]:
    return list(dict.fromkeys(stem(term) for term in split_into_terms(word)))


def stem(word: str) -> str:
    """The English stem, roughly: `crashes`, `crashed` and `crashing` are `crash`.

    On the sets of `bench.duplicates` it brings 2 of 100 more duplicates among the first ten.
    """
    if len(word) <= _MIN_STEM_CHARS + 1:
        return word
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM_CHARS and not word.endswith("ss"):
            return _drop_end(word[: -len(suffix)] + instead, doubled=suffix in ("ing", "ed"))
    return word.removesuffix("e")


def _drop_end(word: str, *, doubled: bool) -> str:
    if doubled and len(word) > _MIN_STEM_CHARS and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word.removesuffix("e")
