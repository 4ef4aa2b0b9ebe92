"""The indexed repository: files, chunks, definitions, and the tables that score them."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.bm25 import BM25
from triage.index.corpus.tokens import Vocabulary
from triage.index.files.file_filter import CODE_BYTES
from triage.index.files.file_roles import Kind
from triage.index.files.packages import units_of
from triage.index.source.decode import lines_of
from triage.index.source.tree import is_blob
from triage.secrets.likely_secrets import masked

PACKAGE_STEMS = ("__init__", "index", "mod")
"""Files that stand for their folder: `__init__.py`, `index.ts`, `mod.rs`."""


@dataclass(frozen=True, slots=True)
class File:
    """An indexed file."""

    path: str
    kind: Kind
    packed: bytes | None = None
    """Compressed text, a quarter of its size; none when only the path is indexed."""
    ref: str = ""
    """The blob that the text must be, letter by letter, where it comes from a cache; empty where we read it."""

    @property
    def stem(self) -> str:
        """Name without extension, lower case."""
        name = self.path.rpartition("/")[2]
        return (name.rpartition(".")[0] or name).lower()

    def lines(self) -> list[str]:
        """Lines without their ends; empty when only the path is indexed."""
        return lines_of(self.text() or "")

    def text(self) -> str | None:
        """The text, none when only the path is indexed. What a cache holds in a text's place is none either."""
        if self.packed is None:
            return None
        if not self.ref:
            return zlib.decompress(self.packed).decode("utf-8", "replace")
        data = unpacked(self.packed) if _is_its_text(self.packed, self.ref, self.path) else None
        return data.decode("utf-8", "replace") if data is not None else None


def packed(text: str) -> bytes:
    """A text as `File` keeps it."""
    return zlib.compress(text.encode("utf-8", "replace"), level=1)


def unpacked(data: bytes) -> bytes | None:
    """What was packed; none for nonsense. No more than a file may have: a few bytes can unpack to gigabytes."""
    try:
        return zlib.decompressobj().decompress(data, CODE_BYTES)
    except zlib.error:
        return None


@lru_cache(maxsize=10_000)
def _is_its_text(data: bytes, ref: str, path: str) -> bool:
    """Whether packed bytes are the text of a blob. One that holds a key is not: the text would have it masked."""
    found = unpacked(data)
    if found is None or not is_blob(found, ref):
        return False
    text = found.decode("utf-8", "replace")
    return masked(text, path) == text


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is defined. Lines are 1-based and inclusive."""

    file: int
    start: int
    end: int
    name: str
    """Qualified."""


@dataclass(frozen=True)
class Corpus:
    """Everything that was read from the commit. Files and chunks are known by their numbers."""

    files: Sequence[File]
    chunk_files: NDArray[np.int32]
    """The file of each chunk, ascending: a file's chunks stand side by side."""
    chunk_starts: NDArray[np.int32]
    chunk_ends: NDArray[np.int32]
    chunk_symbols: Sequence[str | None]
    definitions: Mapping[str, Sequence[Place]]
    """By own name, as written; those of one name in the order of their files."""
    vocabulary: Vocabulary
    by_chunk: BM25
    by_file: BM25
    by_path: BM25

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Path to number of each file."""
        return {file.path: number for number, file in enumerate(self.files)}

    @cached_property
    def stems(self) -> Mapping[str, Sequence[int]]:
        """Files by name without extension, lower case."""
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            found.setdefault(file.stem, []).append(number)
        return found

    @cached_property
    def priors(self) -> NDArray[np.float32]:
        """Factor on each file's score."""
        return np.array([file.kind.prior for file in self.files], dtype=np.float32)

    @cached_property
    def likely(self) -> NDArray[np.bool_]:
        """Which files are sources that a fix may well edit."""
        return np.array([file.kind.likely for file in self.files], dtype=bool)

    @cached_property
    def folders(self) -> Mapping[str, Sequence[int]]:
        """Files by the folder that they stand in."""
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            found.setdefault(file.path.rpartition("/")[0], []).append(number)
        return found

    @cached_property
    def units(self) -> Mapping[str, frozenset[str]]:
        """Folders that are packages of their own, and the names of each."""
        return units_of(file.path for file in self.files)

    def lines(self, path: str) -> list[str] | None:
        """Lines of a file as they were indexed; none when its text is not."""
        number = self.numbers.get(path)
        text = self.files[number].text() if number is not None else None
        return lines_of(text) if text is not None else None

    def chunks_of(self, file: int) -> range:
        """Numbers of a file's chunks."""
        first, last = np.searchsorted(self.chunk_files, (file, file + 1))
        return range(int(first), int(last))
