"""The indexed repository: files, chunks, definitions, and the BM25 tables that score them."""

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triage.find.files.documentation import is_documentation
from triage.find.files.file_roles import FileRole
from triage.find.files.file_text import open_text, split_lines
from triage.find.words.bm25 import BM25
from triage.find.words.tokens import Vocabulary

PACKAGE_STEMS = ("__init__", "index", "mod")
"""Files that stand for their folder: `__init__.py`, `index.ts`, `mod.rs`."""


@dataclass(frozen=True, slots=True)
class File:
    path: str
    role: FileRole
    compressed_text: bytes | None = None
    """About a quarter of the text's size; None if only the path is indexed."""

    @property
    def stem(self) -> str:
        """Name without extension, lower case."""
        name = self.path.rpartition("/")[2]
        return (name.rpartition(".")[0] or name).lower()

    def read_lines(self) -> list[str]:
        """Return the lines without their ends; empty if only the path is indexed."""
        return split_lines(self.read_text() or "")

    def has_bytes(self, wanted: bytes, *, any_case: bool = False) -> bool:
        """Return whether the text has some bytes, which are in small letters for `any_case`."""
        if self.compressed_text is None:
            return False
        content = zlib.decompress(self.compressed_text)
        return wanted in (content.lower() if any_case else content)

    def read_text(self) -> str | None:
        """Return the text without likely secrets; None if only the path is indexed."""
        return None if self.compressed_text is None else open_text(self.compressed_text, self.path)


@dataclass(frozen=True, slots=True)
class DefinitionLocation:
    file: int
    start: int
    end: int
    name: str
    """Qualified."""


@dataclass(frozen=True)
class Corpus:
    """Everything that was read from the commit. Numbers of files and chunks are positions in these sequences."""

    files: Sequence[File]
    chunk_files: NDArray[np.int32]
    """The file number of each chunk, ascending."""
    chunk_starts: NDArray[np.int32]
    chunk_ends: NDArray[np.int32]
    chunk_symbols: Sequence[str | None]
    definitions: Mapping[str, Sequence[DefinitionLocation]]
    """By unqualified name, in the order of their files."""
    vocabulary: Vocabulary
    by_chunk: BM25
    by_file: BM25
    by_path: BM25

    @cached_property
    def file_numbers(self) -> Mapping[str, int]:
        return {file.path: number for number, file in enumerate(self.files)}

    @cached_property
    def files_by_stem(self) -> Mapping[str, Sequence[int]]:
        files: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            files.setdefault(file.stem, []).append(number)
        return files

    @cached_property
    def priors(self) -> NDArray[np.float32]:
        return np.array([file.role.prior for file in self.files], dtype=np.float32)

    @cached_property
    def product_files(self) -> NDArray[np.bool_]:
        """Whether each file is product code, see `FileRole`."""
        return np.array([file.role.is_product_code for file in self.files], dtype=bool)

    @cached_property
    def documentation_files(self) -> NDArray[np.bool_]:
        """Whether each file is a page that may answer how something works."""
        return np.array([not file.role.is_test and is_documentation(file.path) for file in self.files], dtype=bool)

    @cached_property
    def files_by_folder(self) -> Mapping[str, Sequence[int]]:
        files: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            files.setdefault(file.path.rpartition("/")[0], []).append(number)
        return files

    @cached_property
    def definitions_by_file(self) -> Mapping[int, Sequence[DefinitionLocation]]:
        """The definitions of each file, by their first line; outer ones first."""
        by_file: dict[int, list[DefinitionLocation]] = {}
        for same_name in self.definitions.values():
            for location in same_name:
                by_file.setdefault(location.file, []).append(location)
        return {file: sorted(found, key=lambda one: (one.start, -one.end)) for file, found in by_file.items()}

    def read_lines(self, path: str) -> list[str] | None:
        """Return the lines of a file as they were indexed; None if its text was not."""
        number = self.file_numbers.get(path)
        text = self.files[number].read_text() if number is not None else None
        return split_lines(text) if text is not None else None

    def find_definitions(self, file: int, name: str) -> Sequence[DefinitionLocation]:
        """Return the definitions of an unqualified name in one file."""
        same_name = self.definitions.get(name, ())
        first, end = (bisect_left(same_name, number, key=lambda one: one.file) for number in (file, file + 1))
        return same_name[first:end]

    def find_enclosing(self, file: int, line: int) -> DefinitionLocation | None:
        """Return the innermost definition around a line."""
        locations = self.definitions_by_file.get(file, ())
        last = bisect_right(locations, line, key=lambda one: one.start)
        return next((one for one in reversed(locations[:last]) if one.end >= line), None)

    def find_chunks(self, file: int) -> range:
        first, last = np.searchsorted(self.chunk_files, (file, file + 1))
        return range(int(first), int(last))
