"""Reads a tree into a corpus: choose files within the budget, have them taken apart, put the pieces together."""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from triage.index.build.cached_index import (
    BLOB_TEXT,
    INCOMPLETE,
    LEFT_OUT,
    PATH_ONLY,
    REASONS,
    UNREADABLE,
    CachedIndex,
    WantedFile,
)
from triage.index.build.index_cache import make_cached_index
from triage.index.build.merge import Merger, MergeResult
from triage.index.build.reuse import ReusePlan, plan_reuse
from triage.index.corpus.corpus import Corpus
from triage.index.files.file_filter import get_skip_reason
from triage.index.files.file_roles import FileRole, classify_file
from triage.index.parse.extract import ExtractedFiles, SourceFile
from triage.index.parse.worker_pool import WorkerPool
from triage.index.source.tree import Entry, Listing, SourceTree

_BATCH_BYTES = 256_000
"""Of the files that are taken apart together."""
_FILE_BYTES = 256
"""What a file costs beside its content."""


@dataclass(frozen=True)
class IndexLimits:
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
class BuildResult:
    """A corpus, and what did not get into it."""

    corpus: Corpus
    left_out: Counter[str]
    partial: bool
    """A file that belongs in did not get in, or not whole."""
    notes: list[str]
    reused_files: int
    """Files that were taken over from an earlier index."""
    make_cached_index: Callable[[], CachedIndex] | None
    """Makes what the cache should keep from now on; none when it has it already, or when too much went wrong."""


def build_corpus(
    tree: SourceTree, listing: Listing, budget: IndexLimits, kept: CachedIndex | None = None
) -> BuildResult:
    """Index a listing's files. Raises GitFailed when git does not start.

    Args:
        tree: What the files are read from.
        listing: The files.
        budget: How much is indexed at most.
        kept: An index of an earlier state; files that did not change are taken over from it.
    """
    left_out = Counter(listing.left_out)
    kinds = _classify_files(listing.entries, left_out)
    wanted = _choose_files([entry for entry in listing.entries if entry.path in kinds], kinds, budget)
    reuse = plan_reuse(kept, wanted, tree)
    del kept  # see Reuse.release
    joined = reuse.reuse_everything(kinds) or _merge_files(tree, kinds, reuse, budget)
    notes = ["Syntax trees could not be read; files were cut by lines."] if joined.parsing_stopped else []
    if joined.path_only:
        many = "1 file is" if joined.path_only == 1 else f"{joined.path_only:,} files are"
        notes.append(f"{many} known by path alone; likely sources were read first.")
    if joined.dropped_chunks:
        notes.append(f"{joined.dropped_chunks} passages did not fit; their files are searched as a whole.")
    if listing.truncated:
        notes.append(f"There are more than {len(listing.entries):,} files; further ones were not looked at.")
    missing = Counter({"not fetched": listing.missing}) if listing.missing else Counter()
    is_partial = bool(
        joined.path_only or joined.dropped_chunks or missing or listing.truncated or len(kinds) > budget.paths
    )
    news = (
        partial(make_cached_index, wanted, joined.cache_states, joined.corpus)
        if joined.cache_states and not joined.parsing_stopped
        else None
    )
    return BuildResult(joined.corpus, left_out + joined.left_out + missing, is_partial, notes, reuse.reused_files, news)


def _classify_files(entries: Sequence[Entry], left_out: Counter[str]) -> dict[str, FileRole]:
    """The kind of each file that is not left out for its path or size."""
    kinds: dict[str, FileRole] = {}
    alike: dict[FileRole, FileRole] = {}
    for entry in entries:
        reason = get_skip_reason(entry.path, entry.size)
        if reason:
            left_out[reason] += 1
        else:
            kind = classify_file(entry.path)
            kinds[entry.path] = alike.setdefault(kind, kind)
    return kinds


