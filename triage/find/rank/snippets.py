"""Chooses the snippets of a ranked file, the definitions that the issue is most likely about; looks up definitions."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from triage.domain.code import Passage, Span
from triage.find.parse.definitions import normalize_name
from triage.find.rank.query import Query
from triage.find.rank.search import Search
from triage.find.words.corpus import Corpus
from triage.find.words.tokens import split_into_terms

MAX_SNIPPETS = 3
MAX_DEFINITIONS = 50
"""Of one name; the file of each has to be decompressed."""
OUTSIDE, TEST, BODY, NAME, OWNED, FRAME, SIBLINGS, IN_TITLE = -0.5, -0.5, 0.5, 0.2, 0.3, 1.0, 0.1, 0.2
"""Weights; that of the words is 1.0. Learned on public issues and rounded; bench/README.md has the effect of each.
The frame's is twice the learned one and costs 0.3 points: a reader looks for the frame that the issue shows.
"""
_FULL_BODY = 30
"""Lines of code. Shorter definitions are less often at fault, longer ones not more often."""
_MIN_NAME = 3
_MAX_SIGNATURE_LINES = 20
COMMENT = re.compile(r"#(?!\[|\s*(?:define|error)\b)|//|/\*|\*(?:[\s/]|$)|--\s")
DOCSTRING = re.compile(r"(?:@\w*doc\s+~?[sS]?)?[rRbBuU]{0,2}(\"\"\"|''')")
"""In Elixir behind `@doc`."""
_TEST = re.compile(r"(?:^|\.)(?:tests?\.|test_)")
"""In some languages tests are at the end of a file, as in Rust's `mod tests`."""


@dataclass(frozen=True, slots=True)
class Snippet:
    chunk: int
    """The chunk to show: a long definition has several."""
    score: float
    """Comparable within the file only."""


@dataclass(slots=True)
class _Group:
    symbol: str
    """Qualified name; empty outside of any definition."""
    chunks: list[int]
    word_score: float = 0.0
    """Of its best chunk, relative to the best one of the file."""
    mention_rank: int | None = None
    """1 if it has the innermost frame or the only line that the issue mentions, then 2, 3."""
    best_chunk: int = -1

    @property
    def owner(self) -> str:
        return self.symbol.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.symbol.rpartition(".")[2]


def find_snippets(search: Search, file: int) -> list[Snippet]:
    """Return the file's definitions that share words with the issue or have a line that it mentions, best first."""
    groups = _group_chunks(search, file)
    siblings = _score_siblings(groups)
    found: list[Snippet] = []
    for group in groups:
        if not group.word_score and group.mention_rank is None:
            continue
        score = group.word_score + BODY * _score_body(search, file, group)
        score += SIBLINGS * siblings.get(group.owner, 0.0)
        score += _score_name(search.query, group) if group.symbol else OUTSIDE
        score += TEST if _TEST.search(group.symbol) else 0.0
        score += FRAME / group.mention_rank if group.mention_rank else 0.0
        found.append(Snippet(group.best_chunk, score))
    return sorted(found, key=lambda snippet: (-snippet.score, snippet.chunk))


def choose_chunks(search: Search, file: int) -> list[int]:
    """Return at most three chunks of different definitions, best first; the file's first chunk if no word fits."""
    corpus, chosen = search.corpus, list[int]()
    starts, ends = corpus.chunk_starts, corpus.chunk_ends
    for snippet in find_snippets(search, file):
        start, end = starts[snippet.chunk], ends[snippet.chunk]
        if len(chosen) < MAX_SNIPPETS and not any(start <= ends[one] and starts[one] <= end for one in chosen):
            chosen.append(snippet.chunk)
    return chosen or list(corpus.find_chunks(file)[:1])


def read_passages(corpus: Corpus, file: int, chunks: Sequence[int]) -> list[Passage]:
    lines = corpus.files[file].read_lines()
    starts, ends, symbols = corpus.chunk_starts, corpus.chunk_ends, corpus.chunk_symbols
    path = corpus.files[file].path
    return [_make_passage(path, lines, int(starts[one]), int(ends[one]), symbols[one]) for one in chunks]


def _make_passage(path: str, lines: Sequence[str], start: int, end: int, symbol: str | None) -> Passage:
    text = "\n".join(lines[start - 1 : end])
    return Passage(span=Span(path=path, start=start, end=end), text=text, symbol=symbol)


def look_up_definitions(corpus: Corpus, name: str) -> list[Passage]:
    """Return the definitions of a name such as `save` or `store::Store::save()`, those in product code first.

    If nothing belongs to the owner in the name (the method is inherited, or the owner is a module), all definitions of
    the last part.
    """
    words = name.replace("`", " ").split()
    parts = normalize_name(words[-1]).split(".") if words else [""]
    locations = corpus.definitions.get(parts[-1], ())
    inside = [location for location in locations if location.name.split(".")[-len(parts) :] == parts]
    passages: list[Passage] = []
    file, lines = -1, list[str]()
    for one in (inside or locations)[:MAX_DEFINITIONS]:  # a corpus has product code first
        if one.file != file:  # definitions of one file are adjacent
            file, lines = one.file, corpus.files[one.file].read_lines()
        passages.append(_make_passage(corpus.files[file].path, lines, one.start, one.end, one.name))
    return passages


