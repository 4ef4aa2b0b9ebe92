"""Decides which files are reused from a cached index, and which have to be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triage.code.files.file_filter import load_text
from triage.code.files.file_roles import FileRole
from triage.code.git.tree import Entry, SourceTree
from triage.code.indexing.cached_index import CachedIndex, FileRange, WantedFile
from triage.code.indexing.merge import MergeResult
from triage.code.parse.extract import ExtractedFiles, SourceFile
from triage.code.words.corpus import compress_text


@dataclass
class ReusePlan:
    """The wanted files, in ranges that are either reused or read."""

    wanted: Sequence[WantedFile]
    ranges: Sequence[FileRange]
    cached: CachedIndex | None = None
    """None from `release_cached` on: two indexes side by side would take twice the memory."""
    other_texts: Mapping[str, bytes] = field(default_factory=dict)
    """Compressed texts of reused files that the cache does not store, by path."""
    reused_files: int = 0
    """Without those left out."""

    def reuse_everything(self, roles: Mapping[str, FileRole]) -> MergeResult | None:
        """The cached index as it is; None when anything has changed."""
        cached = self.cached
        if cached is None or not cached.covers(self.ranges):
            return None
        corpus = cached.to_corpus(roles, self.other_texts)
        return MergeResult(corpus, cached.left_out, cached.path_only, dropped_chunks=0)

    def extract_range(self, reused: FileRange) -> tuple[Sequence[SourceFile], ExtractedFiles, list[int]]:
        assert self.cached is not None
        assert reused.cached_start is not None
        assert reused.cached_end is not None
        first, end = reused.cached_start, reused.cached_end
        return *self.cached.extract_range(first, end, self.other_texts), self.cached.states[first:end].tolist()

    def release_cached(self) -> None:
        self.cached = None


def plan_reuse(cached: CachedIndex | None, wanted: Sequence[WantedFile], tree: SourceTree) -> ReusePlan:
    """Compare what is wanted with what is cached. Raises GitError when git does not start."""
    if cached is None:
        return ReusePlan(wanted, [FileRange(0, len(wanted))] if wanted else [])
    ranges, counts = cached.find_ranges(wanted), cached.document_counts
    reused = [(one.cached_start, one.cached_end) for one in ranges]
    reused_files = sum(counts[end] - counts[start] for start, end in reused if start is not None and end is not None)
    return ReusePlan(wanted, ranges, cached, _read_texts(tree, cached.list_other_texts(ranges, wanted)), reused_files)


def _read_texts(tree: SourceTree, entries: Sequence[Entry]) -> dict[str, bytes]:
    contents = tree.read(entries) if entries else ()
    texts = ((entry.path, load_text(data, entry.path)[0]) for entry, data in contents if data is not None)
    return {path: compress_text(text) for path, text in texts if text is not None}
