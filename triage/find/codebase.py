"""Implements the port `Codebase`. Heavy libraries are imported when the index is built."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triage.domain.code import (
    BestPlace,
    CodeHistory,
    ExecutedCode,
    History,
    Hit,
    IndexFacts,
    LineMatches,
    Passage,
    RegressionWindow,
    SearchQuery,
    Section,
    Span,
)
from triage.domain.issue import Issue, ParsedIssue, ReportFacts
from triage.domain.past_issues import LearnedFromLabels, PastIssue, SimilarIssue
from triage.domain.skill import Skills

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever

    from triage.find.build_corpus import IndexLimits
    from triage.find.indexed_commit import IndexedCommit, PastCommit


@dataclass(eq=False, repr=False)
class GitCodebase:
    """The repository at a path: a work tree, a folder in one, a bare repository, or a folder without git."""

    root: Path
    repository: str
    """`owner/name`, or the folder's name at a terminal when there is no remote."""
    embeddings: "Embeddings | None" = None
    """The embedding model; without one, vectors are made from the words."""
    embedding_name: str = "local"
    limits: "IndexLimits | None" = None
    in_chroma: bool = True
    """Store the vectors in Chroma; or compare them one by one, which is exact and needs no setup."""
    ignore: Sequence[str] = ()
    """Paths to leave out, as patterns of gitignore."""
    past: "PastCommit | None" = None
    """The commit to index, if it is not the newest one."""
    index_once: bool = False
    """A second call of `index` returns what the first one found, for many issues on one commit."""
    _built: "tuple[IndexedCommit, IndexFacts] | None" = None
    """What was indexed, before anything was learned from past issues."""
    _indexed: "IndexedCommit | None" = None

    @property
    def commit(self) -> str | None:
        return self._indexed.tree.commit if self._indexed else None

    def index(self, executed: ExecutedCode | None = None, named: Sequence[str] = ()) -> IndexFacts:
        if named or self._built is None or not self.index_once:
            self._built = self._build(named)
        indexed, facts = self._built
        self._indexed = indexed.add_executed_code(executed)
        return facts

    def _build(self, named: Sequence[str]) -> "tuple[IndexedCommit, IndexFacts]":
        from triage.find.build_corpus import IndexLimits
        from triage.find.indexed_commit import index_repository

        return index_repository(
            self.root,
            self.repository,
            self.embeddings,
            self.embedding_name,
            self.limits or IndexLimits(),
            self.ignore,
            self.past,
            named,
            in_chroma=self.in_chroma,
        )

    def add_past_issues(self, issues: Sequence[PastIssue]) -> None:
        if self._indexed:
            self._indexed = self._indexed.add_past_issues(issues)

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        return self._indexed.search(query, limit) if self._indexed else []

    def find_places(self, parsed: ParsedIssue) -> list[BestPlace]:
        return self._indexed.find_places(parsed) if self._indexed else []

    def find_documentation(self, parsed: ParsedIssue, limit: int) -> list[Section]:
        return self._indexed.find_documentation(parsed, limit) if self._indexed else []

    def get_retriever(self, repository: str, chars: int) -> "BaseRetriever":
        from triage.find.retriever import get_codebase_retriever

        indexed = {self.repository: self._indexed.choose_passages} if self._indexed else {}
        return get_codebase_retriever(repository, indexed, chars)

    def read_lines(self, path: str) -> list[str] | None:
        return self._indexed.corpus.read_lines(path) if self._indexed else None

    def list_paths(self) -> Sequence[str]:
        return list(self._indexed.corpus.file_numbers) if self._indexed else []

    def resolve_path(self, written: str) -> str | None:
        from triage.find.rank.mentions import resolve_path

        files = resolve_path(self._indexed.corpus, written) if self._indexed else []
        return self._indexed.corpus.files[files[0]].path if self._indexed and len(files) == 1 else None

    def find_definitions(self, name: str) -> list[Passage]:
        from triage.find.rank.snippets import look_up_definitions

        return look_up_definitions(self._indexed.corpus, name) if self._indexed else []

    def find_text(self, text: str, limit: int) -> LineMatches:
        from triage.find.text_search import find_text

        return find_text(self._indexed.corpus, text, limit) if self._indexed else LineMatches()

    def read_history(self, path: str, limit: int, text: str = "") -> History:
        if self._indexed is None or path not in self._indexed.corpus.file_numbers:
            return History()
        return self._indexed.tree.read_history(path, limit, text)

    def find_similar_issues(
        self, issue: Issue, parsed: ParsedIssue, past: Sequence[PastIssue], limit: int
    ) -> list[SimilarIssue]:
        from triage.find.past_issues.similar_issues import choose_earlier_reports, find_near_issues, find_similar_issues

        near: list[int] = []
        if self.embeddings:
            near = find_near_issues(parsed, choose_earlier_reports(issue, past), self.embeddings)
        return find_similar_issues(issue, parsed, past, limit, repository=self.repository, near=near)

    def learn_from_labels(self, parsed: ParsedIssue, past: Sequence[PastIssue]) -> LearnedFromLabels:
        from triage.find.past_issues.learned_labels import learn_from_labels

        return learn_from_labels(parsed, past)

    def find_owners(self, path: str) -> list[str]:
        return self._indexed.owners.find_owners(path) if self._indexed else []

    def find_regression_window(self, parsed: ParsedIssue, facts: ReportFacts) -> RegressionWindow | None:
        window = self._indexed.find_regression_window(parsed, facts) if self._indexed else None
        if self._indexed and window:
            self._indexed = self._indexed.add_window(window)
        return window

    def show_commit(self, commit: str, path: str = "") -> str:
        if self._indexed is None or self._indexed.tree.history is None:
            return ""
        return self._indexed.tree.history.show_commit(commit, self._indexed.corpus.file_numbers, path)

    def look_up_history(
        self, parsed: ParsedIssue, facts: ReportFacts, paths: Sequence[str], lines: Span | None
    ) -> CodeHistory:
        return self._indexed.look_up_history(parsed, facts, paths, lines) if self._indexed else CodeHistory()

    def find_security_policy(self) -> str | None:
        return self._indexed.security_policy if self._indexed else None

    def read_issue_forms(self) -> list[str]:
        return list(self._indexed.forms) if self._indexed else []

    def read_label_rules(self) -> str:
        return self._indexed.label_rules if self._indexed else ""

    def list_dependencies(self) -> list[str]:
        return list(self._indexed.dependencies) if self._indexed else []

    def read_skills(self) -> Skills:
        return self._indexed.skills if self._indexed else Skills()
