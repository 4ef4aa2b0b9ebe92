"""Why a file ranked, in words that its maintainer understands."""

from collections.abc import Iterator, Sequence

from triage.index.corpus import Corpus, Place
from triage.index.names import line_meant
from triage.index.query import Query
from triage.index.rank import Ranking

_WORDS = 3
_DEFINITIONS = 2
_MIN_WORTH = 0.04
"""A definition that many files share is no reason."""


def reasons(corpus: Corpus, query: Query, ranking: Ranking, file: int, chunks: Sequence[int]) -> list[str]:
    """Sentences without a full stop, strongest first. They quote names of the repository and words of the issue."""
    found = [
        *_of_frames(corpus, ranking, file),
        *_of_paths(ranking, file),
        *_of_definitions(query, ranking, file),
        *_of_words(corpus, query, ranking, chunks),
    ]
    return [text for _, text in sorted(found, key=lambda one: -one[0])]


def _of_frames(corpus: Corpus, ranking: Ranking, file: int) -> Iterator[tuple[float, str]]:
    frames = ranking.named.frames
    frame = frames.get(file)
    if frame is None:
        return
    moved = frame.line is not None and line_meant(corpus, file, frame) != frame.line
    line = f" (line {frame.line}{' in the reporter’s version' if moved else ''})" if frame.line else ""
    if not frame.outer:
        yield 5.0, f"innermost frame of the stack trace{line}"
    elif frame.depth == max(other.depth for other in frames.values()):
        yield 4.5, f"innermost frame of the stack trace inside this repository{line}"
    else:
        further = f"{frame.outer} {'call' if frame.outer == 1 else 'calls'} before the error"
        yield 1.5 + frame.depth, f"frame of the stack trace, {further}{line}"


def _of_paths(ranking: Ranking, file: int) -> Iterator[tuple[float, str]]:
    named = ranking.named
    if file in named.path and file not in named.frame:
        yield 4.0 * named.path[file], "path named in the issue"
    if file in named.modules and file not in named.frame and file not in named.path:
        yield 2.2 * named.module[file], f"module `{named.modules[file]}` named in the issue"
    if file in named.stem_in_title:
        yield 1.5 * named.stem_in_title[file], "file name stands in the title"
    elif file in named.stem_in_body:
        yield 0.6 * named.stem_in_body[file], "file name stands in the issue"


def _of_definitions(query: Query, ranking: Ranking, file: int) -> Iterator[tuple[float, str]]:
    best: dict[str, tuple[float, Place]] = {}
    for weight, place in ranking.named.places.get(file, []):
        name = place.name.rpartition(".")[2]
        if weight >= _MIN_WORTH and weight > best.get(name, (0.0, place))[0]:
            best[name] = (weight, place)
    for name, (weight, place) in sorted(best.items(), key=lambda one: -one[1][0])[:_DEFINITIONS]:
        where = "the title" if name in query.title else "the issue"
        yield 2.0 * min(1.5, weight), f"defines `{place.name}`, named in {where}"


def _of_words(corpus: Corpus, query: Query, ranking: Ranking, chunks: Sequence[int]) -> Iterator[tuple[float, str]]:
    if not chunks:
        return
    chunk = max(chunks, key=lambda one: float(ranking.chunk_scores[one]))
    shared = _shared_words(corpus, query, ranking, chunk)
    if not shared:
        return
    symbol = corpus.chunk_symbols[chunk]
    place = f"`{symbol}`" if symbol else f"lines {corpus.chunk_starts[chunk]} to {corpus.chunk_ends[chunk]}"
    strength = 2.0 * float(ranking.chunk_scores[chunk]) / float(ranking.chunk_scores.max())
    yield strength, f"matches {', '.join(f'`{word}`' for word in shared)} in {place}"


def _shared_words(corpus: Corpus, query: Query, ranking: Ranking, chunk: int) -> list[str]:
    """The issue's words that count most in the chunk; a part of a word that is named already says nothing new."""
    parts = corpus.by_chunk.parts(chunk, ranking.weights)
    numbers = {corpus.vocabulary.number(term): term for term in query.weights}
    terms = {numbers[number]: worth for number, worth in parts.items()}
    shared: list[str] = []
    for term in sorted(terms, key=lambda one: -terms[one]):
        whole = max((other for other in terms if term in other), key=len)
        word = query.spoken.get(whole, whole)
        if not any(whole in other.lower() or other.lower() in whole for other in shared):
            shared.append(word)
        if len(shared) == _WORDS:
            break
    return shared
