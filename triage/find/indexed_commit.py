"""Indexes one commit and searches in it."""

import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from triage.base.errors import GitError
from triage.domain.code import (
    BestPlace,
    CodeHistory,
    ExecutedCode,
    Hit,
    IndexFacts,
    PromptPassages,
    RegressionWindow,
    SearchQuery,
    Section,
    Span,
)
from triage.domain.issue import ParsedIssue, ReportFacts
from triage.domain.past_issues import PastIssue
from triage.domain.skill import Skills
from triage.find.build_corpus import IndexLimits, build_corpus
from triage.find.code_history import find_regression_window, look_up_history
from triage.find.files.file_filter import remove_ignored
from triage.find.files.project_files import (
    find_security_policy,
    read_code_owners,
    read_copied_patterns,
    read_dependencies,
    read_issue_forms,
    read_label_rules,
    read_skills,
    remove_skills,
)
from triage.find.leads.find_leads import choose_facts, find_leads, put_reported_first
from triage.find.leads.lead import Lead
from triage.find.leads.regression import RankCommits, make_ranker, raise_changed_files
from triage.find.past_changes import ChangeReader, ChangeTable, PastChanges
from triage.find.rank.mentions import shorten_own_frames
from triage.find.rank.prompt_passages import choose_prompt_passages
from triage.find.rank.query import Query, build_query
from triage.find.rank.ranking import Ranking, rank_files
from triage.find.rank.reasons import Reason, explain_rank
from triage.find.rank.sections import find_sections
from triage.find.rank.snippets import choose_chunks, read_passages
from triage.find.vectors.embed_corpus import LOCAL, CorpusVectors, embed_corpus, embed_query
from triage.find.vectors.projection import project_query
from triage.find.words.corpus import Corpus
from triage.git.commit import is_bare_repository, open_commit
from triage.git.tree import FolderTree, Listing, SourceTree
from triage.read.issue_forms import leave_out_form
from triage.safety.code_owners import CodeOwners

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_NO_COMMIT = "The code was not read, only the issue: the folder has no commit that git can read ({error})."
_NO_GIT = (
    "The folder has no commit: it is read without history, and without the project's settings and skills; places "
    "have no links."
)
_NO_FILES = (
    "The code was not read, only the issue: the folder has no file, or only several repositories below it. A job needs "
    "`actions/checkout`."
)
_ONLY_NAMED = "Only files that the report names were read: there was no time for the others."
_NEAREST = 200
"""Chunks taken from the vector store."""


@dataclass(frozen=True)
class PastCommit:
    """A commit to index as if it were the newest one."""

    revision: str
    until: datetime
    """What was committed later is not known."""


@dataclass(frozen=True)
class _Ranked:
    query: Query
    may_ask: bool
    """An embedding model may be asked."""
    by_features: Ranking
    leads: Sequence[Lead]
    ranking: Ranking
    """With what the window raised, and with what leads put first."""


