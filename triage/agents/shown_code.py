"""Code as a model is shown it: lines with their numbers under a heading, and the places that a finding cites."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from triage.domain.code import Passage
from triage.domain.findings import RelevantFile

MAX_LINE_CHARS = 300
NumberedLine = tuple[int, str]
Place = tuple[str, int]
"""A path and a line of it."""
ReadLines = Callable[[str], list[str] | None]
MARGIN = 10
"""Lines above and below the cited ones."""
MAX_CITED_LINES = 60
"""Of one place, without the margin."""
MAX_CHARS = 12_000
"""Of all places together."""
MIN_LEFT_OUT, ELSEWHERE = 5, "they stand elsewhere here"
_HEADING, _NUMBER = re.compile(r"## (.+?):\d{1,7}(?:-\d{1,7})?(?: |$)"), re.compile(r" {0,7}(\d{1,7})\| ?")


def format_heading(passage: Passage) -> str:
    span = passage.span
    return format_location(span.path, span.start, span.end, passage.symbol)


def format_location(path: str, start: int, end: int, symbol: str | None, *, is_range: bool = True) -> str:
    lines = f"{start}-{end}" if is_range or start != end else f"{start}"
    return f"## {path}:{lines}" + (f" ({symbol})" if symbol else "")


def format_file(file: RelevantFile) -> str:
    """Return `path:start-end (symbol)`, as far as the place is known."""
    lines = f":{file.start_line}-{file.end_line}" if file.start_line and file.end_line else ""
    return f"{file.path}{lines}" + (f" ({file.symbol})" if file.symbol else "")


def number_lines(lines: Iterable[NumberedLine]) -> Sequence[str]:
    numbered = list(lines)
    width = len(str(numbered[-1][0])) if numbered else 0
    return [f"{number:>{width}}| {_cut_line(line)}" for number, line in numbered]


def _cut_line(line: str) -> str:
    over = len(line) - MAX_LINE_CHARS
    return f"{line[:MAX_LINE_CHARS]} (... {over:,} characters left out)" if over > 0 else line


def pluralize(number: int, what: str) -> str:
    ending = "" if number == 1 else "es" if what.endswith("s") else "s"
    return f"{number:,} {what}{ending}"


class ShownLines:
    """The numbered lines of code that a model has seen, so that it is not sent them again."""

    def __init__(self, text: str) -> None:
        self._shown: set[Place] = set()
        self.add(text)

    def add(self, text: str) -> None:
        self._shown.update(place for place, _ in _walk(text) if place)

    def leave_out(self, text: str) -> str:
        """Return the text with a note for each run of at least five lines in it that are known."""
        kept: list[str] = []
        for run in _split_into_runs(text, self._shown):
            first, last = run[0][0], run[-1][0]
            if first and last and first in self._shown and len(run) >= MIN_LEFT_OUT:
                kept.append(f"(lines {first[1]}-{last[1]}: {ELSEWHERE})")
            else:
                kept += [line for _, line in run]
        return "\n".join(kept)


def _split_into_runs(text: str, shown: AbstractSet[Place]) -> Iterator[list[tuple[Place | None, str]]]:
    """Yield the lines of a text, known ones that follow each other together."""
    run: list[tuple[Place | None, str]] = []
    for place, line in _walk(text):
        before = run[-1][0] if run else None
        follows = place and before and place in shown and before in shown and place == (before[0], before[1] + 1)
        if run and not follows:
            yield run
            run = []
        run.append((place, line))
    yield run


def _walk(text: str) -> Iterator[tuple[Place | None, str]]:
    """Yield each line of a text, with its path and number if it is a line of code below a heading."""
    path = ""
    for line in text.split("\n"):
        if heading := _HEADING.match(line):
            path = heading[1]
        number = _NUMBER.match(line)
        yield ((path, int(number[1])) if path and number else None), line


def render_cited_code(
    files: Sequence[RelevantFile], read_lines: ReadLines, max_chars: int = MAX_CHARS, margin: int = MARGIN
) -> str:
    """Return the cited lines with their numbers and `margin` lines around them, no line twice.

    Places that do not fit are left out.
    """
    rendered: list[str] = []
    shown: set[tuple[str, int]] = set()
    for file in files:
        lines = read_lines(file.path) or []
        numbers = [number for number in _list_lines(file, len(lines), margin) if (file.path, number) not in shown]
        text = _render_place(file, lines, numbers) if lines and file.start_line else ""
        if text and sum(map(len, rendered)) + len(text) <= max_chars:
            rendered.append(text)
            shown.update((file.path, number) for number in numbers)
    return "\n\n".join(rendered)


def _list_lines(file: RelevantFile, count: int, margin: int) -> range:
    start = file.start_line or 1
    cited_end = min(file.end_line or start, start + MAX_CITED_LINES - 1)
    return range(max(1, start - margin), min(count, cited_end + margin) + 1)


def _render_place(file: RelevantFile, lines: Sequence[str], numbers: Sequence[int]) -> str:
    cited = f"cited: {file.start_line}-{file.end_line or file.start_line}" + (f", {file.symbol}" if file.symbol else "")
    if not numbers:
        return f"## {file.path} ({cited}; shown above)"
    numbered = number_lines([(number, lines[number - 1]) for number in numbers])
    return "\n".join([f"## {file.path}:{numbers[0]}-{numbers[-1]} ({cited})", *numbered])
