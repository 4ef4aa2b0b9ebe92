"""Corpora and codebases of a few files, and readings made by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings

from testing.checkouts.git_repositories import commit
from triage.domain.code import SearchQuery
from triage.domain.issue import CodeBlock, Frame, ParsedIssue, Trace
from triage.find.build_corpus import IndexLimits, build_corpus
from triage.find.codebase import Codebase
from triage.find.vectors.embed_corpus import Matrix, project_chunks
from triage.find.words.corpus import Corpus
from triage.git.commit import open_commit


def make_corpus(folder: Path, files: Mapping[str, str | bytes], limits: IndexLimits | None = None) -> Corpus:
    commit(folder, files)
    tree = open_commit(folder)
    return build_corpus(tree, tree.list_files(), limits or IndexLimits()).corpus


def project_files(corpus: Corpus, files: Sequence[int]) -> Matrix:
    """Return the projection of each of these files."""
    rows = np.full(len(corpus.files), -1, dtype=np.int32)
    rows[list(files)] = np.arange(len(files))
    return project_chunks(corpus, rows[corpus.chunk_files], len(files))


def make_codebase(
    folder: Path,
    files: Mapping[str, str | bytes],
    embeddings: Embeddings | None = None,
    limits: IndexLimits | None = None,
) -> Codebase:
    commit(folder, files)
    name = "test-embedding" if embeddings else "local"
    return Codebase(folder, f"acme/{folder.name}", embeddings, name, limits or IndexLimits())


def make_query(title: str = "", prose: str = "", code: str = "", **more: object) -> SearchQuery:
    """A search as the reading of an issue makes it: the body holds prose and code."""
    parsed = {
        "title": title,
        "body": f"{prose}\n{code}".strip(),
        "prose": prose,
        "code": [CodeBlock(language="", text=code)] if code else [],
    }
    added = {"keywords": more.pop("keywords")} if "keywords" in more else {}
    return SearchQuery.model_validate({"parsed": ParsedIssue.model_validate({**parsed, **more}), **added})


def make_trace(*frames: tuple[str, int | None] | tuple[str, int | None, str], language: str = "python") -> Trace:
    """Outermost frame first."""
    made = [Frame(path=path, line=line, function=name[0] if name else None) for path, line, *name in frames]
    return Trace(language=language, frames=made)
