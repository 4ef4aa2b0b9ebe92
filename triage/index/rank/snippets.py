"""The best pieces of a ranked file: the definitions that the issue is most likely about."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from triage.domain.code import Passage, Span
from triage.index.corpus.corpus import Corpus
from triage.index.corpus.tokens import split_into_terms
from triage.index.rank.query import Query
from triage.index.rank.ranking import Ranking

MAX_SNIPPETS = 3
OUTSIDE, TEST, BODY, NAME, OWNED, FRAME, SIBLINGS, IN_TITLE = -0.5, -0.5, 0.5, 0.2, 0.3, 1.0, 0.1, 0.2
"""Weights beside 1.0 for the words, learned on public issues and rounded; docs/localization.md has what each one buys.
The frame's is twice the learned one and costs 0.3 points: who reads a suspect looks for the frame that the issue shows.
"""
_FULL_BODY = 30
"""Lines of code; shorter definitions are less often at fault, longer ones not more."""
_MIN_NAME = 3
_COMMENT = re.compile(r"#(?!\[)|//|/\*|\*(?:[\s/]|$)|--\s")
_DOCSTRING = re.compile(r"[rRbBuU]{0,2}(\"\"\"|''')")
_TEST = re.compile(r"(?:^|\.)(?:tests?\.|test_)")
"""Some languages keep a file's tests at its end, as Rust does in `mod tests`."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A definition of a file, or a run of lines outside of any."""

    chunk: int
    """The one to show: a long definition has several."""
    score: float
    """Comparable within the file only."""


@dataclass(slots=True)
class _Group:
    """The chunks of one definition."""

    symbol: str
    """Qualified; empty outside of any definition."""
    chunks: list[int]
    word_score: float = 0.0
    """Of its best chunk, relative to the best of the file."""
    mention_rank: int | None = None
    """1 for the innermost frame or the only line that the issue names, then 2, 3."""
    best_chunk: int = -1

    @property
    def owner(self) -> str:
        return self.symbol.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.symbol.rpartition(".")[2]


def find_snippets(corpus: Corpus, ranking: Ranking, file: int, query: Query) -> list[Snippet]:
    """The file's definitions that share words with the issue or that it names by line, best first."""
    places = _rank_mentioned_chunks(corpus, file, ranking.mentions.lines.get(file, []))
    groups = _group_chunks(corpus, ranking, file, places)
    siblings = _score_siblings(groups)
    lines = ranking.evidence.file_lines(file)
    found: list[Snippet] = []
    for group in groups:
        if not group.word_score and group.mention_rank is None:
            continue
        worth = group.word_score + BODY * _score_body(corpus, group, lines) + SIBLINGS * siblings.get(group.owner, 0.0)
        worth += _score_name(query, group) if group.symbol else OUTSIDE
        worth += TEST if _TEST.search(group.symbol) else 0.0
        worth += FRAME / group.mention_rank if group.mention_rank else 0.0
        found.append(Snippet(group.best_chunk, worth))
    return sorted(found, key=lambda spot: (-spot.score, spot.chunk))


def choose_chunks(corpus: Corpus, ranking: Ranking, file: int, query: Query) -> list[int]:
    """At most three chunks, one for a definition, best first; the file's first one where no word fits."""
    chosen: list[int] = []
    for spot in find_snippets(corpus, ranking, file, query):
        if len(chosen) < MAX_SNIPPETS and not any(_do_overlap(corpus, spot.chunk, other) for other in chosen):
            chosen.append(spot.chunk)
    return chosen or list(corpus.find_chunks(file)[:1])


def read_passages(corpus: Corpus, file: int, chunks: Sequence[int]) -> list[Passage]:
    """Chunks with their text."""
    lines = corpus.files[file].read_lines()
    path = corpus.files[file].path
    found = []
    for chunk in chunks:
        start, end = int(corpus.chunk_starts[chunk]), int(corpus.chunk_ends[chunk])
        text = "\n".join(lines[start - 1 : end])
        found.append(Passage(span=Span(path=path, start=start, end=end), text=text, symbol=corpus.chunk_symbols[chunk]))
    return found


