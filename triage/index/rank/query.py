"""What is looked for, as weighted terms and as names that the issue says outright."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise

from triage.domain.code import SearchQuery
from triage.domain.issue import Reading, Trace
from triage.index.corpus.tokens import find_words, split_into_terms

TITLE_WEIGHT = 2.0
"""Added for each word of the title."""
CODE_WEIGHT = 0.5
"""Code blocks and traces weigh half of prose."""
KEYWORD_WEIGHT = 1.0
"""Names that only the agents said."""

MAX_TERMS = 1_500
"""The heaviest count; a log of 64 KiB may hold ten thousand."""
OPENING_WORDS = 60
"""Words of prose: what is wrong stands before how it was noticed."""
_MAX_JOINED = 2_000
_MAX_PHRASES = 60
_MIN_JOINED = 4
"""Characters of a name or phrase that tells something: more than this."""
_MAX_MESSAGES, _MESSAGE_WORDS = 4, 60
_MAX_REFERENCES = 200
_MAX_DOTTED_NAMES = 1_000
_MAX_NAME_PARTS = 12
"""Parts of one."""

_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"')\]]+")
_BLOB = re.compile(r"/(?:blob|blame|tree|raw|src)/[^/\s]{1,200}/([^\s?#<>\"')\]]{1,500})(?:#L(\d{1,7}))?")
_DOTTED_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*+(?:(?:::|->|[.\\/#])[^\W\d]\w*+)+")
_SEPARATOR = re.compile(r"::|->|[.\\/#]")
_QUOTED = re.compile(r"`([^`\n]{4,80})`|\"([^\"\n]{5,80})\"|'([^'\n]{5,80})'|(?<![\w-])--?([a-z][\w-]{2,40})")


@dataclass(frozen=True)
class Reference:
    """A file that the issue names by its path."""

    path: str
    line: int | None = None
    depth: float = 0.0
    """Place in a trace, from just above 0 (outermost call) to 1 (where it was raised); 0 for a path named in words."""
    calls_before_error: int = 0
    """Frames further in."""
    function: str = ""
    """The frame's function, its own name."""


@dataclass(frozen=True)
class Query:
    """A search, taken apart."""

    term_weights: Mapping[str, float]
    """Term to weight."""
    original_words: Mapping[str, str]
    """Term to the word as the issue writes it."""
    title_words: frozenset[str]
    """Words of the title, as written."""
    all_words: frozenset[str]
    """All words, as written."""
    code_words: frozenset[str]
    """Words that the issue marks as code, or that look like it."""
    dotted_names: tuple[tuple[str, ...], ...]
    """Dotted names (`a.b.c`, `a::b`, `a/b`), taken apart."""
    references: tuple[Reference, ...]
    joined_weights: Mapping[str, float] = field(default_factory=dict)
    """Names that neighbouring words would make (`group by`: `group_by`, `groupby`), with their weights."""
    part_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Weights of the terms of a part of the issue alone: `title`, `opening`, `prose`, `names`."""
    messages: tuple[tuple[str, ...], ...] = ()
    """Words of each error message, lower case."""
    phrases: tuple[str, ...] = ()
    """Pieces of text that the issue quotes, and options without their dashes."""
    title_and_prose: tuple[str, ...] = ()
    """Title and prose, as written."""

    @cached_property
    def owners(self) -> Mapping[str, set[str]]:
        """What stands before a name in the issue: `Store` before `save` in `Store.save`."""
        owners: dict[str, set[str]] = defaultdict(set)
        for chain in self.dotted_names:
            for owner, name in pairwise(chain):
                owners[name].add(owner)
        return owners


def build_query(asked: SearchQuery) -> Query:
    """Read a search. Linear in the issue's length."""
    reading = asked.reading
    prose = _URL.sub(" ", reading.prose or ("" if reading.code else reading.body))
    body, blocks = _URL.sub(" ", reading.body), "\n".join(block.text for block in reading.code)
    everything = f"{reading.title}\n{body}\n{prose}\n{blocks}"
    in_prose = Counter(find_words(prose))
    # Traces stand in the body only.
    in_code = (Counter(find_words(body)) - in_prose) | Counter(find_words(blocks))
    later = " ".join(asked.keywords)
    weights, spoken = _weigh_terms(in_prose, in_code, asked)
    return Query(
        term_weights=weights,
        original_words=spoken,
        title_words=frozenset(find_words(reading.title)),
        all_words=frozenset(find_words(everything)) | frozenset(find_words(later)),
        code_words=frozenset(word for name in [*reading.identifiers, *asked.keywords] for word in find_words(name)),
        dotted_names=tuple(
            islice(dict.fromkeys(_find_dotted_names([everything, later, *reading.identifiers])), _MAX_DOTTED_NAMES)
        ),
        references=tuple(islice(_find_references(reading), _MAX_REFERENCES)),
        joined_weights=_join_neighbours(reading.title, prose),
        part_weights=_weigh_parts(reading, prose),
        messages=tuple(
            tuple(word.lower() for word in find_words(text)[:_MESSAGE_WORDS])
            for text in reading.error_messages[:_MAX_MESSAGES]
        ),
        phrases=tuple(islice(_find_phrases(f"{reading.title}\n{body}"), _MAX_PHRASES)),
        title_and_prose=(reading.title, prose),
    )


