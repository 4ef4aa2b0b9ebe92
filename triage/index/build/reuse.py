"""Which files are taken over from an earlier index, and which have to be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triage.index.build.cached_index import CachedIndex, FileRange, WantedFile
from triage.index.build.merge import MergeResult
from triage.index.corpus.corpus import compress_text
from triage.index.files.file_filter import load_text
from triage.index.files.file_roles import FileRole
from triage.index.parse.extract import ExtractedFiles, SourceFile
from triage.index.source.tree import Entry, SourceTree


@dataclass
class ReusePlan:
    """The wanted files, in stretches that are taken over or read."""

    wanted: Sequence[WantedFile]
    ranges: Sequence[FileRange]
    cached: CachedIndex | None = None
    other_texts: Mapping[str, bytes] = field(default_factory=dict)
    """Packed texts of the files taken over that were not kept with one."""
    reused_files: int = 0
    """How many are taken over, without those left out."""

    @property
    def ranges_to_read(self) -> list[FileRange]:
        """What has to be read."""
        return [one for one in self.ranges if one.cached_start is None]

    def reuse_everything(self, kinds: Mapping[str, FileRole]) -> MergeResult | None:
        """The earlier index as it is; none when anything is otherwise now."""
        kept = self.cached
        if kept is None or not kept.covers(self.ranges):
            return None
        return MergeResult(kept.to_corpus(kinds, self.other_texts), kept.left_out, kept.path_only, dropped_chunks=0)

    def extract_range(self, stretch: FileRange) -> tuple[Sequence[SourceFile], ExtractedFiles, list[int]]:
        """A stretch that is taken over, with its states."""
        assert self.cached is not None
        assert stretch.cached_start is not None
        last = stretch.cached_start + stretch.end - stretch.start
        sources, extract = self.cached.extract_range(stretch.cached_start, last, self.other_texts)
        return sources, extract, self.cached.states[stretch.cached_start : last].tolist()

    def release_cached(self) -> None:
        """Nothing more is taken over: two indexes side by side would take twice the memory."""
        self.cached = None


def plan_reuse(kept: CachedIndex | None, wanted: Sequence[WantedFile], tree: SourceTree) -> ReusePlan:
    """Compare what is wanted with what is kept. Raises GitFailed when git does not start."""
    if kept is None:
        return ReusePlan(wanted, [FileRange(0, len(wanted))] if wanted else [])
    stretches = kept.find_ranges(wanted)
    files = sum(
        kept.documents[one.cached_start + one.end - one.start] - kept.documents[one.cached_start]
        for one in stretches
        if one.cached_start is not None
    )
    return ReusePlan(wanted, stretches, kept, _texts(tree, kept.list_other_texts(stretches, wanted)), files)


def _texts(tree: SourceTree, entries: Sequence[Entry]) -> dict[str, bytes]:
    """Packed texts of some files."""
    found = tree.read(entries) if entries else ()
    texts = ((entry.path, load_text(data, entry.path)[0]) for entry, data in found if data is not None)
    return {path: compress_text(text) for path, text in texts if text is not None}
