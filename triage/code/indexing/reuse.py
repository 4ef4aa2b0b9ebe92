"""Decides which files are reused from the index of another commit, and which have to be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triage.code.files.file_roles import FileRole
from triage.code.indexing.merge import MergeResult
from triage.code.indexing.reusable_index import FileRange, ReusableIndex, WantedFile
from triage.code.parse.extract import ExtractedFiles, SourceFile


@dataclass
class ReusePlan:
    """The wanted files, in ranges that are either reused or read."""

    wanted: Sequence[WantedFile]
    ranges: Sequence[FileRange]
    index: ReusableIndex | None = None
    """None from `release_index` on: two indexes side by side would take twice the memory."""

    def reuse_everything(self, roles: Mapping[str, FileRole]) -> MergeResult | None:
        """Return the index as it is; None if anything has changed."""
        index = self.index
        if index is None or not index.covers(self.ranges):
            return None
        return MergeResult(index.to_corpus(roles), index.left_out, index.path_only, dropped_chunks=0)

    def extract_range(self, reused: FileRange) -> tuple[Sequence[SourceFile], ExtractedFiles, list[int]]:
        assert self.index is not None
        assert reused.reused_start is not None
        assert reused.reused_end is not None
        first, end = reused.reused_start, reused.reused_end
        return *self.index.extract_range(first, end), self.index.states[first:end].tolist()

    def release_index(self) -> None:
        self.index = None


def plan_reuse(index: ReusableIndex | None, wanted: Sequence[WantedFile]) -> ReusePlan:
    """Compare what is wanted with what another commit had."""
    if index is None:
        return ReusePlan(wanted, [FileRange(0, len(wanted))] if wanted else [])
    return ReusePlan(wanted, index.find_ranges(wanted), index)