def _weigh_terms(
    in_prose: Counter[str], in_code: Counter[str], asked: SearchQuery
) -> tuple[dict[str, float], dict[str, str]]:
    in_title = Counter(find_words(asked.reading.title))
    total: dict[str, float] = defaultdict(float)
    spoken: dict[str, str] = {}
    for counts, weight in ((in_prose, 1.0), (in_code, CODE_WEIGHT)):
        for term, count in _count_terms(counts, spoken).items():
            total[term] += weight * (1 + math.log(count))
    for term in _count_terms(in_title, spoken):
        total[term] += TITLE_WEIGHT
    for term in _count_terms(Counter(find_words(" ".join(asked.keywords))), spoken):
        total[term] += KEYWORD_WEIGHT
    heaviest = sorted(total, key=lambda term: -total[term])[:MAX_TERMS]
    return {term: total[term] for term in heaviest}, spoken


def _join_neighbours(title: str, prose: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for text, weight in ((title, TITLE_WEIGHT), (prose, 1.0)):
        said = [word.lower() for word in find_words(text)]
        for one, other in islice(pairwise(said), _MAX_JOINED):
            for name in (f"{one}_{other}", one + other):
                if len(name) > _MIN_JOINED:
                    found.setdefault(name, weight)
    return found


def _weigh_parts(reading: Reading, prose: str) -> dict[str, Mapping[str, float]]:
    said = find_words(prose)
    parts = {
        "title": find_words(reading.title),
        "opening": said[:OPENING_WORDS],
        "prose": said,
        "names": find_words(" ".join(reading.identifiers)),
    }
    return {part: _damp_counts(Counter(found)) for part, found in parts.items()}


def _damp_counts(counts: Counter[str]) -> dict[str, float]:
    terms = _count_terms(counts, {}).most_common(MAX_TERMS)
    return {term: 1 + math.log(count) for term, count in terms}


def _find_phrases(text: str) -> Iterable[str]:
    found = (next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text))
    return dict.fromkeys(phrase for phrase in found if len(phrase) > _MIN_JOINED and any(map(str.isalpha, phrase)))


def _count_terms(counts: Counter[str], spoken: dict[str, str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for word, count in counts.items():
        if count > 0:
            for term in split_into_terms(word):
                found[term] += count
                if term not in spoken or term == word.lower():
                    spoken[term] = word if term == word.lower() else term
    return found


def _find_dotted_names(texts: Iterable[str]) -> Iterable[tuple[str, ...]]:
    for text in texts:
        for found in _DOTTED_NAME.findall(text):
            yield tuple(_SEPARATOR.split(found)[-_MAX_NAME_PARTS:])


def _find_references(reading: Reading) -> Iterable[Reference]:
    for trace in reading.traces:
        yield from _frame_references(trace)
    for path in reading.paths:
        yield Reference(path)
    for link in reading.links:
        if found := _BLOB.search(link):
            yield Reference(found[1], int(found[2]) if found[2] else None)


def _frame_references(trace: Trace) -> Iterable[Reference]:
    for place, frame in reversed(list(enumerate(trace.frames, 1))):
        path = frame.path
        if "/" not in path and "\\" not in path and frame.function and trace.language in ("java", "kotlin", "scala"):
            # These name the file alone; the package stands in the function's name.
            package = frame.function.rpartition(".")[0].split("$")[0].split(".")[:-1]
            path = "/".join([*package, path])
        yield Reference(path, frame.line, place / len(trace.frames), len(trace.frames) - place, frame.name)
