"""Reads a tree into a corpus: choose files within the budget, have them taken apart, put the pieces together."""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from triage.index.build.cached_index import AGAIN, LEFT_OUT, LOST, PATH, REASONS, TEXT, Kept, Wanted
from triage.index.build.index_cache import kept_of
from triage.index.build.merge import Joined, Joiner
from triage.index.build.reuse import Reuse, reuse_of
from triage.index.corpus.corpus import Corpus
from triage.index.files.file_filter import refused_by_path
from triage.index.files.file_roles import Kind, kind_of
from triage.index.parse.extract import Extract, Source
from triage.index.parse.worker_pool import Pool
from triage.index.source.tree import Entry, Listing, Tree

_BATCH_BYTES = 256_000
"""Of the files that are taken apart together."""
_FILE_BYTES = 256
"""What a file costs beside its content."""


@dataclass(frozen=True)
class Budget:
    """What an index may hold. Sources come first; paths are indexed whatever the budget.

    The defaults keep 200,000 files below 60 seconds on two cores and 1.2 GB (measured: 40 seconds, 0.9 GB, of which
    each megabyte of text costs 0.3 seconds and 6 MB); Django's 31 MB, like most repositories, fit four times over.
    """

    bytes: int = 120_000_000
    """Of text."""
    chunks: int = 250_000
    """Files that come later are searched as a whole."""
    terms: int = 1_000_000
    """Different ones; those that come later are not searched for."""
    paths: int = 300_000
    parse_seconds: float = 60.0
    """For syntax trees; files that come later are cut into windows."""
    read_seconds: float = 120.0
    """For all files; those that come later are known by their path."""


@dataclass
class Built:
    """A corpus, and what did not get into it."""

    corpus: Corpus
    left_out: Counter[str]
    partial: bool
    """A file that belongs in did not get in, or not whole."""
    notes: list[str]
    reused: int
    """Files that were taken over from an earlier index."""
    news: Callable[[], Kept] | None
    """Makes what the cache should keep from now on; none when it has it already, or when too much went wrong."""


def build(tree: Tree, listing: Listing, budget: Budget, kept: Kept | None = None) -> Built:
    """Index a listing's files. Raises GitFailed when git does not start.

    Args:
        tree: What the files are read from.
        listing: The files.
        budget: How much is indexed at most.
        kept: An index of an earlier state; files that did not change are taken over from it.
    """
    left_out = Counter(listing.left_out)
    kinds = _kinds(listing.entries, left_out)
    wanted = _wanted([entry for entry in listing.entries if entry.path in kinds], kinds, budget)
    reuse = reuse_of(kept, wanted, tree)
    del kept  # see Reuse.release
    joined = reuse.unchanged(kinds) or _joined(tree, kinds, reuse, budget)
    notes = ["Syntax trees could not be read; files were cut by lines."] if joined.gave_up else []
    if joined.unread:
        many = "1 file is" if joined.unread == 1 else f"{joined.unread:,} files are"
        notes.append(f"{many} known by path alone; likely sources were read first.")
    if joined.uncut:
        notes.append(f"{joined.uncut} passages did not fit; their files are searched as a whole.")
    if listing.cut:
        notes.append(f"There are more than {len(listing.entries):,} files; further ones were not looked at.")
    missing = Counter({"not fetched": listing.missing}) if listing.missing else Counter()
    is_partial = bool(joined.unread or joined.uncut or missing or listing.cut or len(kinds) > budget.paths)
    news = partial(kept_of, wanted, joined.states, joined.corpus) if joined.states and not joined.gave_up else None
    return Built(joined.corpus, left_out + joined.left_out + missing, is_partial, notes, reuse.files, news)


