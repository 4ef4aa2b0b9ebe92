"""Writes a patch as git does, so that `git apply` takes it."""

from collections.abc import Iterator, Sequence

from triage.domain.proposal import BaseFile, FileVersion, PatchDraft
from triage.domain.value import Value
from triage.fix.patch.line_diff import Change, diff_lines, split_keeping_ends
from triage.proposal_ports import BaseFiles

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
