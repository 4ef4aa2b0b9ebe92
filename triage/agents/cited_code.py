"""The code that a finding cites, for agents that judge it or continue from it."""

from collections.abc import Callable, Sequence

from triage.domain.findings import RelevantFile

ReadLines = Callable[[str], list[str] | None]

MARGIN = 10
"""Lines above and below the cited ones."""
MAX_CITED_LINES = 60
"""Of one place, without the margin."""
MAX_LINE_CHARS = 300
MAX_CHARS = 12_000
"""Of all places together."""


def render_cited_code(files: Sequence[RelevantFile], read_lines: ReadLines, max_chars: int = MAX_CHARS) -> str:
    """Return the cited lines with their numbers and ten lines around them; places that do not fit are left out."""
    rendered: list[str] = []
    for file in files:
        text = _render_place(file, read_lines(file.path) or [])
        if text and sum(map(len, rendered)) + len(text) <= max_chars:
            rendered.append(text)
    return "\n\n".join(rendered)


def _render_place(file: RelevantFile, lines: Sequence[str]) -> str:
    if file.start_line is None or not lines:
        return ""
    cited_end = min(file.end_line or file.start_line, file.start_line + MAX_CITED_LINES - 1)
    start, end = max(1, file.start_line - MARGIN), min(len(lines), cited_end + MARGIN)
    width = len(str(end))
    numbered = [f"{number:>{width}}| {lines[number - 1][:MAX_LINE_CHARS]}" for number in range(start, end + 1)]
    cited = f"cited: {file.start_line}-{file.end_line or file.start_line}" + (f", {file.symbol}" if file.symbol else "")
    return "\n".join([f"## {file.path}:{start}-{end} ({cited})", *numbered])