def _kinds(entries: Sequence[Entry], left_out: Counter[str]) -> dict[str, Kind]:
    """The kind of each file that is not left out for its path or size."""
    kinds: dict[str, Kind] = {}
    alike: dict[Kind, Kind] = {}
    for entry in entries:
        reason = refused_by_path(entry.path, entry.size)
        if reason:
            left_out[reason] += 1
        else:
            kind = kind_of(entry.path)
            kinds[entry.path] = alike.setdefault(kind, kind)
    return kinds


def _wanted(entries: Sequence[Entry], kinds: Mapping[str, Kind], budget: Budget) -> list[Wanted]:
    """Files whose text fits, likely sources first and shallow ones before deep ones; then those known by their path."""
    chosen: list[Wanted] = []
    further: list[Wanted] = []
    room = budget.bytes
    for entry in sorted(entries, key=lambda one: (-kinds[one.path].prior, one.path.count("/"), one.path)):
        if entry.size <= room:
            room -= entry.size
            chosen.append(Wanted(entry, whole=True))
        else:
            further.append(Wanted(entry, whole=False))
    return [*chosen, *further][: budget.paths]


def _joined(tree: Tree, kinds: Mapping[str, Kind], reuse: Reuse, budget: Budget) -> Joined:
    """Everything that is wanted, from earlier or anew."""
    joiner = Joiner(kinds, budget.chunks, budget.terms)
    states: list[int] = []
    with Pool() as pool:
        for batch, extract, found in _extracts(tree, reuse, budget, pool):
            joiner.add(batch, extract)
            states += found
        gave_up = pool.has_given_up
    reuse.release()
    paths = (one.entry.path for one in reuse.wanted)
    states = [AGAIN if path in joiner.cut else state for path, state in zip(paths, states, strict=True)]
    return joiner.finish(states, gave_up=gave_up)


def _extracts(
    tree: Tree, reuse: Reuse, budget: Budget, pool: Pool
) -> Iterator[tuple[Sequence[Source], Extract, list[int]]]:
    """Every wanted file in order, a few at a time, with the states in which they can be kept."""
    fresh = [one for stretch in reuse.fresh for one in reuse.wanted[stretch.start : stretch.end]]
    last = {reuse.wanted[stretch.end - 1].entry.path for stretch in reuse.fresh}
    made = pool.extracts(_batches(_sources(tree, fresh, budget), last))
    for stretch in reuse.stretches:
        if stretch.kept is not None:
            yield reuse.part(stretch)
            continue
        at = stretch.start
        while at < stretch.end:
            batch, extract = next(made)
            asked, at = reuse.wanted[at : at + len(batch)], at + len(batch)
            found = zip(asked, batch, extract.reasons, extract.packed, strict=True)
            yield batch, extract, [_state(*one, late=extract.late) for one in found]


def _state(wanted: Wanted, source: Source, reason: str, packed: bytes | None, *, late: bool) -> int:
    """How a file that was taken apart can be kept."""
    if reason:
        return LEFT_OUT + REASONS.index(reason)
    if packed is not None:
        return TEXT if source.by_syntax and not late else AGAIN
    if not wanted.whole:
        return PATH
    return AGAIN if source.data is None else LOST


def _sources(tree: Tree, wanted: Sequence[Wanted], budget: Budget) -> Iterator[Source]:
    """Files in order; without content where it cannot be read, or not in time."""
    started = time.monotonic()
    read = 0
    for entry, data in tree.read([one.entry for one in wanted if one.whole]):
        seconds = time.monotonic() - started
        if seconds > budget.read_seconds:
            break
        read += 1
        yield Source(entry.path, data, by_syntax=seconds < budget.parse_seconds)
    for one in wanted[read:]:
        yield Source(one.entry.path, None)


def _batches(sources: Iterator[Source], last: Container[str]) -> Iterator[list[Source]]:
    """Sources that are taken apart together; a batch ends with each path of `last`."""
    batch: list[Source] = []
    size = 0
    for source in sources:
        batch.append(source)
        size += _FILE_BYTES + len(source.data or b"")
        if size > _BATCH_BYTES or source.path in last:
            yield batch
            batch, size = [], 0