@dataclass(frozen=True)
class IndexedCommit:
    corpus: Corpus
    past: PastChanges
    vectors: CorpusVectors
    model: "Embeddings | None"
    owners: CodeOwners
    forms: list[str]
    """Text of each issue form."""
    label_rules: str
    """The project's rules for labels: texts by path."""
    security_policy: str | None
    """Path of SECURITY.md."""
    dependencies: list[str]
    """Names of the packages that its manifests declare."""
    skills: Skills
    tree: SourceTree
    repository: str
    """`owner/name`, or the folder's name."""
    window: RegressionWindow | None = None
    """What changed between the versions that the report names."""
    executed: ExecutedCode | None = None
    """What the report's example executed."""
    ranked: list["_Ranked"] = field(default_factory=list, compare=False)
    """What this index ranked."""

    def add_past_issues(self, issues: Sequence[PastIssue]) -> "IndexedCommit":
        """Return the same index, whose ranking also uses the fixes of these issues."""
        return replace(self, past=self.past.add_issues(issues), ranked=[])

    def add_executed_code(self, executed: ExecutedCode | None) -> "IndexedCommit":
        """Return the same index for another issue, of whose example a run is known."""
        return replace(self, executed=executed, ranked=[])

    def search(self, search: SearchQuery, limit: int) -> list[Hit]:
        if not self.corpus.files or limit < 1:
            return []
        ranking = self._rank(search).ranking
        return [self._make_hit(ranking, file) for file in ranking.order[:limit]]

    def choose_passages(self, search: SearchQuery, chars: int) -> PromptPassages:
        """Return what a prompt shows, see `rank.prompt_passages`."""
        return choose_prompt_passages(self._rank(search).ranking, chars) if self.corpus.files else PromptPassages()

    def _rank(self, search: SearchQuery, *, may_ask: bool = True) -> "_Ranked":
        """Return the ranking, and the leads from which it takes the files that the reporter points at.

        One search is ranked once: what was ranked for the places, a search by rules and a prompt use again. Unless it
        `may_ask`, no embedding model at an endpoint is asked.
        """
        parsed = shorten_own_frames(leave_out_form(search.parsed, self.forms), self.corpus, self.repository)
        query = build_query(search.model_copy(update={"parsed": parsed}))
        may_ask = may_ask and self._by_embedding
        known = next((one for one in self.ranked if (one.query, one.may_ask) == (query, may_ask)), None)
        if known is None:
            near = self._find_nearest(search, query) if may_ask or not self._by_embedding else {}
            ranking = rank_files(self.corpus, query, near, by_embedding=may_ask, past=self.past, executed=self.executed)
            leads = find_leads(ranking.query_scores, parsed, self.repository)
            known = self._put_leads_first(_Ranked(query, may_ask, ranking, leads, ranking))
            self.ranked.append(known)
        return known

    def _put_leads_first(self, ranked: "_Ranked") -> "_Ranked":
        ranking = raise_changed_files(ranked.by_features, self.window) if self.window else ranked.by_features
        return replace(ranked, ranking=put_reported_first(ranking, ranked.leads))

    def find_places(self, parsed: ParsedIssue) -> list[BestPlace]:
        """Return where facts of the issue lead, see `find.leads`. No embedding model is asked."""
        if not self.corpus.files:
            return []
        ranked = self._rank(SearchQuery(parsed=parsed), may_ask=False)
        return choose_facts(ranked.ranking, ranked.leads)

    def find_documentation(self, parsed: ParsedIssue, limit: int) -> list[Section]:
        """Return the sections of the documentation that may answer the issue, likeliest first."""
        if not self.corpus.files:
            return []
        return find_sections(self._rank(SearchQuery(parsed=parsed), may_ask=False).ranking.query_scores, limit)

    def find_regression_window(self, parsed: ParsedIssue, facts: ReportFacts) -> RegressionWindow | None:
        """Return the commits between the versions that the report names; None without any, or without their history."""
        history = self.tree.history
        if history is None or facts.regression is None or not self.corpus.files:
            return None
        return find_regression_window(history, facts, *self._make_ranker(parsed))

    def look_up_history(
        self, parsed: ParsedIssue, facts: ReportFacts, paths: Sequence[str], lines: Span | None
    ) -> CodeHistory:
        """Return what the history says of the likeliest files, of the lines that fail, and of a fix."""
        rank = self._make_ranker(parsed)[1] if self.corpus.files else lambda *_: []
        return look_up_history(self.tree.history, self.owners, facts, list(paths), lines, rank, parsed.text)

    def _make_ranker(self, parsed: ParsedIssue) -> tuple[list[str], RankCommits]:
        """Return the paths to which facts lead, and a function that ranks commits."""
        ranked = self._rank(SearchQuery(parsed=parsed), may_ask=False)
        paths = [fact.span.path for fact in choose_facts(ranked.ranking, ranked.leads)]
        return paths, make_ranker(self.past, ranked.query, paths)

    def add_window(self, window: RegressionWindow) -> "IndexedCommit":
        """Return the same index, whose ranking also uses the commits of the window. What was ranked is used again."""
        index = replace(self, window=window, ranked=[])
        index.ranked.extend(map(index._put_leads_first, self.ranked))
        return index

    def _make_hit(self, ranking: Ranking, file: int) -> Hit:
        chunks = choose_chunks(ranking.query_scores, file)
        near = [Reason(0.5, f"close in meaning to the issue, by `{self.vectors.embedding}`")]
        return Hit(
            path=self.corpus.files[file].path,
            score=round(ranking.scores[file], 4),
            probability=round(ranking.probabilities[file], 4),
            passages=read_passages(self.corpus, file, chunks),
            reasons=explain_rank(ranking, file, chunks, near if file in ranking.nearest_files else []),
        )

    @property
    def _by_embedding(self) -> bool:
        return self.vectors.embedding != LOCAL

    def _find_nearest(self, search: SearchQuery, query: Query) -> dict[int, float]:
        store = self.vectors.store
        if store is None:
            return {}
        if not self._by_embedding or self.model is None:
            return store.nearest(project_query(self.corpus, query.term_weights), _NEAREST)
        vector = embed_query(self.model, "\n".join([search.parsed.text, *search.keywords]))
        return store.nearest(vector, _NEAREST) if vector is not None else {}


