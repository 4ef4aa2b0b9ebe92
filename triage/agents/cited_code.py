"""The code that a finding cites, for agents that judge it or continue from it."""

from collections.abc import Callable, Sequence

from triage.agents.numbered_lines import number_lines
from triage.domain.findings import RelevantFile

ReadLines = Callable[[str], list[str] | None]

MARGIN = 10
"""Lines above and below the cited ones."""
MAX_CITED_LINES = 60
"""Of one place, without the margin."""
MAX_CHARS = 12_000
"""Of all places together."""


def render_cited_code(files: Sequence[RelevantFile], read_lines: ReadLines, max_chars: int = MAX_CHARS) -> str:
    """Return the cited lines with their numbers and ten lines around them, no line twice.

    Places that do not fit are left out.
    """
    rendered: list[str] = []
    shown: set[tuple[str, int]] = set()
    for file in files:
        lines = read_lines(file.path) or []
        numbers = [number for number in _list_lines(file, len(lines)) if (file.path, number) not in shown]
        text = _render_place(file, lines, numbers) if lines and file.start_line else ""
        if text and sum(map(len, rendered)) + len(text) <= max_chars:
            rendered.append(text)
            shown.update((file.path, number) for number in numbers)
    return "\n\n".join(rendered)


def _list_lines(file: RelevantFile, count: int) -> range:
    start = file.start_line or 1
    cited_end = min(file.end_line or start, start + MAX_CITED_LINES - 1)
    return range(max(1, start - MARGIN), min(count, cited_end + MARGIN) + 1)


def _render_place(file: RelevantFile, lines: Sequence[str], numbers: Sequence[int]) -> str:
    cited = f"cited: {file.start_line}-{file.end_line or file.start_line}" + (f", {file.symbol}" if file.symbol else "")
    if not numbers:
        return f"## {file.path} ({cited}; shown above)"
    numbered = number_lines([(number, lines[number - 1]) for number in numbers])
    return "\n".join([f"## {file.path}:{numbers[0]}-{numbers[-1]} ({cited})", *numbered])
