"""An index as a file of the cache, and back. Each number that finds a place is looked at, see `columns`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triage.index.build.array_file import Columns, Damaged, columns_of, packed_columns
from triage.index.build.cache_folder import CacheFolder
from triage.index.build.cache_version import cache_version
from triage.index.build.cached_index import BLOB_TEXT, LEFT_OUT, OTHER_TEXT, REASONS, CachedIndex, WantedFile
from triage.index.corpus.bm25 import MAX_COUNT, Postings
from triage.index.corpus.corpus import Corpus, decompress_text
from triage.index.source.tree import has_blob_id

_TABLES = ("chunk", "file", "path")
_MOST_LINES = 1 << 20
"""A file has at most half a million bytes."""


class IndexCache:
    """The place of one repository's index in the cache: that of the commit that was indexed last."""

    def __init__(self, folder: CacheFolder, repository: str, depends: str) -> None:
        """Nothing is read yet.

        Args:
            folder: The cache.
            repository: Its name.
            depends: What it depends on beside the files and this package.
        """
        self._folder = folder
        self._name = f"index-{blake2b(repository.encode('utf-8', 'replace'), digest_size=16).hexdigest()}.bin"
        self._stamp = f"{cache_version()} {depends}"

    def read(self) -> CachedIndex | None:
        """What is kept; none when there is nothing, or nothing that fits."""
        data = self._folder.read(self._name)
        if data is None:
            return None
        try:
            head, columns = columns_of(data)
            return _kept(head, columns) if head.get("stamp") == self._stamp else None
        except (Damaged, KeyError, ValueError, TypeError):
            self._folder.report_problem("was damaged and is made anew")
            return None

    def write(self, kept: CachedIndex) -> None:
        """Keep an index in place of the older one."""
        head = {
            "stamp": self._stamp,
            **{name: list(getattr(kept, name)) for name in ("paths", "refs", "names", "terms")},
        }
        columns: dict[str, NDArray[Any]] = {
            "states": kept.states,
            "texts": np.frombuffer(b"".join(kept.texts), dtype="|u1"),
            "text_sizes": np.fromiter(map(len, kept.texts), dtype="<i4", count=len(kept.texts)),
            "places": kept.places,
            "chunks": kept.chunks,
        }
        for name, table in zip(_TABLES, kept.tables, strict=True):
            columns[f"{name} terms"] = np.diff(table.starts).astype("<i4")
            columns[f"{name} documents"], columns[f"{name} counts"] = table.documents, table.counts
        self._folder.write(self._name, packed_columns(head, columns))


def make_cached_index(wanted: Sequence[WantedFile], states: Iterable[int], corpus: Corpus) -> CachedIndex:
    """What is to be kept of an index.

    Args:
        wanted: Its files, in order.
        states: Of each file. Whether its text is its blob is found out here.
        corpus: The index.
    """
    files = iter(corpus.files)
    known, texts = [], []
    for one, state in zip(wanted, states, strict=True):
        file = next(files) if state < LEFT_OUT else None
        packed = file.compressed_text or b"" if file and state == BLOB_TEXT else b""
        # What comes from the cache was looked at when it came there first.
        if (
            file
            and state == BLOB_TEXT
            and not file.blob_id
            and not has_blob_id(decompress_text(packed) or b"", one.entry.blob_id)
        ):
            known.append(OTHER_TEXT)
            texts.append(b"")
        else:
            known.append(state)
            texts.append(packed)
    names: dict[str, int] = {}
    places = [
        (place.file, place.start, place.end, names.setdefault(place.name, len(names)))
        for alike in corpus.definitions.values()
        for place in alike
    ]
    symbols = [-1 if symbol is None else names.setdefault(symbol, len(names)) for symbol in corpus.chunk_symbols]
    return CachedIndex(
        paths=[one.entry.path for one in wanted],
        refs=[one.entry.blob_id for one in wanted],
        states=np.array(known, dtype=np.uint8),
        texts=texts,
        names=list(names),
        places=np.array(places, dtype=np.int32).reshape(-1, 4).T,
        chunks=np.stack(
            [corpus.chunk_files, corpus.chunk_starts, corpus.chunk_ends, np.array(symbols, dtype=np.int32)]
        ),
        terms=list(corpus.vocabulary.terms),
        tables=(corpus.by_chunk.postings, corpus.by_file.postings, corpus.by_path.postings),
    )


def _kept(head: Mapping[str, Any], columns: Columns) -> CachedIndex:
    """An index from its lists and columns. Raises Damaged, KeyError, ValueError or TypeError."""
    paths, refs, names, terms = (_strings(head[name]) for name in ("paths", "refs", "names", "terms"))
    states, sizes = columns["states"], columns["text_sizes"]
    _need(len(paths) == len(set(paths)) == len(refs) == len(states) == len(sizes))
    _need(_within(states, 0, LEFT_OUT + len(REASONS)), len(set(terms)) == len(terms))
    documents = int((states < LEFT_OUT).sum())
    places, chunks = columns["places"], columns["chunks"]
    _need(_are_lines(places, documents, len(names), 0), _are_lines(chunks, documents, len(names), -1))
    _need(bool((np.diff(chunks[0]) >= 0).all()))
    rows = (chunks.shape[1], documents, documents)
    tables = [_table(columns, name, len(terms), size) for name, size in zip(_TABLES, rows, strict=True)]
    texts = list(_texts(columns["texts"], sizes))
    return CachedIndex(paths, refs, states, texts, names, places, chunks, terms, (tables[0], tables[1], tables[2]))


def _strings(found: object) -> list[str]:
    _need(isinstance(found, list))
    assert isinstance(found, list)
    "\n".join(found).encode()  # raises TypeError for what is no string, ValueError for half a character
    return found


def _texts(texts: NDArray[Any], sizes: NDArray[Any]) -> Iterator[bytes]:
    _need(_within(sizes, 0, len(texts) + 1), int(sizes.sum(dtype=np.int64)) == len(texts))
    return (texts[start:end].tobytes() for start, end in pairwise([0, *np.cumsum(sizes, dtype=np.int64).tolist()]))


def _table(columns: Columns, name: str, terms: int, size: int) -> Postings:
    frequency, documents, counts = (columns[f"{name} {part}"] for part in ("terms", "documents", "counts"))
    _need(len(frequency) == terms, len(documents) == len(counts) == int(frequency.sum(dtype=np.int64)))
    _need(_within(frequency, 0, size + 1), _within(documents, 0, size), _within(counts, 1, MAX_COUNT))
    return Postings(np.concatenate([[0], np.cumsum(frequency, dtype=np.int64)]), documents, counts, size)


def _are_lines(rows: NDArray[Any], documents: int, names: int, lowest: int) -> bool:
    """Whether the rows are document, first line, last line and name."""
    document, start, end, name = rows
    return (
        _within(document, 0, documents)
        and _within(start, 1, _MOST_LINES)
        and _within(end, 1, _MOST_LINES)
        and bool((start <= end).all())
        and _within(name, lowest, names)
    )


def _within(column: NDArray[Any], low: int, high: int) -> bool:
    return column.dtype.kind in "iu" and (column.size == 0 or bool(column.min() >= low and column.max() < high))


def _need(*holds: bool) -> None:
    if not all(holds):
        raise Damaged
