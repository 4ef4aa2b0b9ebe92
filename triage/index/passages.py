"""The best pieces of a ranked file."""

from collections.abc import Sequence

from triage.domain.code import Passage, Span
from triage.index.corpus import Corpus
from triage.index.rank import Ranking

BEST = 3
_DEFINES = 0.5
"""Added to a chunk that starts a definition which the issue names, relative to the best chunk of the repository."""


def best_chunks(corpus: Corpus, ranking: Ranking, file: int) -> list[int]:
    """At most three chunks: those with lines that the issue names first, then by score. They do not overlap."""
    chunks = corpus.chunks_of(file)
    named_lines = ranking.named.lines.get(file, [])
    pinned = [chunk for line in named_lines if (chunk := _holding(corpus, chunks, line)) is not None]
    worth = _worths(corpus, ranking, file, chunks)
    by_worth = sorted((chunk for chunk in chunks if worth[chunk] > 0), key=lambda chunk: (-worth[chunk], chunk))
    chosen: list[int] = []
    for chunk in [*pinned, *by_worth, *chunks[:1]]:
        if len(chosen) < BEST and not any(_overlap(corpus, chunk, other) for other in chosen):
            chosen.append(chunk)
    return chosen if pinned or by_worth else chosen[:1]


def passages(corpus: Corpus, file: int, chunks: Sequence[int]) -> list[Passage]:
    """Chunks with their text."""
    lines = corpus.files[file].lines()
    path = corpus.files[file].path
    found = []
    for chunk in chunks:
        start, end = int(corpus.chunk_starts[chunk]), int(corpus.chunk_ends[chunk])
        text = "\n".join(lines[start - 1 : end])
        found.append(Passage(span=Span(path=path, start=start, end=end), text=text, symbol=corpus.chunk_symbols[chunk]))
    return found


def _worths(corpus: Corpus, ranking: Ranking, file: int, chunks: Sequence[int]) -> dict[int, float]:
    best = float(ranking.chunk_scores.max()) if len(ranking.chunk_scores) else 0.0
    worth = {chunk: float(ranking.chunk_scores[chunk]) / best if best else 0.0 for chunk in chunks}
    for weight, place in ranking.named.places.get(file, []):
        chunk = _holding(corpus, chunks, place.start)
        if chunk is not None:
            worth[chunk] += _DEFINES * min(1.0, weight)
    return worth


def _holding(corpus: Corpus, chunks: Sequence[int], line: int) -> int | None:
    """The shortest chunk with the line."""
    holding = [chunk for chunk in chunks if corpus.chunk_starts[chunk] <= line <= corpus.chunk_ends[chunk]]
    return min(holding, key=lambda chunk: corpus.chunk_ends[chunk] - corpus.chunk_starts[chunk], default=None)


def _overlap(corpus: Corpus, one: int, other: int) -> bool:
    starts, ends = corpus.chunk_starts, corpus.chunk_ends
    return bool(starts[one] <= ends[other] and starts[other] <= ends[one])
