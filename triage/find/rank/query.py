"""Turns an issue into a query: weighted terms, and names that the issue mentions."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise

from triage.domain.code import SearchQuery
from triage.domain.issue import ParsedIssue, Trace
from triage.find.words.tokens import find_words, split_into_terms
from triage.read.visible_text.html_page import PICTURE

TITLE_WEIGHT = 2.0
"""Added to a term of the title."""
CODE_WEIGHT = 0.5
"""Code blocks and traces weigh half of prose."""
KEYWORD_WEIGHT = 1.0
"""Added to a term that the agents asked for."""

MAX_TERMS = 1_500
"""The heaviest ones are used; a log of 64 KiB may contain ten thousand."""
OPENING_WORDS = 60
"""Of the prose: reporters write what is wrong before how they noticed it."""
_MAX_JOINED = 2_000
_MAX_PHRASES = 60
_MIN_JOINED_CHARS = 5
"""Of a name or phrase; shorter ones are found everywhere."""
_MAX_REFERENCES = 200
_MAX_DOTTED_NAMES = 1_000
_MAX_NAME_PARTS = 12

_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"')\]]+")
_BLOB_LINK = re.compile(r"/(?:blob|blame|tree|raw|src)/[^/\s]{1,200}/([^\s?#<>\"')\]]{1,500})(?:#L(\d{1,7}))?")
_DOTTED_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*+(?:(?:::|->|[.\\/#])[^\W\d]\w*+)+")
_SEPARATOR = re.compile(r"::|->|[.\\/#]")
_QUOTED = re.compile(r"`([^`\n]{4,80})`|\"([^\"\n]{5,80})\"|'([^'\n]{5,80})'|(?<![\w-])--?([a-z][\w-]{2,40})")


@dataclass(frozen=True)
class PathMention:
    path: str
    line: int | None = None
    depth: float = 0.0
    """Position in a stack trace: 1 where the error was raised, near 0 at the outermost call; 0 outside a trace."""
    calls_before_error: int = 0
    """Number of frames further in."""
    function: str = ""
    """As the trace names it."""
    code: str = ""
    """The line that the trace shows."""
    callee: str = ""
    """The function that it calls: that of the next frame further in."""


@dataclass(frozen=True)
class Query:
    """An issue as the ranking uses it. Words are as the issue writes them, terms as the index has them."""

    term_weights: Mapping[str, float]
    title_words: frozenset[str]
    all_words: frozenset[str]
    code_words: frozenset[str]
    """Words of identifiers, and of what the agents asked for."""
    asked_words: frozenset[str]
    dotted_names: tuple[tuple[str, ...], ...]
    """Parts of `a.b.c`, `a::b` or `a/b`."""
    references: tuple[PathMention, ...]
    joined_weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of names that neighbouring words would make: `group_by` and `groupby` for `group by`."""
    part_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Weights of the terms of one part of the issue: `title`, `opening`, `prose` or `names`."""
    phrases: tuple[str, ...] = ()
    """Quoted text, and command-line options without their dashes."""

    @cached_property
    def owners(self) -> Mapping[str, set[str]]:
        """Names that stand before a name in the issue: `Store` before `save` in `Store.save`."""
        owners: dict[str, set[str]] = defaultdict(set)
        for parts in self.dotted_names:
            for owner, name in pairwise(parts):
                owners[name].add(owner)
        return owners


def build_query(search: SearchQuery) -> Query:
    """Build the query of a search. Linear in the issue's length."""
    parsed = search.parsed
    body = _URL.sub(" ", parsed.body.replace(PICTURE, " "))
    prose = _URL.sub(" ", parsed.prose) or ("" if parsed.code else body)
    blocks = "\n".join(block.text for block in parsed.code)
    all_text = f"{parsed.title}\n{body}\n{prose}\n{blocks}"
    in_prose = Counter(find_words(prose))
    # Traces stand in the body only.
    in_code = (Counter(find_words(body)) - in_prose) | Counter(find_words(blocks))
    keywords = " ".join(search.keywords)
    dotted = find_dotted_names([all_text, keywords, *parsed.identifiers])
    return Query(
        term_weights=_weigh_terms(in_prose, in_code, search),
        title_words=frozenset(find_words(parsed.title)),
        all_words=frozenset(find_words(all_text)) | frozenset(find_words(keywords)),
        code_words=frozenset(word for name in [*parsed.identifiers, *search.keywords] for word in find_words(name)),
        asked_words=frozenset(find_words(keywords)),
        dotted_names=tuple(islice(dict.fromkeys(dotted), _MAX_DOTTED_NAMES)),
        references=tuple(islice(_find_references(parsed), _MAX_REFERENCES)),
        joined_weights=_join_neighbours(parsed.title, prose),
        part_weights=_weigh_parts(parsed, prose),
        phrases=tuple(islice(_find_phrases(f"{parsed.title}\n{body}"), _MAX_PHRASES)),
    )


