"""Compares two texts line by line, in a time that hostile texts cannot make long."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_MAX_EQUAL_PAIRS = 2_000
"""Pairs of equal lines in one stretch. Difflib's time grows with them; above, the stretch counts as replaced."""


class Change(NamedTuple):
    """Lines `start` to `end` of the old text become lines `new_start` to `new_end` of the new one, counted from 0."""

    start: int
    end: int
    new_start: int
    new_end: int


def split_keeping_ends(text: str) -> list[str]:
    r"""Return the lines with their ends, as git counts them: only `\n` ends a line."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def diff_lines(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Return what changes, in order."""
    changes: list[Change] = []
    start, new_start = 0, 0
    # Lines that occur once in both texts divide the rest into stretches ("patience diff").
    for position, new_position in [*_match_unique_lines(old, new), (len(old), len(new))]:
        changes += _diff_stretch(old, new, Change(start, position, new_start, new_position))
        start, new_start = position + 1, new_position + 1
    return _join_neighbours(changes)


def _match_unique_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    counts, new_counts = Counter(old), Counter(new)
    positions = {line: number for number, line in enumerate(new) if new_counts[line] == 1}
    pairs = [(number, positions[line]) for number, line in enumerate(old) if counts[line] == 1 and line in positions]
    return _find_longest_rise(pairs)


def _find_longest_rise(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs, which are sorted by their first numbers, in which the second ones rise too."""
    ends: list[int] = []  # Of the parts of each length, the one with the lowest last number: that number,
    last: list[int] = []  # and the index of its pair.
    before: list[int] = []
    for index, (_, number) in enumerate(pairs):
        length = bisect_left(ends, number)
        ends[length : length + 1] = [number]
        last[length : length + 1] = [index]
        before.append(last[length - 1] if length else -1)
    found, index = [], last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _diff_stretch(old: Sequence[str], new: Sequence[str], stretch: Change) -> Iterator[Change]:
    start, end, new_start, new_end = stretch
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    counts = Counter(new[new_start:new_end])
    if sum(counts[line] for line in old[start:end]) > _MAX_EQUAL_PAIRS:
        yield Change(start, end, new_start, new_end)
        return
    matcher = SequenceMatcher(None, old[start:end], new[new_start:new_end], autojunk=False)
    for tag, low, high, new_low, new_high in matcher.get_opcodes():
        if tag != "equal":
            yield Change(start + low, start + high, new_start + new_low, new_start + new_high)


def _join_neighbours(changes: Sequence[Change]) -> list[Change]:
    joined: list[Change] = []
    for change in changes:
        last = joined[-1] if joined else None
        if last and (last.end, last.new_end) == (change.start, change.new_start):
            joined[-1] = Change(last.start, change.end, last.new_start, change.new_end)
        else:
            joined.append(change)
    return joined
