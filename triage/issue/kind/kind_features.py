"""Features of an issue for the learned model of its kind: words, characters of the title, headings, and cues."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from triage.domain.issue import ParsedIssue
from triage.issue.kind.kind_cues import PHRASES, describe_body, describe_sections, describe_title

_MAX_TITLE_CHARS = 300
_MAX_CHARS = 6_000
"""Reporters say early what they want; the rest is logs."""
_MAX_HEADINGS = 30
_WORD = re.compile(r"https?://\S{1,500}|`[^`\n]{1,200}`|[@#]?\w[\w.:]*(?:\(\))?(?:['’]\w+)?|[?!]")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CHARS = 4
CUE_VALUE = 0.3
"""Of a cue. The features of a text share a value of 1 or so, however long it is: see `extract_kind_features`."""


def extract_kind_features(parsed: ParsedIssue) -> dict[str, float]:
    """Named features and their values. Takes time linear in the text, and at most that of 6,000 characters."""
    title = parsed.title[:_MAX_TITLE_CHARS]
    headings = [section.heading for section in parsed.sections[:_MAX_HEADINGS]]
    prose = _drop_headings(parsed.prose[:_MAX_CHARS], headings)
    title_words, words = list(find_words(title)), list(find_words(prose))
    heading_words = [list(find_words(heading[:200]))[:5] for heading in headings]
    return {
        **_share("title", _find_ngrams(["<", *title_words, ">"], 3), 1.0),
        **_share("chars", _find_chars(" ".join(title_words)), 1.0),
        **_share("word", [*title_words, *words], 1.4),
        **_share("heading", (part for found in heading_words for part in [" ".join(found), *found]), 0.6),
        **dict.fromkeys(_find_cues(parsed, title, prose), CUE_VALUE),
    }


def _drop_headings(prose: str, headings: Sequence[str]) -> str:
    known = {heading.strip().lower() for heading in headings}
    return "\n".join(line for line in prose.split("\n") if line.strip(" #*:").lower() not in known)


def find_words(text: str) -> Iterator[str]:
    """Words in lower case. What is different in each project (names, numbers, addresses) is one word for each sort."""
    for part in _WORD.findall(text):
        if part in ("?", "!"):
            yield part
        elif part.startswith(("http://", "https://")):
            yield "<url>"
        elif part[0] in "@#":
            yield "<reference>"
        else:
            yield _normalize_word(part.rstrip(".:"))


def _normalize_word(word: str) -> str:
    if word[0] == "`" or "_" in word or ":" in word or "(" in word or _CAMEL.search(word):
        return "<name>"
    if any(char.isdigit() for char in word):
        return "<version>" if "." in word else "<number>"
    return "<name>" if "." in word else word.lower().replace("’", "'")


def _share(group: str, parts: Iterable[str], total: float) -> dict[str, float]:
    """Each different part once. Their squares sum up to that of `total`, so that a long text counts as a short one."""
    names = {f"{group} {part}" for part in parts}
    return dict.fromkeys(names, total / math.sqrt(len(names))) if names else {}


def _find_ngrams(words: Sequence[str], longest: int) -> Iterator[str]:
    for length in range(1, longest + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


def _find_chars(text: str) -> Iterator[str]:
    padded = f" {text} "
    return (padded[start : start + _CHARS] for start in range(len(padded) - _CHARS + 1))


def _find_cues(parsed: ParsedIssue, title: str, prose: str) -> Iterator[str]:
    first = next((sentence for sentence in _SENTENCE_END.split(prose) if len(sentence.split()) > 2), "")
    for name, phrase in PHRASES.items():
        found = len(phrase.findall(title)) + len(phrase.findall(prose))
        if found:
            yield f"says: {name}"
        if found > 2:
            yield f"says: {name}, often"
        if phrase.search(title):
            yield f"title says: {name}"
        if phrase.search(first):
            yield f"first sentence says: {name}"
    yield from (f"title: {fact}" for fact in describe_title(title))
    yield from (f"body: {fact}" for fact in describe_body(parsed, prose))
    yield from (f"section: {fact}" for fact in describe_sections(parsed))