def _weigh_terms(in_prose: Counter[str], in_code: Counter[str], search: SearchQuery) -> dict[str, float]:
    """Return the heaviest terms of title, prose, code and keywords, with their weights."""
    total: dict[str, float] = defaultdict(float)
    for counts, weight in ((in_prose, 1.0), (in_code, CODE_WEIGHT)):
        for term, count in _count_terms(counts).items():
            total[term] += weight * (1 + math.log(count))
    for text, weight in ((search.parsed.title, TITLE_WEIGHT), (" ".join(search.keywords), KEYWORD_WEIGHT)):
        for term in _count_terms(Counter(find_words(text))):
            total[term] += weight
    heaviest = sorted(total, key=lambda term: -total[term])[:MAX_TERMS]
    return {term: total[term] for term in heaviest}


def _join_neighbours(title: str, prose: str) -> dict[str, float]:
    """Return the names that two words in a row make in code, `read_file` or `readfile`, with their weights."""
    weights: dict[str, float] = {}
    for text, weight in ((title, TITLE_WEIGHT), (prose, 1.0)):
        words = [word.lower() for word in find_words(text)]
        for first, second in islice(pairwise(words), _MAX_JOINED):
            for name in (f"{first}_{second}", first + second):
                if len(name) >= _MIN_JOINED_CHARS:
                    weights.setdefault(name, weight)
    return weights


def _weigh_parts(parsed: ParsedIssue, prose: str) -> dict[str, Mapping[str, float]]:
    """Return the weights of the terms in each part of the issue."""
    words = find_words(prose)
    parts = {
        "title": find_words(parsed.title),
        "opening": words[:OPENING_WORDS],
        "prose": words,
        "names": find_words(" ".join(parsed.identifiers)),
    }
    counts = {part: _count_terms(Counter(words)).most_common(MAX_TERMS) for part, words in parts.items()}
    return {part: {term: 1 + math.log(count) for term, count in terms} for part, terms in counts.items()}


def _find_phrases(text: str) -> Iterable[str]:
    found = (next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text))
    return dict.fromkeys(
        phrase for phrase in found if len(phrase) >= _MIN_JOINED_CHARS and any(map(str.isalpha, phrase))
    )


def _count_terms(counts: Counter[str]) -> Counter[str]:
    total: Counter[str] = Counter()
    for word, count in counts.items():
        if count > 0:
            for term in split_into_terms(word):
                total[term] += count
    return total


def find_dotted_names(texts: Iterable[str]) -> Iterable[tuple[str, ...]]:
    for text in texts:
        for found in _DOTTED_NAME.findall(text):
            yield tuple(_SEPARATOR.split(found)[-_MAX_NAME_PARTS:])


def _find_references(parsed: ParsedIssue) -> Iterable[PathMention]:
    for trace in parsed.traces:
        yield from list_frames(trace)
    for path in parsed.paths:
        yield PathMention(path)
    for link in parsed.links:
        if found := _BLOB_LINK.search(link):
            yield PathMention(found[1], int(found[2]) if found[2] else None)


def list_frames(trace: Trace) -> Iterable[PathMention]:
    """Return the frames of a trace, innermost first."""
    count = len(trace.frames)
    for number, frame in reversed(list(enumerate(trace.frames, 1))):
        # A trace of JavaScript leaves out frames in between, of the engine.
        callee = trace.frames[number].name if number < count and trace.language != "javascript" else ""
        yield PathMention(
            frame.path, frame.line, number / count, count - number, frame.function or "", frame.code or "", callee
        )
