"""Passages and lines as a model is shown them: below a heading with their place, each with its number."""

from collections.abc import Iterable, Sequence

from triage.domain.code import Passage

MAX_LINE_CHARS = 300

NumberedLine = tuple[int, str]


def format_heading(passage: Passage) -> str:
    span = passage.span
    return format_location(span.path, span.start, span.end, passage.symbol)


def format_location(path: str, start: int, end: int, symbol: str | None, *, is_range: bool = True) -> str:
    lines = f"{start}-{end}" if is_range or start != end else f"{start}"
    return f"## {path}:{lines}" + (f" ({symbol})" if symbol else "")


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
