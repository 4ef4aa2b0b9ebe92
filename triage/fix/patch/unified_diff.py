"""Writes a patch as git does, so that `git apply` takes it, in a time that hostile texts cannot make long."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from triage.domain.proposal import BaseFile, FileVersion, PatchDraft
from triage.domain.value import Value
from triage.fix.fix_ports import BaseFiles

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


CONTEXT_LINES = 3
"""As `git diff` shows by default."""
MAX_SHOWN_LINES = 200
_ESCAPES = {"\a": r"\a", "\b": r"\b", "\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r"}


class LineCounts(Value):
    """Lines that a patch adds to a file and removes from it, as `git diff --numstat`."""

    path: str
    added: int
    removed: int


def count_changed_lines(draft: PatchDraft, files: BaseFiles) -> list[LineCounts]:
    """Return the counts of each file of the whole patch."""
    return [count_file_lines(file, _read_text(file, files)) for file in draft.files]


def count_file_lines(file: FileVersion, base_text: str) -> LineCounts:
    changes = diff_lines(split_keeping_ends(base_text), split_keeping_ends(file.text))
    return LineCounts(
        path=file.path,
        added=sum(change.new_end - change.new_start for change in changes),
        removed=sum(change.end - change.start for change in changes),
    )


def format_diff(draft: PatchDraft, files: BaseFiles) -> str:
    """Return the whole patch against its base commit."""
    return "".join(format_file_diff(file, _read_text(file, files)) for file in draft.files)


def format_file_diff(file: FileVersion, base_text: str) -> str:
    """Return the diff of one file; empty if nothing changes."""
    old, new = split_keeping_ends(base_text), split_keeping_ends(file.text)
    changes = diff_lines(old, new)
    if not changes and not file.is_new_file:
        return ""
    name, new_name = _quote_path(f"a/{file.path}"), _quote_path(f"b/{file.path}")
    head = f"diff --git {name} {new_name}\n"
    if file.is_new_file:
        head += "new file mode 100644\n"
    if not changes:
        return head
    names = f"--- {'/dev/null' if file.is_new_file else _end_name(name)}\n+++ {_end_name(new_name)}\n"
    return head + names + "".join(_format_hunks(old, new, changes))


def cut_diff(text: str, max_lines: int = MAX_SHOWN_LINES) -> str:
    """Return the first lines, and how many are left out."""
    lines = split_keeping_ends(text)
    if len(lines) <= max_lines:
        return text
    left_out = len(lines) - max_lines
    return f"{''.join(lines[:max_lines])}[{left_out} more line{'s' if left_out > 1 else ''}]\n"


def _read_text(file: FileVersion, files: BaseFiles) -> str:
    base = files.read(file.path)
    return base.text if isinstance(base, BaseFile) else ""


def _format_hunks(old: Sequence[str], new: Sequence[str], changes: Sequence[Change]) -> Iterator[str]:
    for hunk in _group_changes(changes):
        first, last = hunk[0], hunk[-1]
        before = min(CONTEXT_LINES, first.start)
        after = min(CONTEXT_LINES, len(old) - last.end)
        old_range = _format_range(first.start - before, last.end + after)
        new_range = _format_range(first.new_start - before, last.new_end + after)
        yield f"@@ -{old_range} +{new_range} @@\n"
        done = first.start - before
        for change in hunk:
            yield from (_format_line(" ", line) for line in old[done : change.start])
            yield from (_format_line("-", line) for line in old[change.start : change.end])
            yield from (_format_line("+", line) for line in new[change.new_start : change.new_end])
            done = change.end
        yield from (_format_line(" ", line) for line in old[done : last.end + after])


def _group_changes(changes: Sequence[Change]) -> list[list[Change]]:
    """Changes whose context meets are one hunk."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change.start - groups[-1][-1].end <= 2 * CONTEXT_LINES:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _format_range(start: int, end: int) -> str:
    # Without lines, the range names the line before it.
    size = end - start
    first = start + 1 if size else start
    return str(first) if size == 1 else f"{first},{size}"


def _format_line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _quote_path(path: str) -> str:
    """Return a path as git prints it: in quotes, with octal bytes, unless it is printable ASCII."""
    if path.isascii() and path.isprintable() and not any(char in path for char in '"\\'):
        return path
    return f'"{"".join(map(_quote_character, path))}"'


def _quote_character(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isascii() and char.isprintable():
        return char
    return _ESCAPES.get(char) or "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogatepass"))


def _end_name(name: str) -> str:
    # A tab after a name with a space says where the name ends.
    return f"{name}\t" if " " in name and not name.startswith('"') else name
