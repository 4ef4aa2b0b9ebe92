"""Implements the port `Codebase`. Heavy libraries are imported when the index is built."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triage.domain.code import History, Hit, IndexFacts, Passage, SearchQuery
from triage.index.vectors.chroma_connection import OpenChroma, open_embedded_chroma

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever

    from triage.index.build.build_corpus import IndexLimits
    from triage.index.indexed_commit import IndexedCommit


class GitCodebase:
    """The repository at a path: a work tree, a folder in one, a bare repository, or a folder without git."""

    def __init__(
        self,
        root: Path,
        repository: str,
        embeddings: "Embeddings | None" = None,
        embedding_name: str = "local",
        limits: "IndexLimits | None" = None,
        chroma: OpenChroma | None = open_embedded_chroma,
        ignore: Sequence[str] = (),
        cache: Path | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            root: Where the repository is.
            repository: `owner/name`, or the folder's name at a terminal.
            embeddings: The embedding model; without one, vectors are made from the words.
            embedding_name: Its name.
            limits: How much is indexed.
            chroma: Opens the Chroma that stores the vectors, in this process or on a server. With None they are
                compared one by one, which is exact and needs no setup.
            ignore: Paths to leave out, as patterns of gitignore.
            cache: Folder of the index cache; created when it is missing.
        """
        self._root = root
        self._repository = repository
        self._embeddings = embeddings
        self._embedding_name = embedding_name
        self._limits = limits
        self._chroma = chroma
        self._ignore = ignore
        self._cache = cache
        self._indexed: IndexedCommit | None = None

    def index(self) -> IndexFacts:
        """Index HEAD's commit. Slow: call it in a thread. No file makes it fail."""
        from triage.index.build.build_corpus import IndexLimits
        from triage.index.build.cache_folder import CacheFolder
        from triage.index.indexed_commit import index_repository

        self._indexed, facts = index_repository(
            self._root,
            self._repository,
            self._embeddings,
            self._embedding_name,
            self._limits or IndexLimits(),
            self._chroma,
            self._ignore,
            CacheFolder(self._cache) if self._cache else None,
        )
        return facts

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        """Files ranked for the search, best first. Empty before `index` and for an empty repository."""
        return self._indexed.search(query, limit) if self._indexed else []

    def get_retriever(self, repository: str) -> "BaseRetriever":
        """A retriever of passages for a text, which is read like an issue: its first line is the title.

        Raises:
            NotIndexed: Nothing was indexed under this name.
        """
        from triage.index.retriever import get_codebase_retriever

        return get_codebase_retriever(repository, {self._repository: self._indexed.search} if self._indexed else {})

    def read_lines(self, path: str) -> list[str] | None:
        """Lines of an indexed file without line ends; None when the commit has no such text file."""
        return self._indexed.corpus.read_lines(path) if self._indexed else None

    def list_paths(self) -> Sequence[str]:
        """All indexed paths, also of files whose text is not indexed."""
        return list(self._indexed.corpus.file_numbers) if self._indexed else []

    def resolve_path(self, written: str) -> str | None:
        """The indexed file whose path ends like the written one; None when there is none or more than one."""
        from triage.index.rank.mentions import resolve_path

        files = resolve_path(self._indexed.corpus, written) if self._indexed else []
        return self._indexed.corpus.files[files[0]].path if self._indexed and len(files) == 1 else None

    def find_definitions(self, name: str) -> list[Passage]:
        """Where something with this name is defined, product code first; see the port."""
        from triage.index.rank.symbols import look_up_definitions

        return look_up_definitions(self._indexed.corpus, name) if self._indexed else []

    def read_history(self, path: str, limit: int) -> History:
        """The newest commits that changed an indexed file."""
        if self._indexed is None or path not in self._indexed.corpus.file_numbers:
            return History()
        return self._indexed.tree.read_history(path, limit)

    def find_owners(self, path: str) -> list[str]:
        """Owners of the path by CODEOWNERS, without `@`."""
        return self._indexed.owners.find_owners(path) if self._indexed else []

    def read_issue_forms(self) -> list[str]:
        """Text of each issue form."""
        return list(self._indexed.forms) if self._indexed else []
