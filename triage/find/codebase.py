"""What a run knows of the checked-out repository. Heavy libraries are imported when the index is built."""

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
class Codebase:
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
        """Full SHA of the indexed commit; none before `index`, and for a folder without git."""
        return self._indexed.tree.commit if self._indexed else None

    def index(self, executed: ExecutedCode | None = None, named: Sequence[str] = ()) -> IndexFacts:
        """Read, split, embed and store the commit. Slow: call it in a thread. Unreadable files are left out.

        The files that the issue's example `executed` are ranked as likelier. With `named`, only files with the names of
        these paths are read, and nothing of the past: that takes a moment. Called again, it forgets what
        `add_past_issues` has added.
        """
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
        """Let the ranking use the fixes of other, past issues. Call it once, after `index`."""
        if self._indexed:
            self._indexed = self._indexed.add_past_issues(issues)

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        """Files ranked for the query, best first. Empty before `index` and for an empty repository."""
        return self._indexed.search(query, limit) if self._indexed else []

    def find_places(self, parsed: ParsedIssue) -> list[BestPlace]:
        """Where the issue leads: a place by a trace, a message or a name, and files that are sure enough together."""
        return self._indexed.find_places(parsed) if self._indexed else []

    def find_documentation(self, parsed: ParsedIssue, limit: int) -> list[Section]:
        """Sections of the documentation that may answer the issue, likeliest first; empty before `index`."""
        return self._indexed.find_documentation(parsed, limit) if self._indexed else []

    def get_retriever(self, repository: str, chars: int) -> "BaseRetriever":
        """Passages of at most `chars` characters for a prompt. Raises NotIndexed if this name was not indexed."""
        from triage.find.retriever import get_codebase_retriever

        indexed = {self.repository: self._indexed.choose_passages} if self._indexed else {}
        return get_codebase_retriever(repository, indexed, chars)

    def read_lines(self, path: str) -> list[str] | None:
        """Lines of an indexed file without line ends; none if the commit has no such text file."""
        return self._indexed.corpus.read_lines(path) if self._indexed else None

    def list_paths(self) -> Sequence[str]:
        """All indexed paths, also of files whose text is not indexed."""
        return list(self._indexed.corpus.file_numbers) if self._indexed else []

    def resolve_path(self, written: str) -> str | None:
        """The indexed file for a path from elsewhere, such as a stack frame's path on the reporter's machine."""
        from triage.find.rank.mentions import resolve_path

        files = resolve_path(self._indexed.corpus, written) if self._indexed else []
        return self._indexed.corpus.files[files[0]].path if self._indexed and len(files) == 1 else None

    def find_definitions(self, name: str) -> list[Passage]:
        """Definitions of a function, a class or a qualified name such as `Store.save`; at most 50, likely ones first.

        If no `Store` defines `save`, all definitions of `save`.
        """
        from triage.find.rank.snippets import look_up_definitions

        return look_up_definitions(self._indexed.corpus, name) if self._indexed else []

    def find_text(self, text: str, limit: int) -> LineMatches:
        """Lines with this text, as it is written or else in any case; of several lines of text, the longest counts.

        Reads all indexed texts, which takes up to seconds: call it in a thread.
        """
        from triage.find.text_search import find_text

        return find_text(self._indexed.corpus, text, limit) if self._indexed else LineMatches()

    def read_history(self, path: str, limit: int, text: str = "") -> History:
        """The newest commits that changed an indexed file; with `text`, those that added or removed it there.

        Empty without git. Takes seconds: call it in a thread.
        """
        if self._indexed is None or path not in self._indexed.corpus.file_numbers:
            return History()
        return self._indexed.tree.read_history(path, limit, text)

    def find_similar_issues(
        self, issue: Issue, parsed: ParsedIssue, past: Sequence[PastIssue], limit: int
    ) -> list[SimilarIssue]:
        """Past issues that report the same, likeliest first; works before `index` as well.

        Takes up to a second for 500 issues: call it in a thread.
        """
        from triage.find.past_issues.similar_issues import choose_earlier_reports, find_near_issues, find_similar_issues

        near: list[int] = []
        if self.embeddings:
            near = find_near_issues(parsed, choose_earlier_reports(issue, past), self.embeddings)
        return find_similar_issues(issue, parsed, past, limit, repository=self.repository, near=near)

    def learn_from_labels(self, parsed: ParsedIssue, past: Sequence[PastIssue]) -> LearnedFromLabels:
        """What similar issues carry; empty with fewer than 50 labelled ones. Takes up to a second, as above."""
        from triage.find.past_issues.learned_labels import learn_from_labels

        return learn_from_labels(parsed, past)

    def find_owners(self, path: str) -> list[str]:
        """Owners of the path by CODEOWNERS, without `@`."""
        return self._indexed.owners.find_owners(path) if self._indexed else []

    def find_regression_window(self, parsed: ParsedIssue, facts: ReportFacts) -> RegressionWindow | None:
        """The commits between the versions that the report names; searches then prefer the files that they changed.

        None if it names none, or the clone lacks them. Takes up to ten seconds: call it in a thread.
        """
        window = self._indexed.find_regression_window(parsed, facts) if self._indexed else None
        if self._indexed and window:
            self._indexed = self._indexed.add_window(window)
        return window

    def show_commit(self, commit: str, path: str = "") -> str:
        """Message and diff of a commit that the indexed one contains, by at least seven hexadecimal digits.

        With `path`, the diff of that file alone. Empty if there is none. Takes up to ten seconds: call it in a thread.
        """
        if self._indexed is None or self._indexed.tree.history is None:
            return ""
        return self._indexed.tree.history.show_commit(commit, self._indexed.corpus.file_numbers, path)

    def look_up_history(
        self, parsed: ParsedIssue, facts: ReportFacts, paths: Sequence[str], lines: Span | None
    ) -> CodeHistory:
        """Owners and later changes of the likeliest files, and of the lines that fail; the fix of the issue.

        Takes seconds with a long history: call it in a thread.
        """
        return self._indexed.look_up_history(parsed, facts, paths, lines) if self._indexed else CodeHistory()

    def find_security_policy(self) -> str | None:
        """Path of SECURITY.md where GitHub looks for it; None without one."""
        return self._indexed.security_policy if self._indexed else None

    def read_issue_forms(self) -> list[str]:
        """Text of each issue template and issue form, from the places that GitHub reads."""
        return list(self._indexed.forms) if self._indexed else []

    def read_label_rules(self) -> str:
        """Text of the file in which the project says when a label fits; empty without it, and before `index`."""
        return self._indexed.label_rules if self._indexed else ""

    def list_dependencies(self) -> list[str]:
        """Names of the packages that the project's manifests declare, at most 500; empty before `index`."""
        return list(self._indexed.dependencies) if self._indexed else []

    def read_skills(self) -> Skills:
        """The project's own guidance for triage, from `.github/triage/skills`; empty before `index`."""
        return self._indexed.skills if self._indexed else Skills()
