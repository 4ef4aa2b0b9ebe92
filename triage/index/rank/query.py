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
from triage.index.corpus.tokens import terms_of, words

TITLE = 2.0
"""Added for each word of the title."""
CODE = 0.5
"""Code blocks and traces weigh half of prose."""
KEYWORD = 1.0
"""Names that only the agents said."""

MAX_TERMS = 1_500
"""The heaviest count; a log of 64 KiB may hold ten thousand."""
OPENING = 60
"""Words of prose: what is wrong stands before how it was noticed."""
_MAX_JOINED = 2_000
_MAX_PHRASES = 60
_MIN_JOINED = 4
"""Characters of a name or phrase that tells something: more than this."""
_MAX_MESSAGES, _MESSAGE_WORDS = 4, 60
_MAX_REFERENCES = 200
_MAX_CHAINS = 1_000
_MAX_CHAIN = 12
"""Parts of one."""

_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"')\]]+")
_BLOB = re.compile(r"/(?:blob|blame|tree|raw|src)/[^/\s]{1,200}/([^\s?#<>\"')\]]{1,500})(?:#L(\d{1,7}))?")
_CHAIN = re.compile(r"(?<![\w.])[^\W\d]\w*+(?:(?:::|->|[.\\/#])[^\W\d]\w*+)+")
_SEPARATOR = re.compile(r"::|->|[.\\/#]")
_QUOTED = re.compile(r"`([^`\n]{4,80})`|\"([^\"\n]{5,80})\"|'([^'\n]{5,80})'|(?<![\w-])--?([a-z][\w-]{2,40})")


@dataclass(frozen=True)
class Reference:
    """A file that the issue names by its path."""

    path: str
    line: int | None = None
    depth: float = 0.0
    """Place in a trace, from just above 0 (outermost call) to 1 (where it was raised); 0 for a path named in words."""
    outer: int = 0
    """Frames further in."""
    function: str = ""
    """The frame's function, its own name."""


@dataclass(frozen=True)
class Query:
    """A search, taken apart."""

    weights: Mapping[str, float]
    """Term to weight."""
    spoken: Mapping[str, str]
    """Term to the word as the issue writes it."""
    title: frozenset[str]
    """Words of the title, as written."""
    words: frozenset[str]
    """All words, as written."""
    coded: frozenset[str]
    """Words that the issue marks as code, or that look like it."""
    chains: tuple[tuple[str, ...], ...]
    """Dotted names (`a.b.c`, `a::b`, `a/b`), taken apart."""
    references: tuple[Reference, ...]
    joined: Mapping[str, float] = field(default_factory=dict)
    """Names that neighbouring words would make (`group by`: `group_by`, `groupby`), with their weights."""
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Weights of the terms of a part of the issue alone: `title`, `opening`, `prose`, `names`."""
    messages: tuple[tuple[str, ...], ...] = ()
    """Words of each error message, lower case."""
    phrases: tuple[str, ...] = ()
    """Pieces of text that the issue quotes, and options without their dashes."""
    said: tuple[str, ...] = ()
    """Title and prose, as written."""

    @cached_property
    def owners(self) -> Mapping[str, set[str]]:
        """What stands before a name in the issue: `Store` before `save` in `Store.save`."""
        owners: dict[str, set[str]] = defaultdict(set)
        for chain in self.chains:
            for owner, name in pairwise(chain):
                owners[name].add(owner)
        return owners


def query_of(asked: SearchQuery) -> Query:
    """Read a search. Linear in the issue's length."""
    reading = asked.reading
    prose = _URL.sub(" ", reading.prose or ("" if reading.code else reading.body))
    body, blocks = _URL.sub(" ", reading.body), "\n".join(block.text for block in reading.code)
    everything = f"{reading.title}\n{body}\n{prose}\n{blocks}"
    in_prose = Counter(words(prose))
    # Traces stand in the body only.
    in_code = (Counter(words(body)) - in_prose) | Counter(words(blocks))
    later = " ".join(asked.keywords)
    weights, spoken = _weights(in_prose, in_code, asked)
    return Query(
        weights=weights,
        spoken=spoken,
        title=frozenset(words(reading.title)),
        words=frozenset(words(everything)) | frozenset(words(later)),
        coded=frozenset(word for name in [*reading.identifiers, *asked.keywords] for word in words(name)),
        chains=tuple(islice(dict.fromkeys(_chains([everything, later, *reading.identifiers])), _MAX_CHAINS)),
        references=tuple(islice(_references(reading), _MAX_REFERENCES)),
        joined=_joined(reading.title, prose),
        parts=_parts(reading, prose),
        messages=tuple(
            tuple(word.lower() for word in words(text)[:_MESSAGE_WORDS])
            for text in reading.error_messages[:_MAX_MESSAGES]
        ),
        phrases=tuple(islice(_phrases(f"{reading.title}\n{body}"), _MAX_PHRASES)),
        said=(reading.title, prose),
    )


