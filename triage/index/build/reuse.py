"""Which files are taken over from an earlier index, and which have to be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triage.index.build.cached_index import Kept, Stretch, Wanted
from triage.index.build.merge import Joined
from triage.index.corpus.corpus import packed
from triage.index.files.file_filter import text_or_reason
from triage.index.files.file_roles import Kind
from triage.index.parse.extract import Extract, Source
from triage.index.source.tree import Entry, Tree


@dataclass
class Reuse:
    """The wanted files, in stretches that are taken over or read."""

    wanted: Sequence[Wanted]
    stretches: Sequence[Stretch]
    kept: Kept | None = None
    odd: Mapping[str, bytes] = field(default_factory=dict)
    """Packed texts of the files taken over that were not kept with one."""
    files: int = 0
    """How many are taken over, without those left out."""

    @property
    def fresh(self) -> list[Stretch]:
        """What has to be read."""
        return [one for one in self.stretches if one.kept is None]

    def unchanged(self, kinds: Mapping[str, Kind]) -> Joined | None:
        """The earlier index as it is; none when anything is otherwise now."""
        kept = self.kept
        if kept is None or not kept.is_all(self.stretches):
            return None
        return Joined(kept.corpus(kinds, self.odd), kept.left_out, kept.unread, uncut=0)

    def part(self, stretch: Stretch) -> tuple[Sequence[Source], Extract, list[int]]:
        """A stretch that is taken over, with its states."""
        assert self.kept is not None
        assert stretch.kept is not None
        last = stretch.kept + stretch.end - stretch.start
        sources, extract = self.kept.part(stretch.kept, last, self.odd)
        return sources, extract, self.kept.states[stretch.kept : last].tolist()

    def release(self) -> None:
        """Nothing more is taken over: two indexes side by side would take twice the memory."""
        self.kept = None


def reuse_of(kept: Kept | None, wanted: Sequence[Wanted], tree: Tree) -> Reuse:
    """Compare what is wanted with what is kept. Raises GitFailed when git does not start."""
    if kept is None:
        return Reuse(wanted, [Stretch(0, len(wanted))] if wanted else [])
    stretches = kept.stretches(wanted)
    files = sum(
        kept.documents[one.kept + one.end - one.start] - kept.documents[one.kept]
        for one in stretches
        if one.kept is not None
    )
    return Reuse(wanted, stretches, kept, _texts(tree, kept.odd(stretches, wanted)), files)


def _texts(tree: Tree, entries: Sequence[Entry]) -> dict[str, bytes]:
    """Packed texts of some files."""
    found = tree.read(entries) if entries else ()
    texts = ((entry.path, text_or_reason(data, entry.path)[0]) for entry, data in found if data is not None)
    return {path: packed(text) for path, text in texts if text is not None}
