"""The indexed repository: files, chunks, definitions, and the tables that score them."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.bm25 import BM25
from triage.index.corpus.tokens import Vocabulary
from triage.index.files.file_filter import MAX_CODE_BYTES
from triage.index.files.file_roles import FileRole
from triage.index.files.packages import find_packages
from triage.index.source.decode import split_lines
from triage.index.source.tree import has_blob_id
from triage.secrets.likely_secrets import redact_likely_secrets

PACKAGE_STEMS = ("__init__", "index", "mod")
"""Files that stand for their folder: `__init__.py`, `index.ts`, `mod.rs`."""


@dataclass(frozen=True, slots=True)
class File:
    """An indexed file."""

    path: str
    role: FileRole
    compressed_text: bytes | None = None
    """Compressed text, a quarter of its size; none when only the path is indexed."""
    blob_id: str = ""
    """The blob that the text must be, letter by letter, where it comes from a cache; empty where we read it."""

    @property
    def stem(self) -> str:
        """Name without extension, lower case."""
        name = self.path.rpartition("/")[2]
        return (name.rpartition(".")[0] or name).lower()

    def read_lines(self) -> list[str]:
        """Lines without their ends; empty when only the path is indexed."""
        return split_lines(self.read_text() or "")

    def read_text(self) -> str | None:
        """The text, none when only the path is indexed. What a cache holds in a text's place is none either."""
        if self.compressed_text is None:
            return None
        if not self.blob_id:
            return zlib.decompress(self.compressed_text).decode("utf-8", "replace")
        data = (
            decompress_text(self.compressed_text)
            if _is_its_text(self.compressed_text, self.blob_id, self.path)
            else None
        )
        return data.decode("utf-8", "replace") if data is not None else None


def compress_text(text: str) -> bytes:
    """A text as `File` keeps it."""
    return zlib.compress(text.encode("utf-8", "replace"), level=1)


def decompress_text(data: bytes) -> bytes | None:
    """What was packed; none for nonsense. No more than a file may have: a few bytes can unpack to gigabytes."""
    try:
        return zlib.decompressobj().decompress(data, MAX_CODE_BYTES)
    except zlib.error:
        return None


@lru_cache(maxsize=10_000)
def _is_its_text(data: bytes, ref: str, path: str) -> bool:
    """Whether packed bytes are the text of a blob. One that holds a key is not: the text would have it masked."""
    found = decompress_text(data)
    if found is None or not has_blob_id(found, ref):
        return False
    text = found.decode("utf-8", "replace")
    return redact_likely_secrets(text, path) == text


@dataclass(frozen=True, slots=True)
class DefinitionLocation:
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
    definitions: Mapping[str, Sequence[DefinitionLocation]]
    """By own name, as written; those of one name in the order of their files."""
    vocabulary: Vocabulary
    by_chunk: BM25
    by_file: BM25
    by_path: BM25

    @cached_property
    def file_numbers(self) -> Mapping[str, int]:
        """Path to number of each file."""
        return {file.path: number for number, file in enumerate(self.files)}

    @cached_property
    def files_by_stem(self) -> Mapping[str, Sequence[int]]:
        """Files by name without extension, lower case."""
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            found.setdefault(file.stem, []).append(number)
        return found

    @cached_property
    def priors(self) -> NDArray[np.float32]:
        """Factor on each file's score."""
        return np.array([file.role.prior for file in self.files], dtype=np.float32)

    @cached_property
    def product_files(self) -> NDArray[np.bool_]:
        """Which files are sources that a fix may well edit."""
        return np.array([file.role.is_product_code for file in self.files], dtype=bool)

    @cached_property
    def files_by_folder(self) -> Mapping[str, Sequence[int]]:
        """Files by the folder that they stand in."""
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            found.setdefault(file.path.rpartition("/")[0], []).append(number)
        return found

    @cached_property
    def packages(self) -> Mapping[str, frozenset[str]]:
        """Folders that are packages of their own, and the names of each."""
        return find_packages(file.path for file in self.files)

    def read_lines(self, path: str) -> list[str] | None:
        """Lines of a file as they were indexed; none when its text is not."""
        number = self.file_numbers.get(path)
        text = self.files[number].read_text() if number is not None else None
        return split_lines(text) if text is not None else None

    def find_chunks(self, file: int) -> range:
        """Numbers of a file's chunks."""
        first, last = np.searchsorted(self.chunk_files, (file, file + 1))
        return range(int(first), int(last))
