"""One commit, indexed and searchable."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triage.domain.code import Hit, IndexFacts, SearchQuery
from triage.index.build.build_corpus import Budget, build
from triage.index.build.cache_folder import CacheFolder
from triage.index.build.index_cache import KeptIndex
from triage.index.corpus.corpus import Corpus
from triage.index.files.code_owners import Owners, read_forms, read_owners
from triage.index.files.ignore import without_ignored
from triage.index.rank.query import Query, query_of
from triage.index.rank.ranking import rank
from triage.index.rank.reasons import Reason, reasons
from triage.index.rank.snippets import best_chunks, passages
from triage.index.source.commit import is_bare, open_commit
from triage.index.source.git import GitFailed
from triage.index.source.plain_folder import ANOTHER, FolderTree
from triage.index.source.tree import Listing, Tree
from triage.index.vectors.chroma_connection import embedded
from triage.index.vectors.embed_corpus import LOCAL, Vectors, embed, embedded_query
from triage.index.vectors.projection import projected_query
from triage.index.vectors.vector_cache import KnownVectors

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from langchain_core.embeddings import Embeddings

_BELOW = (
    "Repositories below the folder were not read, and it is none itself: leave `path` out of the `actions/checkout` "
    "step, or name the repository's own folder."
)
_NEAREST = 200
"""Chunks taken from the vector store."""


@dataclass(frozen=True)
class Indexed:
    """What was read, and what finds things in it."""

    corpus: Corpus
    vectors: Vectors
    model: "Embeddings | None"
    owners: Owners
    forms: list[str]
    tree: Tree

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        """Files ranked for the query, best first."""
        if not self.corpus.files or limit < 1:
            return []
        asked = query_of(query)
        nearest = self._near(query, asked)
        ranking = rank(self.corpus, asked, nearest, by_meaning=self.vectors.embedding != LOCAL)
        hits: list[Hit] = []
        for file in ranking.order[:limit]:
            chunks = best_chunks(self.corpus, ranking, file, asked)
            near = [Reason(0.5, f"close in meaning to the issue, by `{self.vectors.embedding}`")]
            why = reasons(self.corpus, asked, ranking, file, chunks, near if file in ranking.meaning else [])
            hits.append(
                Hit(
                    path=self.corpus.files[file].path,
                    score=round(ranking.scores[file], 4),
                    chance=round(ranking.chances[file], 4),
                    passages=passages(self.corpus, file, chunks),
                    reasons=why,
                )
            )
        return hits

    def _near(self, query: SearchQuery, asked: Query) -> dict[int, float]:
        """Chunks that the vector store finds, with their similarity."""
        store = self.vectors.store
        if store is None:
            return {}
        if self.vectors.embedding == LOCAL or self.model is None:
            return store.nearest(projected_query(self.corpus, asked.weights), _NEAREST)
        text = "\n".join([query.reading.text, *query.keywords])
        vector = embedded_query(self.model, text)
        return store.nearest(vector, _NEAREST) if vector is not None else {}

    def replaces(self, older: "Indexed | None") -> None:
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
    budget: Budget,
    chroma: "Callable[[], ClientAPI] | None" = embedded,
    ignore: Sequence[str] = (),
    cache: CacheFolder | None = None,
) -> tuple[Indexed, IndexFacts]:
    """Read HEAD's commit, or the folder where there is none, but for what `ignore` names; nothing raised for odd files.

    CODEOWNERS and issue forms are read all the same.
    """
    started = time.perf_counter()
    # Half a second of imports, while other processes read the files.
    if chroma is not None:
        threading.Thread(target=_import_chroma, daemon=True, name="import").start()
    notes: list[str] = []
    tree, listing = _opened(root.resolve(), notes)
    place = KeptIndex(cache, repository, repr(budget)) if cache and tree.commit else None
    built = build(tree, without_ignored(listing, ignore), budget, place.read() if place else None)
    if place and built.news:
        place.write(built.news())
    known = KnownVectors(cache, model_name) if cache and model else None
    vectors = embed(built.corpus, repository, tree.commit, model, model_name, chroma, known)
    owners, forms = read_owners(tree, listing.entries), read_forms(tree, listing.entries)
    dirty = _dirty(tree, listing, notes)
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
        reused=built.reused,
        cache=cache.trouble if cache else "",
    )
    return Indexed(built.corpus, vectors, model, owners, forms, tree), facts


def _import_chroma() -> None:
    import chromadb.errors  # noqa: F401


def _opened(root: Path, notes: list[str]) -> tuple[Tree, Listing]:
    """The commit, or the folder as it is."""
    try:
        commit = open_commit(root)
        return commit, commit.listing()
    except GitFailed as error:
        folder = FolderTree(root)
        if is_bare(root):
            notes.append(f"The bare repository could not be read ({error}).")
            return folder, Listing()
        if os.path.lexists(root / ".git"):
            notes.append(f"The folder was read as it is, without git ({error}).")
        listing = folder.listing()
        if listing.left_out[ANOTHER]:
            notes.append(_BELOW)
        return folder, listing


def _dirty(tree: Tree, listing: Listing, notes: list[str]) -> bool:
    """Not looked at where there is no end of files: git itself knows no bound."""
    try:
        return not listing.cut and tree.is_dirty()
    except GitFailed as error:
        notes.append(f"Whether the work tree differs from the commit could not be told ({error}).")
        return False
