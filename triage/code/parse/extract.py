"""What the index takes from files: compressed text, chunks, definitions and counted terms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triage.code.files.file_filter import load_text
from triage.code.files.languages import Language, detect_language
from triage.code.parse.chunks import Scope, build_scopes, iter_scopes, split_into_chunks
from triage.code.parse.definitions import find_definitions
from triage.code.words.bm25 import TermCounter, TermCounts
from triage.code.words.corpus import compress_text
from triage.code.words.tokens import Vocabulary

_MAX_WORDS = 200_000
"""Words remembered from one batch to the next, about 40 MB."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    path: str
    data: bytes | None
    """Its content; None to index the path only."""
    use_grammar: bool = True
    """Find definitions. Otherwise the file is split by lines."""


@dataclass
class ExtractedFiles:
    """What was extracted from a batch of files. File numbers count these files, term numbers count `terms`."""

    terms: list[str]
    skip_reasons: list[str] = field(default_factory=list)
    """Why each file is left out; empty if it is not."""
    compressed_texts: list[bytes | None] = field(default_factory=list)
    """The text of each file, see `File.compressed_text`."""
    definitions: list[tuple[int, int, int, str]] = field(default_factory=list)
    """File, first line, last line and qualified name of each definition."""
    chunks: list[tuple[int, int, int, int]] = field(default_factory=list)
    """File, first line, last line and the number of the definition around it, or -1."""
    by_chunk: TermCounts = field(default_factory=TermCounts)
    by_file: TermCounts = field(default_factory=TermCounts)
    """Of the files that are not left out, like `by_path`."""
    by_path: TermCounts = field(default_factory=TermCounts)


class _Counters(NamedTuple):
    by_chunk: TermCounter
    by_file: TermCounter
    by_path: TermCounter


class Extractor:
    """Extracts from files. It remembers words, since most words of a file are in other files too."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def extract(self, files: Sequence[SourceFile], on_file: Callable[[int], None] = lambda _: None) -> ExtractedFiles:
        """Extract from a batch of files. Calls `on_file` with the number of each file before reading it."""
        if self._vocabulary.known_words > _MAX_WORDS:
            self._vocabulary = Vocabulary()
        counters = _Counters(*(TermCounter(self._vocabulary) for _ in range(3)))
        extracted = ExtractedFiles([])
        for number, file in enumerate(files):
            on_file(number)
            self._extract_file(file, extracted, counters)
        tables = [counter.count() for counter in counters]
        extracted.by_chunk, extracted.by_file, extracted.by_path = tables
        extracted.terms = self._vocabulary.renumber_terms([table.terms for table in tables])
        return extracted

    def _extract_file(self, file: SourceFile, extracted: ExtractedFiles, counters: _Counters) -> None:
        text, skip_reason = load_text(file.data, file.path) if file.data is not None else (None, "")
        extracted.skip_reasons.append(skip_reason)
        extracted.compressed_texts.append(compress_text(text) if text is not None else None)
        if skip_reason:
            return
        path_words = self._vocabulary.encode_words(file.path)
        counters.by_path.add(path_words)
        words = self._vocabulary.encode_words(text or "")
        counters.by_file.add(words, path_words, path_words)
        if text is not None:
            language = detect_language(file.path) if file.use_grammar else None
            self._extract_chunks(_parse_scopes(text, language), words, path_words, extracted, counters.by_chunk)

    def _extract_chunks(
        self,
        root: Scope,
        words: NDArray[np.int32],
        path_words: NDArray[np.int32],
        extracted: ExtractedFiles,
        by_chunk: TermCounter,
    ) -> None:
        number = len(extracted.compressed_texts) - 1
        definitions: dict[str | None, int] = {None: -1}
        for scope in iter_scopes(root):
            definitions[scope.name] = len(extracted.definitions)
            extracted.definitions.append((number, scope.start, scope.end, scope.name))
        line_starts = [0, *(np.flatnonzero(words == 0) + 1).tolist(), len(words)]
        last = len(line_starts) - 2
        for chunk in split_into_chunks(root):
            chunk_words = words[line_starts[min(chunk.start - 1, last)] : line_starts[min(chunk.end, last + 1)]]
            line_ends = min(chunk.end, last) - chunk.start + 1
            if len(chunk_words) > line_ends:  # Not only empty lines.
                symbol_words = [self._vocabulary.encode_words(chunk.symbol)] if chunk.symbol else []
                by_chunk.add(chunk_words, path_words, *symbol_words)
                extracted.chunks.append((number, chunk.start, chunk.end, definitions[chunk.symbol]))


@lru_cache(maxsize=16)
def _parse_scopes(text: str, language: Language | None) -> Scope:
    # Copies of a file are often neighbours. A hostile tree repeats one file 300,000 times.
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    return build_scopes(find_definitions(text, language) if language else [], lines)
