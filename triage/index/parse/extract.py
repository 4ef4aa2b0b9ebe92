"""What the index keeps of files: packed text, chunks, definitions, counted terms."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.bm25 import TermCounter, TermCounts
from triage.index.corpus.corpus import compress_text
from triage.index.corpus.tokens import Vocabulary
from triage.index.files.file_filter import load_text
from triage.index.files.languages import detect_language
from triage.index.parse.chunks import Scope, build_scopes, iter_scopes, split_into_chunks
from triage.index.parse.definitions import find_definitions

_MAX_WORDS = 200_000
"""Words remembered from one batch of files to the next, about 40 MB."""
_SYNTAX_SECONDS = 10.0
"""For one batch; files that come later are cut by lines."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to take apart."""

    path: str
    data: bytes | None
    """Its content; none when only the path is to be indexed."""
    use_grammar: bool = True
    """Look for definitions; otherwise it is cut by lines."""
    blob_id: str = ""
    """What was taken apart earlier: the blob that its text must be, see `File`."""


@dataclass
class ExtractedFiles:
    """What was taken from some files. Numbers of files count these files, numbers of terms count `terms`."""

    terms: list[str]
    skip_reasons: list[str] = field(default_factory=list)
    """Why each file is left out; empty when it is not."""
    compressed_texts: list[bytes | None] = field(default_factory=list)
    """Each file's text as `File` keeps it."""
    definitions: list[tuple[int, int, int, str]] = field(default_factory=list)
    """File, first line, last line and qualified name of each definition."""
    chunks: list[tuple[int, int, int, int]] = field(default_factory=list)
    """File, first line, last line, and the number of the place around it or -1."""
    by_chunk: TermCounts = field(default_factory=TermCounts)
    by_file: TermCounts = field(default_factory=TermCounts)
    """Of the files that are not left out, like `by_path`."""
    by_path: TermCounts = field(default_factory=TermCounts)
    timed_out: bool = False
    """Some file was cut by lines for lack of time only."""


class Extractor:
    """Takes files apart. It remembers words: most of a file's stand in others too."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def extract(self, sources: Sequence[SourceFile], note: Callable[[int], None] = lambda _: None) -> ExtractedFiles:
        """Take files apart.

        Args:
            sources: The files.
            note: Told the number of each file before it is looked at.
        """
        if self._vocabulary.known_words > _MAX_WORDS:
            self._vocabulary = Vocabulary()
        tables = [TermCounter(self._vocabulary) for _ in range(3)]
        extract = ExtractedFiles([])
        latest = time.monotonic() + _SYNTAX_SECONDS
        for number, source in enumerate(sources):
            note(number)
            late = source.use_grammar and time.monotonic() >= latest
            extract.timed_out |= late
            self._extract_file(replace(source, use_grammar=False) if late else source, extract, *tables)
        extract.by_chunk, extract.by_file, extract.by_path = counted = [table.count() for table in tables]
        extract.terms = self._vocabulary.renumber_terms([one.terms for one in counted])
        return extract

    def _extract_file(
        self,
        source: SourceFile,
        extract: ExtractedFiles,
        by_chunk: TermCounter,
        by_file: TermCounter,
        by_path: TermCounter,
    ) -> None:
        text, reason = load_text(source.data, source.path) if source.data is not None else (None, "")
        extract.skip_reasons.append(reason)
        extract.compressed_texts.append(compress_text(text) if text is not None else None)
        if reason:
            return
        path_words = self._vocabulary.encode_words(source.path)
        by_path.add(path_words)
        words = self._vocabulary.encode_words(text or "")
        by_file.add(words, path_words, path_words)
        if text is not None:
            self._count_chunks(_parse_scopes(source, text), words, path_words, extract, by_chunk)

    def _count_chunks(
        self,
        root: Scope,
        words: NDArray[np.int32],
        path_words: NDArray[np.int32],
        extract: ExtractedFiles,
        by_chunk: TermCounter,
    ) -> None:
        """Words of the lines, with the path's and the symbol's."""
        file = len(extract.compressed_texts) - 1
        places: dict[str | None, int] = {None: -1}
        for one in iter_scopes(root):
            places[one.name] = len(extract.definitions)
            extract.definitions.append((file, one.start, one.end, one.name))
        starts = [0, *(np.flatnonzero(words == 0) + 1).tolist(), len(words)]
        last = len(starts) - 2
        for chunk in split_into_chunks(root):
            piece = words[starts[min(chunk.start - 1, last)] : starts[min(chunk.end, last + 1)]]
            line_ends = min(chunk.end, last) - chunk.start + 1
            if len(piece) > line_ends:
                by_chunk.add(
                    piece, path_words, *([self._vocabulary.encode_words(chunk.symbol)] if chunk.symbol else [])
                )
                extract.chunks.append((file, chunk.start, chunk.end, places[chunk.symbol]))


def _parse_scopes(source: SourceFile, text: str) -> Scope:
    language = detect_language(source.path) if source.use_grammar else None
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    return build_scopes(find_definitions(text, language) if language else [], lines)
