"""What the index keeps of files: packed text, chunks, definitions, counted terms."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.bm25 import Counted, Counting
from triage.index.corpus.corpus import packed
from triage.index.corpus.tokens import Vocabulary
from triage.index.files.file_filter import text_or_reason
from triage.index.files.languages import language_of
from triage.index.parse.chunks import Scope, cut, named, scopes
from triage.index.parse.definitions import definitions_of

_MAX_WORDS = 200_000
"""Words remembered from one batch of files to the next, about 40 MB."""
_SYNTAX_SECONDS = 10.0
"""For one batch; files that come later are cut by lines."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to take apart."""

    path: str
    data: bytes | None
    """Its content; none when only the path is to be indexed."""
    by_syntax: bool = True
    """Look for definitions; otherwise it is cut by lines."""
    ref: str = ""
    """What was taken apart earlier: the blob that its text must be, see `File`."""


@dataclass
class Extract:
    """What was taken from some files. Numbers of files count these files, numbers of terms count `terms`."""

    terms: list[str]
    reasons: list[str] = field(default_factory=list)
    """Why each file is left out; empty when it is not."""
    packed: list[bytes | None] = field(default_factory=list)
    """Each file's text as `File` keeps it."""
    places: list[tuple[int, int, int, str]] = field(default_factory=list)
    """File, first line, last line and qualified name of each definition."""
    chunks: list[tuple[int, int, int, int]] = field(default_factory=list)
    """File, first line, last line, and the number of the place around it or -1."""
    by_chunk: Counted = field(default_factory=Counted)
    by_file: Counted = field(default_factory=Counted)
    """Of the files that are not left out, like `by_path`."""
    by_path: Counted = field(default_factory=Counted)
    late: bool = False
    """Some file was cut by lines for lack of time only."""


class Extractor:
    """Takes files apart. It remembers words: most of a file's stand in others too."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def extract(self, sources: Sequence[Source], note: Callable[[int], None] = lambda _: None) -> Extract:
        """Take files apart.

        Args:
            sources: The files.
            note: Told the number of each file before it is looked at.
        """
        if self._vocabulary.forms > _MAX_WORDS:
            self._vocabulary = Vocabulary()
        tables = [Counting(self._vocabulary) for _ in range(3)]
        extract = Extract([])
        latest = time.monotonic() + _SYNTAX_SECONDS
        for number, source in enumerate(sources):
            note(number)
            late = source.by_syntax and time.monotonic() >= latest
            extract.late |= late
            self._take(replace(source, by_syntax=False) if late else source, extract, *tables)
        extract.by_chunk, extract.by_file, extract.by_path = counted = [table.counted() for table in tables]
        extract.terms = self._vocabulary.renumbered([one.terms for one in counted])
        return extract

    def _take(self, source: Source, extract: Extract, by_chunk: Counting, by_file: Counting, by_path: Counting) -> None:
        text, reason = text_or_reason(source.data, source.path) if source.data is not None else (None, "")
        extract.reasons.append(reason)
        extract.packed.append(packed(text) if text is not None else None)
        if reason:
            return
        path_words = self._vocabulary.words_of(source.path)
        by_path.add(path_words)
        words = self._vocabulary.words_of(text or "")
        by_file.add(words, path_words, path_words)
        if text is not None:
            self._count_chunks(_scopes(source, text), words, path_words, extract, by_chunk)

    def _count_chunks(
        self, root: Scope, words: NDArray[np.int32], path_words: NDArray[np.int32], extract: Extract, by_chunk: Counting
    ) -> None:
        """Words of the lines, with the path's and the symbol's."""
        file = len(extract.packed) - 1
        places: dict[str | None, int] = {None: -1}
        for one in named(root):
            places[one.name] = len(extract.places)
            extract.places.append((file, one.start, one.end, one.name))
        starts = [0, *(np.flatnonzero(words == 0) + 1).tolist(), len(words)]
        last = len(starts) - 2
        for chunk in cut(root):
            piece = words[starts[min(chunk.start - 1, last)] : starts[min(chunk.end, last + 1)]]
            line_ends = min(chunk.end, last) - chunk.start + 1
            if len(piece) > line_ends:
                by_chunk.add(piece, path_words, *([self._vocabulary.words_of(chunk.symbol)] if chunk.symbol else []))
                extract.chunks.append((file, chunk.start, chunk.end, places[chunk.symbol]))


def _scopes(source: Source, text: str) -> Scope:
    language = language_of(source.path) if source.by_syntax else None
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    return scopes(definitions_of(text, language) if language else [], lines)