def code_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines that are neither blank nor comment nor docstring, as far as their beginnings tell."""
    closing = ""
    for line in lines:
        text = line.strip()
        if closing:
            closing = "" if closing in text else closing
        elif opening := _DOCSTRING.match(text):
            closing = opening[1] if text.count(opening[1]) == 1 else ""
        elif text and not _COMMENT.match(text):
            yield line


def _rank_mentioned_chunks(corpus: Corpus, file: int, named_lines: Sequence[int]) -> dict[int, int]:
    """Chunks with the lines that the issue names: 1 for the first line's, then 2, 3."""
    chunks = corpus.find_chunks(file)
    starts, ends = corpus.chunk_starts[chunks.start : chunks.stop], corpus.chunk_ends[chunks.start : chunks.stop]
    found: dict[int, int] = {}
    for place, line in enumerate(named_lines, 1):
        holding = np.flatnonzero((starts <= line) & (ends >= line))
        if len(holding):
            shortest = holding[np.argmin(ends[holding] - starts[holding])]
            found.setdefault(chunks[int(shortest)], place)
    return found


def _group_chunks(corpus: Corpus, ranking: Ranking, file: int, places: Mapping[int, int]) -> list[_Group]:
    by_symbol: dict[str, _Group] = {}
    groups: list[_Group] = []
    chunks = corpus.find_chunks(file)
    scores = ranking.chunk_scores[chunks.start : chunks.stop]
    best = float(scores.max()) if len(scores) else 0.0
    for chunk, score in zip(chunks, scores.tolist(), strict=True):
        symbol = corpus.chunk_symbols[chunk] or ""
        group = by_symbol.get(symbol) if symbol else None
        if group is None:
            group = by_symbol[symbol] = _Group(symbol, [])
            groups.append(group)
        _add_chunk(group, chunk, score / (best or 1.0), places.get(chunk))
    return groups


def _add_chunk(group: _Group, chunk: int, words: float, place: int | None) -> None:
    """Add a chunk. Shown is the one with the first named line, else the one with the best words."""
    group.chunks.append(chunk)
    nearer = place is not None and (group.mention_rank is None or place < group.mention_rank)
    if nearer or (group.mention_rank is None and (words > group.word_score or group.best_chunk < 0)):
        group.best_chunk = chunk
    group.word_score = max(group.word_score, words)
    group.mention_rank = place if nearer else group.mention_rank


def _score_siblings(groups: Iterable[_Group]) -> dict[str, float]:
    """How well the members of each owner fit together, relative to the owner whose members fit best."""
    total: dict[str, float] = defaultdict(float)
    for group in groups:
        if group.symbol:
            total[group.owner or group.symbol] += group.word_score**2
    most = max(total.values(), default=0.0)
    total.pop("", None)
    return {owner: fit / most for owner, fit in total.items()} if most else {}


def _score_body(corpus: Corpus, group: _Group, lines: Sequence[str]) -> float:
    """From 0 to 1 by the lines of code."""
    spans = ((int(corpus.chunk_starts[chunk]) - 1, int(corpus.chunk_ends[chunk])) for chunk in group.chunks)
    own = chain.from_iterable(lines[start:end] for start, end in spans)
    return sum(1 for _ in islice(code_lines(own), _FULL_BODY)) / _FULL_BODY


def _score_name(query: Query, group: _Group) -> float:
    terms = split_into_terms(group.name)
    parts = [term for term in terms if term != group.name.lower()] or terms
    worth = NAME * sum(part in query.term_weights for part in parts) / len(parts) if parts else 0.0
    if len(group.name) >= _MIN_NAME and group.name in query.title_words:
        worth += IN_TITLE
    if not query.owners.get(group.name, set()).isdisjoint(group.owner.split(".")):
        worth += OWNED
    return worth


def _do_overlap(corpus: Corpus, one: int, other: int) -> bool:
    starts, ends = corpus.chunk_starts, corpus.chunk_ends
    return bool(starts[one] <= ends[other] and starts[other] <= ends[one])
