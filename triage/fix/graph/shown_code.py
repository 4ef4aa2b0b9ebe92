"""Code as the fix flow shows it to a model: without line numbers, so that it can be copied exactly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import BaseFiles
from triage.fix.graph.fix_state import FixState
from triage.ports import Codebase

MAX_WHOLE_CHARS = 24_000
"""A file of up to so many characters is shown whole: about 8,000 tokens."""
MAX_SHOWN_CHARS = 60_000
"""Of all code together: about 20,000 tokens."""
HEAD_LINES = 80
"""Of a file that is not shown whole: its imports."""
MARGIN = 40
"""Lines above and below a place without a definition around it."""
SHORT_LINES = 15
"""A definition of fewer lines is shown with what stands around it: its class, its siblings."""
SHORT_MARGIN = 15
MAX_PLACE_LINES = 400


@dataclass
class ShownCode:
    """Collects places of files until the room is used up. A line is shown once."""

    files: BaseFiles
    max_chars: int = MAX_SHOWN_CHARS
    blocks: list[str] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)
    _lines: dict[str, set[int]] = field(default_factory=dict)
    _used: int = 0

    def add_file(self, path: str) -> bool:
        """Show a file whole if it is small enough. Returns whether all of it is shown."""
        file = self._read(path)
        if path in self.whole or file is None:
            return path in self.whole
        text = normalize_line_ends(file.text)
        if len(text) > MAX_WHOLE_CHARS or not self._add(f"## {path} (whole file)\n{text}"):
            return False
        self.whole.add(path)
        return True

    def add_lines(self, path: str, start: int, end: int, symbol: str = "") -> None:
        """Show lines of a file, 1-based and inclusive."""
        file = self._read(path)
        if path in self.whole or file is None:
            return
        lines = normalize_line_ends(file.text).split("\n")
        shown = self._lines.setdefault(path, set())
        end = min(end, start + MAX_PLACE_LINES - 1, len(lines))
        wanted = [number for number in range(max(1, start), end + 1) if number not in shown]
        for first, last in _join_runs(wanted):
            heading = f"## {path}:{first}-{last}" + (f" ({symbol})" if symbol else "")
            if self._add(heading + "\n" + "\n".join(lines[first - 1 : last])):
                shown.update(range(first, last + 1))
            else:
                self.left_out.append(f"{path}:{first}-{last}")

    def add_head(self, path: str) -> None:
        """Show the first lines of a file, which usually import what it uses."""
        self.add_lines(path, 1, HEAD_LINES)

    def _read(self, path: str) -> BaseFile | None:
        file = self.files.read(path)
        return file if isinstance(file, BaseFile) else None

    def _add(self, block: str) -> bool:
        if self._used + len(block) > self.max_chars:
            return False
        self._used += len(block)
        self.blocks.append(block)
        return True

    @property
    def text(self) -> str:
        left_out = [f"(No room for: {', '.join(self.left_out)})"] if self.left_out else []
        return "\n\n".join([*self.blocks, *left_out])


def normalize_line_ends(text: str) -> str:
    """Return the text as models read and write it: with LF."""
    return text.replace("\r\n", "\n")


def _join_runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def collect_code(state: FixState, codebase: Codebase, files: BaseFiles, wanted: Sequence[str]) -> ShownCode:
    """Return the code for a change: what the model asked for, likely files and suspects whole, then passages.

    Of a long file, its head and the definitions that a suspect or a name leads to are shown, each whole.
    """
    shown = ShownCode(files)
    for name in wanted:
        _add_named(shown, codebase, name)
    suspects = state.report.suspects if state.report else []
    for path in dict.fromkeys([*state.affected_files, *(suspect.path for suspect in suspects)]):
        if shown.add_file(path):
            continue
        shown.add_head(path)
        for suspect in suspects:
            if suspect.path == path and suspect.span:
                _add_definition(shown, codebase, path, suspect.symbol, suspect.span.start, suspect.span.end)
    for found in state.retrieved_chunks:
        span = found.passage.span
        shown.add_lines(span.path, span.start, span.end, found.passage.symbol or "")
    return shown


def _add_named(shown: ShownCode, codebase: Codebase, name: str) -> None:
    path = codebase.resolve_path(name.split(":", maxsplit=1)[0])
    if path and shown.add_file(path):
        return
    if path:
        shown.add_head(path)
        start, _, end = name.partition(":")[2].partition("-")
        if start.isdigit():
            shown.add_lines(path, int(start), int(end) if end.isdigit() else int(start) + MARGIN)
        return
    for passage in codebase.find_definitions(name)[:3]:
        shown.add_lines(passage.span.path, passage.span.start, passage.span.end, passage.symbol or "")


def _add_definition(shown: ShownCode, codebase: Codebase, path: str, symbol: str | None, start: int, end: int) -> None:
    around = [
        passage.span
        for passage in (codebase.find_definitions(symbol) if symbol else [])
        if passage.span.path == path and passage.span.start <= start and end <= passage.span.end
    ]
    if around:
        first, last = around[0].start, around[0].end
        margin = SHORT_MARGIN if last - first < SHORT_LINES else 0
        shown.add_lines(path, first - margin, last + margin, symbol or "")
    else:
        shown.add_lines(path, start - MARGIN, end + MARGIN)
