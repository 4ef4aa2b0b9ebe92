"""Indexes one commit, or a folder without git."""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from triage.base.errors import GitError
from triage.domain.code import IndexFacts
from triage.find.build_corpus import IndexLimits, Merger, build_corpus
from triage.find.files.file_filter import remove_ignored
from triage.find.files.project_files import ProjectFiles, read_copied_patterns, read_project_files, remove_skills
from triage.find.past_changes import ChangeReader, ChangeTable, PastChanges
from triage.find.vectors.embed_corpus import CorpusVectors, embed_corpus
from triage.find.words.corpus import Corpus
from triage.git.commit import is_bare_repository, open_commit
from triage.git.tree import FolderTree, Listing, SourceTree

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


@dataclass(frozen=True)
class PastCommit:
    """A commit to index as if it were the newest one."""

    revision: str
    until: datetime
    """What was committed later is not known."""


@dataclass(frozen=True)
class IndexedCommit:
    """What was read from a commit; by default nothing."""

    past_changes: PastChanges = field(default_factory=lambda: PastChanges(Merger({}, 0, 0).finish()))
    vectors: CorpusVectors = field(default_factory=CorpusVectors)
    project: ProjectFiles = field(default_factory=ProjectFiles)
    tree: SourceTree = field(default_factory=SourceTree)

    @property
    def corpus(self) -> Corpus:
        return self.past_changes.corpus


def index_commit(
    root: Path,
    model: "Embeddings | None",
    model_name: str,
    limits: IndexLimits,
    ignore: Sequence[str] = (),
    past_commit: PastCommit | None = None,
    only_paths: Sequence[str] = (),
    *,
    in_chroma: bool = True,
) -> tuple[IndexedCommit, IndexFacts]:
    """Index HEAD's commit, or the files of a folder without git, see `Codebase`. No file makes it fail.

    CODEOWNERS, issue forms and the project's skills are read even if `ignore` matches them. Raises GitError if a past
    commit cannot be read. With `only_paths`, it has only the files with the names of these paths.
    """
    started = time.perf_counter()
    notes: list[str] = []
    tree, listing = _open_tree(root.resolve(), past_commit, notes)
    if only_paths:
        names = {re.split(r"[/\\]", path)[-1] for path in only_paths}
        listing.entries = [entry for entry in listing.entries if entry.path.rpartition("/")[2] in names]
        notes.append("Only files that the report names were read: there was no time for the others.")
    entries = listing.entries
    changes = ChangeReader(tree.history) if tree.history and not only_paths else None
    copied_patterns = read_copied_patterns(tree, entries)
    built = build_corpus(tree, remove_ignored(remove_skills(listing), ignore), limits, copied_patterns)
    vectors = embed_corpus(built.corpus, model, model_name, in_chroma=in_chroma)
    index = IndexedCommit(
        past_changes=PastChanges(built.corpus, changes.wait() if changes else ChangeTable()),
        vectors=vectors,
        project=read_project_files(tree, entries),
        tree=tree,
    )
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
        shallow=past_commit is None and tree.history is not None and tree.history.is_shallow,
    )
    return index, facts


def _open_tree(root: Path, past_commit: PastCommit | None, notes: list[str]) -> tuple[SourceTree, Listing]:
    """Return the commit, or else the folder, with its files; without any and with a note if neither can be read."""
    try:
        commit = open_commit(root, past_commit.revision, past_commit.until) if past_commit else open_commit(root)
        return commit, commit.list_files()
    except GitError as error:
        if past_commit:
            raise
        if not is_bare_repository(root) and not os.path.lexists(root / ".git"):
            folder = FolderTree(root)
            files = folder.list_files()
            notes.append(_NO_GIT if files.entries else _NO_FILES)
            return folder, files
        notes.append(_NO_COMMIT.format(error=error))
        return SourceTree(), Listing()