def _weights(
    in_prose: Counter[str], in_code: Counter[str], asked: SearchQuery
) -> tuple[dict[str, float], dict[str, str]]:
    in_title = Counter(words(asked.reading.title))
    total: dict[str, float] = defaultdict(float)
    spoken: dict[str, str] = {}
    for counts, weight in ((in_prose, 1.0), (in_code, CODE)):
        for term, count in _terms(counts, spoken).items():
            total[term] += weight * (1 + math.log(count))
    for term in _terms(in_title, spoken):
        total[term] += TITLE
    for term in _terms(Counter(words(" ".join(asked.keywords))), spoken):
        total[term] += KEYWORD
    heaviest = sorted(total, key=lambda term: -total[term])[:MAX_TERMS]
    return {term: total[term] for term in heaviest}, spoken


def _joined(title: str, prose: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for text, weight in ((title, TITLE), (prose, 1.0)):
        said = [word.lower() for word in words(text)]
        for one, other in islice(pairwise(said), _MAX_JOINED):
            for name in (f"{one}_{other}", one + other):
                if len(name) > _MIN_JOINED:
                    found.setdefault(name, weight)
    return found


def _parts(reading: Reading, prose: str) -> dict[str, Mapping[str, float]]:
    said = words(prose)
    parts = {
        "title": words(reading.title),
        "opening": said[:OPENING],
        "prose": said,
        "names": words(" ".join(reading.identifiers)),
    }
    return {part: _damped(Counter(found)) for part, found in parts.items()}


def _damped(counts: Counter[str]) -> dict[str, float]:
    terms = _terms(counts, {}).most_common(MAX_TERMS)
    return {term: 1 + math.log(count) for term, count in terms}


def _phrases(text: str) -> Iterable[str]:
    found = (next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text))
    return dict.fromkeys(phrase for phrase in found if len(phrase) > _MIN_JOINED and any(map(str.isalpha, phrase)))


def _terms(counts: Counter[str], spoken: dict[str, str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for word, count in counts.items():
        if count > 0:
            for term in terms_of(word):
                found[term] += count
                if term not in spoken or term == word.lower():
                    spoken[term] = word if term == word.lower() else term
    return found


def _chains(texts: Iterable[str]) -> Iterable[tuple[str, ...]]:
    for text in texts:
        for found in _CHAIN.findall(text):
            yield tuple(_SEPARATOR.split(found)[-_MAX_CHAIN:])


def _references(reading: Reading) -> Iterable[Reference]:
    for trace in reading.traces:
        yield from _frames(trace)
    for path in reading.paths:
        yield Reference(path)
    for link in reading.links:
        if found := _BLOB.search(link):
            yield Reference(found[1], int(found[2]) if found[2] else None)


def _frames(trace: Trace) -> Iterable[Reference]:
    for place, frame in reversed(list(enumerate(trace.frames, 1))):
        path = frame.path
        if "/" not in path and "\\" not in path and frame.function and trace.language in ("java", "kotlin", "scala"):
            # These name the file alone; the package stands in the function's name.
            package = frame.function.rpartition(".")[0].split("$")[0].split(".")[:-1]
            path = "/".join([*package, path])
        yield Reference(path, frame.line, place / len(trace.frames), len(trace.frames) - place, frame.name)
