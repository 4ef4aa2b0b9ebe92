"""Stores an index in the cache folder, and checks every number of it that is used as an index or a size."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain, pairwise

import numpy as np

from triage.code.git.tree import has_blob_id
from triage.code.indexing.array_file import Array
from triage.code.indexing.cache_folder import CacheFolder
from triage.code.indexing.cache_version import cache_version
from triage.code.indexing.cached_index import BLOB_TEXT, LEFT_OUT, OTHER_TEXT, REASONS, CachedIndex, WantedFile
from triage.code.words.bm25 import MAX_COUNT, Postings
from triage.code.words.corpus import Corpus, decompress_text

_LIST_NAMES = ("paths", "blob_ids", "names", "terms")
_TABLE_NAMES = ("chunk", "file", "path")
ARRAY_NAMES = (
    *("lists", "states", "texts", "text sizes", "definitions", "chunks"),
    *(f"{table} {part}" for table in _TABLE_NAMES for part in ("frequencies", "documents", "counts")),
)
_MAX_LISTS_BYTES = 1 << 26
"""Parsed JSON takes ten times as much memory."""
_MAX_LINES = 1 << 20
"""A file has at most half a million bytes."""


class IndexCache:
    """The cached index of one repository: that of the commit that was indexed last."""

    def __init__(self, folder: CacheFolder, repository: str, settings: str) -> None:
        """Read nothing yet. `settings` are what the index depends on beside the files and this package."""
        self._folder = folder
        self._name = f"index-{blake2b(repository.encode('utf-8', 'replace'), digest_size=16).hexdigest()}.npy"
        self._version = f"{cache_version()} {settings}"

    def read(self) -> CachedIndex | None:
        """The cached index; None when there is none, or one of another version."""
        found = self._folder.read(self._name)
        if found is None:
            return None
        try:
            arrays = dict(zip(ARRAY_NAMES, found, strict=True))
            _require(arrays["lists"].nbytes <= _MAX_LISTS_BYTES)
            lists = json.loads(arrays["lists"].tobytes())
            return _check_index(lists, arrays) if lists["version"] == self._version else None
        except (KeyError, ValueError, TypeError, RecursionError):
            self._folder.report_damage()
            return None

    def write(self, index: CachedIndex) -> None:
        lists = {"version": self._version, **{name: list(getattr(index, name)) for name in _LIST_NAMES}}
        self._folder.write(
            self._name,
            [
                np.frombuffer(json.dumps(lists).encode(), dtype="|u1"),
                index.states,
                np.frombuffer(b"".join(index.texts), dtype="|u1"),
                np.fromiter(map(len, index.texts), dtype="<i4", count=len(index.texts)),
                index.definitions,
                index.chunks,
                *chain.from_iterable(
                    (np.diff(one.starts).astype("<i4"), one.documents, one.counts) for one in index.tables
                ),
            ],
        )


def make_cached_index(wanted: Sequence[WantedFile], states: Iterable[int], corpus: Corpus) -> CachedIndex:
    """Make what the cache stores. `BLOB_TEXT` becomes `OTHER_TEXT` where the text differs from the blob."""
    files = iter(corpus.files)
    stored_states, texts = [], []
    for one, state in zip(wanted, states, strict=True):
        file = next(files) if state < LEFT_OUT else None
        text = file.compressed_text or b"" if file and state == BLOB_TEXT else b""
        # A text that came from the cache was compared when it was stored first.
        is_other = file and state == BLOB_TEXT and not file.blob_id
        is_other = is_other and not has_blob_id(decompress_text(text) or b"", one.entry.blob_id)
        stored_states.append(OTHER_TEXT if is_other else state)
        texts.append(b"" if is_other else text)
    names: dict[str, int] = {}
    definitions = [
        (location.file, location.start, location.end, names.setdefault(location.name, len(names)))
        for same_name in corpus.definitions.values()
        for location in same_name
    ]
    symbols = [-1 if symbol is None else names.setdefault(symbol, len(names)) for symbol in corpus.chunk_symbols]
    return CachedIndex(
        paths=[one.entry.path for one in wanted],
        blob_ids=[one.entry.blob_id for one in wanted],
        states=np.array(stored_states, dtype=np.uint8),
        texts=texts,
        names=list(names),
        definitions=np.array(definitions, dtype=np.int32).reshape(-1, 4).T,
        chunks=np.stack(
            [corpus.chunk_files, corpus.chunk_starts, corpus.chunk_ends, np.array(symbols, dtype=np.int32)]
        ),
        terms=list(corpus.vocabulary.terms),
        tables=(corpus.by_chunk.postings, corpus.by_file.postings, corpus.by_path.postings),
    )


def _check_index(lists: Mapping[str, object], arrays: Mapping[str, Array]) -> CachedIndex:
    """Raises KeyError, ValueError or TypeError."""
    paths, blob_ids, names, terms = (_check_strings(lists[name]) for name in _LIST_NAMES)
    states, sizes = arrays["states"], arrays["text sizes"]
    _require(len(paths) == len(set(paths)) == len(blob_ids) == len(states) == len(sizes))
    _require(_is_between(states, 0, LEFT_OUT + len(REASONS)), len(set(terms)) == len(terms))
    documents = int((states < LEFT_OUT).sum())
    definitions, chunks = arrays["definitions"], arrays["chunks"]
    _require(_are_locations(definitions, documents, len(names), 0), _are_locations(chunks, documents, len(names), -1))
    _require(bool((np.diff(chunks[0]) >= 0).all()))
    rows = (chunks.shape[1], documents, documents)
    by_chunk, by_file, by_path = (
        _check_table(arrays, table, len(terms), size) for table, size in zip(_TABLE_NAMES, rows, strict=True)
    )
    texts = list(_split_texts(arrays["texts"], sizes))
    return CachedIndex(paths, blob_ids, states, texts, names, definitions, chunks, terms, (by_chunk, by_file, by_path))


def _check_strings(found: object) -> list[str]:
    _require(isinstance(found, list))
    assert isinstance(found, list)
    "\n".join(found).encode()  # TypeError for what is no string, ValueError for half a character
    return found


def _split_texts(texts: Array, sizes: Array) -> Iterator[bytes]:
    _require(_is_between(sizes, 0, len(texts) + 1))
    _require(int(sizes.sum(dtype=np.int64)) == len(texts))
    return (texts[start:end].tobytes() for start, end in pairwise([0, *np.cumsum(sizes, dtype=np.int64).tolist()]))


def _check_table(arrays: Mapping[str, Array], table: str, terms: int, size: int) -> Postings:
    frequencies, documents, counts = (arrays[f"{table} {part}"] for part in ("frequencies", "documents", "counts"))
    _require(_is_between(frequencies, 0, size + 1), _is_between(documents, 0, size), _is_between(counts, 1, MAX_COUNT))
    _require(len(frequencies) == terms, len(documents) == len(counts) == int(frequencies.sum(dtype=np.int64)))
    return Postings(np.concatenate([[0], np.cumsum(frequencies, dtype=np.int64)]), documents, counts, size)


def _are_locations(rows: Array, documents: int, names: int, min_name: int) -> bool:
    document, start, end, name = rows
    return (
        _is_between(document, 0, documents)
        and _is_between(start, 1, _MAX_LINES)
        and _is_between(end, 1, _MAX_LINES)
        and bool((start <= end).all())
        and _is_between(name, min_name, names)
    )


def _is_between(array: Array, low: int, high: int) -> bool:
    """Whether the array has one dimension and only integers from `low` up to but without `high`."""
    if array.ndim != 1 or array.dtype.kind not in "iu":
        return False
    return array.size == 0 or bool(array.min() >= low and array.max() < high)


def _require(*conditions: bool) -> None:
    if not all(conditions):
        raise ValueError("not an index")