def index_repository(
    root: Path,
    repository: str,
    model: "Embeddings | None",
    model_name: str,
    limits: IndexLimits,
    ignore: Sequence[str] = (),
    past: PastCommit | None = None,
    named: Sequence[str] = (),
    *,
    in_chroma: bool = True,
) -> tuple[IndexedCommit, IndexFacts]:
    """Index HEAD's commit, or the files of a folder without git, see `Codebase`. No file makes it fail.

    CODEOWNERS, issue forms and the project's skills are read even if `ignore` matches them. Raises GitError if a past
    commit cannot be read. With `named`, it has only the files with the names of these paths.
    """
    started = time.perf_counter()
    # The import takes a second, during which other processes read files.
    importing = threading.Thread(target=_import_chroma, daemon=True, name="import") if in_chroma else None
    if importing:
        importing.start()
    notes: list[str] = []
    tree, listing = _open_past_tree(root.resolve(), past) if past else _open_tree(root.resolve(), notes)
    if named:
        names = {re.split(r"[/\\]", path)[-1] for path in named}
        listing.entries = [entry for entry in listing.entries if entry.path.rpartition("/")[2] in names]
        notes.append(_ONLY_NAMED)
    changes = None if named else ChangeReader(tree, past.until if past else None)
    built = build_corpus(
        tree,
        remove_ignored(remove_skills(listing), ignore),
        limits,
        read_copied_patterns(tree, listing.entries),
    )
    if importing:
        importing.join()  # two threads in chromadb's circular imports: one of them finds a module half made
    vectors = embed_corpus(built.corpus, model, model_name, in_chroma=in_chroma)
    owners, forms = read_code_owners(tree, listing.entries), read_issue_forms(tree, listing.entries)
    label_rules = read_label_rules(tree, listing.entries)
    policy, skills = find_security_policy(listing.entries), read_skills(tree)
    is_dirty = past is None and _is_dirty(tree, listing, notes)
    past_changes = PastChanges(built.corpus, changes.wait() if changes else ChangeTable())
    facts = IndexFacts(
        commit=tree.commit,
        files=len(built.corpus.files),
        passages=len(built.corpus.chunk_files),
        sections=int(built.corpus.documentation_files[built.corpus.chunk_files].sum()),
        vectors=vectors.store.size if vectors.store else 0,
        left_out=dict(sorted(built.left_out.items())),
        partial=built.partial,
        embedding=vectors.embedding,
        notes=[*notes, *built.notes, *vectors.notes],
        seconds=round(time.perf_counter() - started, 3),
        dirty=is_dirty,
        shallow=past is None and tree.history is not None and tree.history.is_shallow(),
    )
    packages = read_dependencies(tree, listing.entries)
    project = owners, forms, label_rules, policy, packages, skills
    index = IndexedCommit(built.corpus, past_changes, vectors, model, *project, tree, repository)
    return index, facts


def _import_chroma() -> None:
    import triage.find.vectors.chroma_store  # noqa: F401


def _open_past_tree(root: Path, past: PastCommit) -> tuple[SourceTree, Listing]:
    tree = open_commit(root, past.revision, past.until)
    return tree, tree.list_files()


def _open_tree(root: Path, notes: list[str]) -> tuple[SourceTree, Listing]:
    try:
        commit = open_commit(root)
        return commit, commit.list_files()
    except GitError as error:
        if not is_bare_repository(root) and not os.path.lexists(root / ".git"):
            folder = FolderTree(root)
            files = folder.list_files()
            notes.append(_NO_GIT if files.entries else _NO_FILES)
            return folder, files
        notes.append(_NO_COMMIT.format(error=error))
        return SourceTree(), Listing()


def _is_dirty(tree: SourceTree, listing: Listing, notes: list[str]) -> bool:
    try:
        # git has no time limit of its own: not for a listing that was too long.
        return not listing.truncated and tree.is_dirty()
    except GitError as error:
        notes.append(f"Whether the work tree differs from the commit could not be told ({error}).")
        return False