def blank_comments(lines: Iterable[str]) -> Iterator[str]:
    """Return the lines, empty where they look like a comment or a docstring."""
    closing = ""
    for line in lines:
        text = line.strip()
        opening = None if closing else DOCSTRING.match(text)
        if closing:
            closing = "" if closing in text else closing
        elif opening:
            closing = opening[1] if text.count(opening[1]) == 1 else ""
        elif not COMMENT.match(text):
            yield line
            continue
        yield ""


def skip_docstring(lines: Sequence[str], start: int, end: int) -> int:
    """Return the first line after the docstring of a definition; `start` if it has none, or nothing else."""
    for number in range(start, min(end, start + _MAX_SIGNATURE_LINES) + 1):
        text = lines[number - 1].strip()
        if opening := DOCSTRING.match(text):
            is_open = text.count(opening[1]) == 1
            closing = (other for other in range(number + is_open, end + 1) if opening[1] in lines[other - 1])
            after = next(closing, end) + 1
            return after if after <= end else start
        if number > start and text and not text.endswith((",", "(", ":", ")", "{")):
            return start
    return start


def _group_chunks(search: Search, file: int) -> list[_Group]:
    """Return the chunks of a file by their definition; a chunk outside of definitions is its own group."""
    corpus = search.corpus
    ranks = _rank_mentioned_chunks(corpus, file, search.mentions.lines.get(file, []))
    by_symbol: dict[str, _Group] = {}
    groups: list[_Group] = []
    chunks = corpus.find_chunks(file)
    scores = search.chunk_scores[chunks.start : chunks.stop]
    best = float(scores.max()) if len(scores) else 0.0
    for chunk, score in zip(chunks, scores.tolist(), strict=True):
        symbol = corpus.chunk_symbols[chunk] or ""
        group = by_symbol.get(symbol) if symbol else None
        if group is None:
            group = by_symbol[symbol] = _Group(symbol, [])
            groups.append(group)
        _add_chunk(group, chunk, score / (best or 1.0), ranks.get(chunk))
    return groups


def _rank_mentioned_chunks(corpus: Corpus, file: int, lines: Sequence[int]) -> dict[int, int]:
    """Return the chunks with a mentioned line: 1 for that of the first line, then 2, 3."""
    chunks = corpus.find_chunks(file)
    starts, ends = corpus.chunk_starts[chunks.start : chunks.stop], corpus.chunk_ends[chunks.start : chunks.stop]
    ranks: dict[int, int] = {}
    for rank, line in enumerate(lines, 1):
        containing = np.flatnonzero((starts <= line) & (ends >= line))
        if len(containing):
            shortest = containing[np.argmin(ends[containing] - starts[containing])]
            ranks.setdefault(chunks[int(shortest)], rank)
    return ranks


def _add_chunk(group: _Group, chunk: int, word_score: float, mention_rank: int | None) -> None:
    group.chunks.append(chunk)
    is_nearer = mention_rank is not None and (group.mention_rank is None or mention_rank < group.mention_rank)
    if is_nearer or (group.mention_rank is None and (word_score > group.word_score or group.best_chunk < 0)):
        group.best_chunk = chunk
    group.word_score = max(group.word_score, word_score)
    group.mention_rank = mention_rank if is_nearer else group.mention_rank


def _score_siblings(groups: Iterable[_Group]) -> dict[str, float]:
    """Return how well the members of each class fit the issue together; 1 for the best."""
    sums: dict[str, float] = defaultdict(float)
    for group in groups:
        if group.symbol:
            sums[group.owner or group.symbol] += group.word_score**2
    highest = max(sums.values(), default=0.0)
    sums.pop("", None)
    return {owner: total / highest for owner, total in sums.items()} if highest else {}


def _score_body(search: Search, file: int, group: _Group) -> float:
    corpus, lines = search.corpus, search.file_lines(file)
    spans = ((int(corpus.chunk_starts[chunk]) - 1, int(corpus.chunk_ends[chunk])) for chunk in group.chunks)
    own_lines = chain.from_iterable(lines[start:end] for start, end in spans)
    return sum(1 for _ in islice(filter(str.strip, blank_comments(own_lines)), _FULL_BODY)) / _FULL_BODY


def _score_name(query: Query, group: _Group) -> float:
    """Return how well the name of a definition fits the words of the issue."""
    terms = split_into_terms(group.name)
    parts = [term for term in terms if term != group.name.lower()] or terms
    score = NAME * sum(part in query.term_weights for part in parts) / len(parts) if parts else 0.0
    if len(group.name) >= _MIN_NAME and group.name in query.title_words:
        score += IN_TITLE
    if not query.owners.get(group.name, set()).isdisjoint(group.owner.split(".")):
        score += OWNED
    return score
