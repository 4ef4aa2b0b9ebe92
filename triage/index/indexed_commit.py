"""One commit, indexed and searchable."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triage.domain.code import Hit, IndexFacts, SearchQuery
from triage.index.build.build_corpus import IndexLimits, build_corpus
from triage.index.build.cache_folder import CacheFolder
from triage.index.build.index_cache import IndexCache
from triage.index.corpus.corpus import Corpus
from triage.index.files.code_owners import CodeOwners, read_code_owners, read_issue_forms
from triage.index.files.ignore import remove_ignored
from triage.index.rank.query import Query, build_query
from triage.index.rank.ranking import rank_files
from triage.index.rank.reasons import Reason, explain_rank
from triage.index.rank.snippets import choose_chunks, read_passages
from triage.index.source.commit import is_bare_repository, open_commit
from triage.index.source.git import GitError
from triage.index.source.plain_folder import NESTED_REPOSITORY, FolderTree
from triage.index.source.tree import Listing, SourceTree
from triage.index.vectors.chroma_connection import ChromaClient, open_embedded_chroma
from triage.index.vectors.embed_corpus import LOCAL, CorpusVectors, embed_corpus, embed_query
from triage.index.vectors.projection import project_query
from triage.index.vectors.vector_cache import VectorCache

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_REPOSITORIES_BELOW = (
    "Repositories below the folder were not read, and it is none itself: leave `path` out of the `actions/checkout` "
    "step, or name the repository's own folder."
)
_NEAREST = 200
"""Chunks taken from the vector store."""


@dataclass(frozen=True)
class IndexedCommit:
    """What was read, and what finds things in it."""

    corpus: Corpus
    vectors: CorpusVectors
    model: "Embeddings | None"
    owners: CodeOwners
    forms: list[str]
    tree: SourceTree

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        """Files ranked for the query, best first."""
        if not self.corpus.files or limit < 1:
            return []
        asked = build_query(query)
        nearest = self._find_nearest(query, asked)
        ranking = rank_files(self.corpus, asked, nearest, by_meaning=self.vectors.embedding != LOCAL)
        hits: list[Hit] = []
        for file in ranking.order[:limit]:
            chunks = choose_chunks(self.corpus, ranking, file, asked)
            near = [Reason(0.5, f"close in meaning to the issue, by `{self.vectors.embedding}`")]
            why = explain_rank(self.corpus, asked, ranking, file, chunks, near if file in ranking.nearest_files else [])
            hits.append(
                Hit(
                    path=self.corpus.files[file].path,
                    score=round(ranking.scores[file], 4),
                    probability=round(ranking.chances[file], 4),
                    passages=read_passages(self.corpus, file, chunks),
                    reasons=why,
                )
            )
        return hits

    def _find_nearest(self, query: SearchQuery, asked: Query) -> dict[int, float]:
        """Chunks that the vector store finds, with their similarity."""
        store = self.vectors.store
        if store is None:
            return {}
        if self.vectors.embedding == LOCAL or self.model is None:
            return store.nearest(project_query(self.corpus, asked.term_weights), _NEAREST)
        text = "\n".join([query.reading.text, *query.keywords])
        vector = embed_query(self.model, text)
        return store.nearest(vector, _NEAREST) if vector is not None else {}

    def release_older(self, older: "IndexedCommit | None") -> None:
        """Give up an older index's vectors: all stores of a process share one memory."""
        stale = older.vectors.store if older else None
        fresh = self.vectors.store
        if stale is not None and (fresh is None or stale.key != fresh.key):
            stale.release()


def index_repository(
    root: Path,
    repository: str,
    model: "Embeddings | None",
    model_name: str,
    budget: IndexLimits,
    chroma: Callable[[], ChromaClient] | None = open_embedded_chroma,
    ignore: Sequence[str] = (),
    cache: CacheFolder | None = None,
) -> tuple[IndexedCommit, IndexFacts]:
    """Read HEAD's commit, or the folder where there is none, but for what `ignore` names; nothing raised for odd files.

    CODEOWNERS and issue forms are read all the same.
    """
    started = time.perf_counter()
    # Half a second of imports, while other processes read the files.
    if chroma is not None:
        threading.Thread(target=_import_chroma, daemon=True, name="import").start()
    notes: list[str] = []
    tree, listing = _open_tree(root.resolve(), notes)
    place = IndexCache(cache, repository, repr(budget)) if cache and tree.commit else None
    built = build_corpus(tree, remove_ignored(listing, ignore), budget, place.read() if place else None)
    if place and built.make_cached_index:
        place.write(built.make_cached_index())
    known = VectorCache(cache, model_name) if cache and model else None
    vectors = embed_corpus(built.corpus, repository, tree.commit, model, model_name, chroma, known)
    owners, forms = read_code_owners(tree, listing.entries), read_issue_forms(tree, listing.entries)
    dirty = _is_dirty(tree, listing, notes)
    facts = IndexFacts(
        commit=tree.commit,
        files=len(built.corpus.files),
        passages=len(built.corpus.chunk_files),
        vectors=vectors.store.size if vectors.store else 0,
        left_out=dict(sorted(built.left_out.items())),
        partial=built.partial,
        embedding=vectors.embedding,
        notes=[*notes, *built.notes, *vectors.notes],
        seconds=round(time.perf_counter() - started, 3),
        dirty=dirty,
        reused=built.reused_files,
        cache=cache.problem if cache else "",
    )
    return IndexedCommit(built.corpus, vectors, model, owners, forms, tree), facts


def _import_chroma() -> None:
    import chromadb.errors  # noqa: F401


def _open_tree(root: Path, notes: list[str]) -> tuple[SourceTree, Listing]:
    """The commit, or the folder as it is."""
    try:
        commit = open_commit(root)
        return commit, commit.list_files()
    except GitError as error:
        folder = FolderTree(root)
        if is_bare_repository(root):
            notes.append(f"The bare repository could not be read ({error}).")
            return folder, Listing()
        if os.path.lexists(root / ".git"):
            notes.append(f"The folder was read as it is, without git ({error}).")
        listing = folder.list_files()
        if listing.left_out[NESTED_REPOSITORY]:
            notes.append(_REPOSITORIES_BELOW)
        return folder, listing


def _is_dirty(tree: SourceTree, listing: Listing, notes: list[str]) -> bool:
    """Not looked at where there is no end of files: git itself knows no bound."""
    try:
        return not listing.truncated and tree.is_dirty()
    except GitError as error:
        notes.append(f"Whether the work tree differs from the commit could not be told ({error}).")
        return False