def _choose_files(entries: Sequence[Entry], kinds: Mapping[str, FileRole], budget: IndexLimits) -> list[WantedFile]:
    """Files whose text fits, likely sources first and shallow ones before deep ones; then those known by their path."""
    chosen: list[WantedFile] = []
    further: list[WantedFile] = []
    room = budget.bytes
    for entry in sorted(entries, key=lambda one: (-kinds[one.path].prior, one.path.count("/"), one.path)):
        if entry.size <= room:
            room -= entry.size
            chosen.append(WantedFile(entry, with_text=True))
        else:
            further.append(WantedFile(entry, with_text=False))
    return [*chosen, *further][: budget.paths]


def _merge_files(tree: SourceTree, kinds: Mapping[str, FileRole], reuse: ReusePlan, budget: IndexLimits) -> MergeResult:
    """Everything that is wanted, from earlier or anew."""
    joiner = Merger(kinds, budget.chunks, budget.terms)
    states: list[int] = []
    with WorkerPool() as pool:
        for batch, extract, found in _iter_extracts(tree, reuse, budget, pool):
            joiner.add(batch, extract)
            states += found
        gave_up = pool.has_given_up
    reuse.release_cached()
    paths = (one.entry.path for one in reuse.wanted)
    states = [
        INCOMPLETE if path in joiner.truncated_paths else state for path, state in zip(paths, states, strict=True)
    ]
    return joiner.finish(states, gave_up=gave_up)


def _iter_extracts(
    tree: SourceTree, reuse: ReusePlan, budget: IndexLimits, pool: WorkerPool
) -> Iterator[tuple[Sequence[SourceFile], ExtractedFiles, list[int]]]:
    """Every wanted file in order, a few at a time, with the states in which they can be kept."""
    fresh = [one for stretch in reuse.ranges_to_read for one in reuse.wanted[stretch.start : stretch.end]]
    last = {reuse.wanted[stretch.end - 1].entry.path for stretch in reuse.ranges_to_read}
    made = pool.extract_all(_make_batches(_read_sources(tree, fresh, budget), last))
    for stretch in reuse.ranges:
        if stretch.cached_start is not None:
            yield reuse.extract_range(stretch)
            continue
        at = stretch.start
        while at < stretch.end:
            batch, extract = next(made)
            asked, at = reuse.wanted[at : at + len(batch)], at + len(batch)
            found = zip(asked, batch, extract.skip_reasons, extract.compressed_texts, strict=True)
            yield batch, extract, [_cache_state(*one, late=extract.timed_out) for one in found]


def _cache_state(wanted: WantedFile, source: SourceFile, reason: str, packed: bytes | None, *, late: bool) -> int:
    """How a file that was taken apart can be kept."""
    if reason:
        return LEFT_OUT + REASONS.index(reason)
    if packed is not None:
        return BLOB_TEXT if source.use_grammar and not late else INCOMPLETE
    if not wanted.with_text:
        return PATH_ONLY
    return INCOMPLETE if source.data is None else UNREADABLE


def _read_sources(tree: SourceTree, wanted: Sequence[WantedFile], budget: IndexLimits) -> Iterator[SourceFile]:
    """Files in order; without content where it cannot be read, or not in time."""
    started = time.monotonic()
    read = 0
    for entry, data in tree.read([one.entry for one in wanted if one.with_text]):
        seconds = time.monotonic() - started
        if seconds > budget.read_seconds:
            break
        read += 1
        yield SourceFile(entry.path, data, use_grammar=seconds < budget.parse_seconds)
    for one in wanted[read:]:
        yield SourceFile(one.entry.path, None)


def _make_batches(sources: Iterator[SourceFile], last: Container[str]) -> Iterator[list[SourceFile]]:
    """Sources that are taken apart together; a batch ends with each path of `last`."""
    batch: list[SourceFile] = []
    size = 0
    for source in sources:
        batch.append(source)
        size += _FILE_BYTES + len(source.data or b"")
        if size > _BATCH_BYTES or source.path in last:
            yield batch
            batch, size = [], 0
