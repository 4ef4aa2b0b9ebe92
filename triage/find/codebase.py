"""What a run knows of the checked-out repository: what one commit says of one issue."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from triage.base.errors import NotIndexed
from triage.domain.code import (
    CodeHistory,
    ExecutedCode,
    History,
    Hit,
    IndexFacts,
    LineMatches,
    Passage,
    Place,
    PromptPassages,
    RankReason,
    RegressionWindow,
    SearchQuery,
    Section,
    Span,
)
from triage.domain.issue import Issue, IssueFacts, ParsedIssue
from triage.domain.past_issues import LearnedFromLabels, PastIssue, SimilarIssue
from triage.find.build_corpus import IndexLimits
from triage.find.code_history import find_regression_window, look_up_history, quote_reported_lines
from triage.find.files.documentation import find_headings
from triage.find.files.project_files import ProjectFiles
from triage.find.index_commit import IndexedCommit, PastCommit, index_commit
from triage.find.leads.find_leads import choose_places, find_leads, put_reported_first
from triage.find.leads.lead import Lead
from triage.find.leads.regression import RankCommits, make_ranker
from triage.find.past_issues.learned_labels import learn_from_labels
from triage.find.past_issues.similar_issues import find_similar_issues
from triage.find.rank.mentions import resolve_path, shorten_own_frames
from triage.find.rank.prompt_passages import choose_prompt_passages
from triage.find.rank.query import Query, build_query
from triage.find.rank.ranking import Ranking, rank_files
from triage.find.rank.reasons import explain_rank
from triage.find.rank.search import find_highest
from triage.find.rank.snippets import choose_chunks, look_up_definitions, read_passages
from triage.find.text_search import find_text
from triage.find.vectors.embed_corpus import LOCAL, embed_query, embed_query_locally
from triage.find.words.corpus import Corpus
from triage.read.issue_facts import find_version
from triage.read.issue_forms import leave_out_form

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever

_NEAREST = 200
"""Chunks taken from the vector store."""


@dataclass(frozen=True)
class _Ranked:
    query: Query
    may_call_endpoint: bool
    """An embedding model may be asked."""
    leads: Sequence[Lead]
    ranking: Ranking
    """With what leads put first."""


@dataclass(eq=False, repr=False)
class Codebase:
    """The repository at a path: a work tree, a folder in one, a bare repository, or a folder without git.

    Before `index` it has no file.
    """

    root: Path
    repository: str
    """`owner/name`, or the folder's name at a terminal when there is no remote."""
    embeddings: "Embeddings | None" = None
    """The embedding model; without one, vectors are made from the words."""
    embedding_name: str = "local"
    limits: IndexLimits = field(default_factory=IndexLimits)
    in_chroma: bool = True
    """Store the vectors in Chroma; or compare them one by one, which is exact and needs no setup."""
    ignore: Sequence[str] = ()
    """Paths to leave out, as patterns of gitignore."""
    past_commit: PastCommit | None = None
    """The commit to index, if it is not the newest one."""
    index_once: bool = False
    """A second call of `index` returns what the first one found, for many issues on one commit."""
    _built: tuple[IndexedCommit, IndexFacts] | None = None
    """What was indexed, before anything was learned from past issues."""
    _indexed: IndexedCommit = field(default_factory=IndexedCommit)
    _executed: ExecutedCode | None = None
    """What the report's example executed."""
    _ranked: list[_Ranked] = field(default_factory=list)
    """What was ranked for this issue."""

    @property
    def commit(self) -> str | None:
        """Full SHA of the indexed commit; none before `index`, and for a folder without git."""
        return self._indexed.tree.commit

    @property
    def _corpus(self) -> Corpus:
        return self._indexed.corpus

    @property
    def project(self) -> ProjectFiles:
        """What the project says of itself at the commit."""
        return self._indexed.project

    def index(self, executed: ExecutedCode | None = None, only_paths: Sequence[str] = ()) -> IndexFacts:
        """Read, split, embed and store the commit. Slow: call it in a thread. Unreadable files are left out.

        The files that the issue's example `executed` are ranked as likelier. With `only_paths`, only files with the
        names of these are read, and nothing of the past: that takes a moment. Called again, it forgets what
        `add_past_issues` has added.
        """
        if only_paths or self._built is None or not self.index_once:
            self._built = index_commit(
                self.root,
                self.embeddings,
                self.embedding_name,
                self.limits,
                self.ignore,
                self.past_commit,
                only_paths,
                in_chroma=self.in_chroma,
            )
        self._indexed, facts = self._built
        self._executed, self._ranked = executed, []
        return facts

    def add_past_issues(self, issues: Sequence[PastIssue]) -> None:
        """Let the ranking use the fixes of other, past issues. Call it once, after `index`."""
        self._indexed = replace(self._indexed, past_changes=self._indexed.past_changes.add_issues(issues))
        self._ranked = []

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        """Files ranked for the query, best first. Empty before `index` and for an empty repository."""
        if not self._corpus.files or limit < 1:
            return []
        ranking = self._rank(query).ranking
        return [self._make_hit(ranking, file) for file in ranking.order[:limit]]

    def _make_hit(self, ranking: Ranking, file: int) -> Hit:
        chunks = choose_chunks(ranking.search, file)
        is_near = file in ranking.nearest_files
        near = RankReason(text=f"close in meaning to the issue, by `{self._indexed.vectors.embedding}`")
        return Hit(
            path=self._corpus.files[file].path,
            score=round(ranking.scores[file], 4),
            probability=round(ranking.probabilities[file], 4),
            passages=read_passages(self._corpus, file, chunks),
            reasons=[*explain_rank(ranking, file), *([near] if is_near else [])],
        )

    def _rank(self, search: SearchQuery, *, may_call_endpoint: bool = True) -> _Ranked:
        """Return the ranking, and the leads from which it takes the files that the reporter points at.

        One search is ranked once: what was ranked for the places, a search by rules and a prompt use again. Unless it
        `may_call_endpoint`, no embedding model at an endpoint is asked.
        """
        indexed, corpus, vectors = self._indexed, self._corpus, self._indexed.vectors
        parsed = self._complete_frames(leave_out_form(search.parsed, indexed.project.forms))
        query = build_query(search.model_copy(update={"parsed": parsed}))
        is_local = vectors.embedding == LOCAL
        may_call_endpoint = may_call_endpoint and not is_local
        same = (one for one in self._ranked if (one.query, one.may_call_endpoint) == (query, may_call_endpoint))
        known = next(same, None)
        if known is None:
            near: dict[int, float] = {}
            if vectors.store and (is_local or may_call_endpoint):
                text = "\n".join([search.parsed.text, *search.keywords])
                asked = self.embeddings if may_call_endpoint else None
                vector = embed_query(asked, text) if asked else embed_query_locally(corpus, query.term_weights)
                near = vectors.store.nearest(vector, _NEAREST) if vector is not None else {}
            changes, executed = indexed.past_changes, self._executed
            ranking = rank_files(
                corpus, query, near, by_embedding=may_call_endpoint, past_changes=changes, executed=executed
            )
            leads = find_leads(ranking.search, parsed, self.repository)
            known = _Ranked(query, may_call_endpoint, leads, put_reported_first(ranking, leads))
            self._ranked.append(known)
        return known

    def _complete_frames(self, parsed: ParsedIssue) -> ParsedIssue:
        """Return the issue with the own paths of frames, and the lines that the reporter's version has there."""
        parsed = shorten_own_frames(parsed, self._corpus, self.repository)
        history, version = self._indexed.tree.history, find_version(parsed, self.repository)[0]
        return quote_reported_lines(parsed, history, version.text, self._corpus) if history and version else parsed

    def find_places(self, parsed: ParsedIssue) -> list[Place]:
        """Return where facts of the issue lead, see `find.leads`. No embedding model is asked."""
        if not self._corpus.files:
            return []
        ranked = self._rank(SearchQuery(parsed=parsed), may_call_endpoint=False)
        return choose_places(ranked.ranking, ranked.leads)

    def find_documentation(self, parsed: ParsedIssue, limit: int) -> list[Section]:
        """Return the sections of the documentation with the highest BM25.

        The passages of a page are its sections (`files.documentation`), so their scores are those of the ranking.
        Vectors were tried and do not order them better (docs/localization.md).
        """
        corpus = self._corpus
        if not corpus.files:
            return []
        scores = self._rank(SearchQuery(parsed=parsed), may_call_endpoint=False).ranking.search.chunk_scores
        is_section = corpus.documentation_files[corpus.chunk_files]
        best = find_highest(np.where(is_section, scores, np.float32(0)), 2 * limit)
        sections: dict[str, Section] = {}  # by their text: a start page is often the README once more
        for section in (_make_section(corpus, chunk) for chunk in best):
            lines = corpus.read_lines(section.span.path) or []
            sections.setdefault("\n".join(lines[section.span.start - 1 : section.span.end]), section)
        return list(sections.values())[:limit]

    def get_retriever(self, repository: str, chars: int, keywords: Sequence[str] = ()) -> "BaseRetriever":
        """Passages of at most `chars` characters for a prompt. Raises NotIndexed if this name was not indexed."""
        from triage.find.retriever import CodebaseRetriever

        if self._built is None or repository != self.repository:
            raise NotIndexed("nothing was indexed under this repository's name")
        return CodebaseRetriever(choose=self._choose_passages, chars=chars, keywords=keywords)

    def _choose_passages(self, search: SearchQuery, chars: int) -> PromptPassages:
        return choose_prompt_passages(self._rank(search).ranking, chars) if self._corpus.files else PromptPassages()

    def read_lines(self, path: str) -> list[str] | None:
        """Lines of an indexed file without line ends; none if the commit has no such text file."""
        return self._corpus.read_lines(path)

    def list_paths(self) -> Sequence[str]:
        """All indexed paths, also of files whose text is not indexed."""
        return list(self._corpus.file_numbers)

    def resolve_path(self, written: str) -> str | None:
        """The indexed file for a path from elsewhere, such as a stack frame's path on the reporter's machine."""
        files = resolve_path(self._corpus, written)
        return self._corpus.files[files[0]].path if len(files) == 1 else None

    def find_definitions(self, name: str) -> list[Passage]:
        """Definitions of a function, a class or a qualified name such as `Store.save`; at most 50, likely ones first.

        If no `Store` defines `save`, all definitions of `save`.
        """
        return look_up_definitions(self._corpus, name)

    def find_text(self, text: str, limit: int) -> LineMatches:
        """Lines with this text, as it is written or else in any case; of several lines of text, the longest counts.

        Reads all indexed texts, which takes up to seconds: call it in a thread.
        """
        return find_text(self._corpus, text, limit)

    def read_history(self, path: str, limit: int, text: str = "") -> History:
        """The newest commits that changed an indexed file; with `text`, those that added or removed it there.

        Empty without git. Takes seconds: call it in a thread.
        """
        history, is_known = self._indexed.tree.history, path in self._corpus.file_numbers
        return history.read_changes(path, limit, text) if history and is_known else History()

    def find_similar_issues(
        self, issue: Issue, parsed: ParsedIssue, past: Sequence[PastIssue], limit: int
    ) -> list[SimilarIssue]:
        """Past issues that report the same, likeliest first; works before `index` as well.

        Takes up to a second for 500 issues: call it in a thread.
        """
        return find_similar_issues(issue, parsed, past, limit, repository=self.repository)

    def learn_from_labels(self, parsed: ParsedIssue, past: Sequence[PastIssue]) -> LearnedFromLabels:
        """What similar issues carry; empty with fewer than 50 labelled ones. Takes up to a second, as above."""
        return learn_from_labels(parsed, past)

    def find_regression_window(self, parsed: ParsedIssue, facts: IssueFacts) -> RegressionWindow | None:
        """The commits between the versions that the report names.

        None if it names none, or the clone lacks them. Takes up to ten seconds: call it in a thread.
        """
        history = self._indexed.tree.history
        if history is None or facts.regression is None or not self._corpus.files:
            return None
        return find_regression_window(history, facts, *self._make_ranker(parsed))

    def show_commit(self, commit: str, path: str = "") -> str:
        """Message and diff of a commit that the indexed one contains, by at least seven hexadecimal digits.

        With `path`, the diff of that file alone. Empty if there is none. Takes up to ten seconds: call it in a thread.
        """
        history = self._indexed.tree.history
        return history.show_commit(commit, self._corpus.file_numbers, path) if history else ""

    def look_up_history(
        self, parsed: ParsedIssue, facts: IssueFacts, paths: Sequence[str], span: Span | None, line: int | None = None
    ) -> CodeHistory:
        """Owners and later changes of the likeliest files, and of the lines around the one that fails; the fix.

        Takes seconds with a long history: call it in a thread.
        """
        rank = self._make_ranker(parsed)[1] if self._corpus.files else lambda *_: []
        history, owners = self._indexed.tree.history, self.project.owners
        return look_up_history(history, owners, facts, list(paths), span, line, rank)

    def _make_ranker(self, parsed: ParsedIssue) -> tuple[list[str], RankCommits]:
        """Return the files to which facts lead, and a function that ranks commits."""
        ranked = self._rank(SearchQuery(parsed=parsed), may_call_endpoint=False)
        paths = [one.span.path for one in choose_places(ranked.ranking, ranked.leads)]
        return paths, make_ranker(self._indexed.past_changes, ranked.query, paths)


def _make_section(corpus: Corpus, chunk: int) -> Section:
    file, start, end = (int(of[chunk]) for of in (corpus.chunk_files, corpus.chunk_starts, corpus.chunk_ends))
    path = corpus.files[file].path
    above = [one.text for one in find_headings(path, corpus.files[file].read_lines()) if one.line <= start]
    return Section(span=Span(path=path, start=start, end=end), heading=above[-1] if above else "")
