"""Lookups of the corpus."""

from pathlib import Path

import pytest

from tests.code.indexes import make_corpus
from tests.code.project import PROJECT
from triage.code.words.corpus import Corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus"), {**PROJECT, "web/package.json": "{}\n"})


def test_files_by_folder(corpus: Corpus):
    paths = {folder: {corpus.files[file].path for file in files} for folder, files in corpus.files_by_folder.items()}
    assert paths["web"] == {"web/render.ts", "web/package.json"}
    assert paths[""] == {"README.md"}
    assert sum(map(len, paths.values())) == len(corpus.files)


def test_likely_files(corpus: Corpus):
    likely = {file.path for file, is_likely in zip(corpus.files, corpus.product_files, strict=True) if is_likely}
    assert likely == {path for path in PROJECT if path.startswith(("src/", "web/"))}


def test_chunks_of_a_file_are_adjacent(corpus: Corpus):
    for file in range(len(corpus.files)):
        assert all(corpus.chunk_files[chunk] == file for chunk in corpus.find_chunks(file))
    assert sum(len(corpus.find_chunks(file)) for file in range(len(corpus.files))) == len(corpus.chunk_files)


def test_an_empty_corpus(tmp_path: Path):
    empty = make_corpus(tmp_path, {})
    assert (dict(empty.files_by_folder), empty.product_files.tolist()) == ({}, [])
