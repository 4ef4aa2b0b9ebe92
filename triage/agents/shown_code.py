"""Code as a model is shown it: excerpts with a number each, below which every line has its own.

What a model cites is a number that it was given: `7:1551-1553` are these lines of the excerpt `[7]`. So a citation is
right by construction, and what was not shown must be looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from triage.base.text import number_lines
from triage.domain.code import Excerpt, Passage, Span
from triage.domain.findings import RelevantFile

if TYPE_CHECKING:
    from triage.find.codebase import Codebase


Block = Passage | str
"""An excerpt, whose text is numbered lines, or words of ours."""
MARGIN = 10
"""Lines above and below the cited ones."""
MAX_CITED_LINES = 60
"""Of one place, without the margin."""
MAX_CHARS = 12_000
"""Of all places together."""
MAX_WHOLE_LINES = 3
"""Lines that are asked for or cited, which are shown also where they are long."""
_NUMBER = re.compile(r"^ {0,7}(\d{1,7})\|", re.M)


def format_location(path: str, start: int, end: int, symbol: str | None) -> str:
    """Return `path 12-20 symbol`, as it stands behind the number of an excerpt."""
    lines = f"{start}-{end}" if start != end else f"{start}"
    # Of a heading all is shown.
    name = ".".join(symbol.split(".")[-2:]) if symbol and " " not in symbol else symbol
    return f"{path} {lines}" + (f" {name}" if name else "")


def format_passage(passage: Passage) -> str:
    span = passage.span
    return format_location(span.path, span.start, span.end, passage.symbol)


def format_file(file: RelevantFile) -> str:
    """Return `path:start-end (symbol)`, as far as the place is known."""
    lines = f":{file.start_line}-{file.end_line}" if file.start_line and file.end_line else ""
    return f"{file.path}{lines}" + (f" ({file.symbol})" if file.symbol else "")


def make_excerpt(path: str, lines: Iterable[tuple[int, str]], symbol: str | None = None) -> Passage:
    """Return numbered lines of a file as a block. Long lines are shortened, unless the lines are few."""
    numbered = list(lines)
    span = Span(path=path, start=numbered[0][0], end=numbered[-1][0])
    whole = range(span.start, span.end + 1) if len(numbered) <= MAX_WHOLE_LINES else ()
    return Passage(span=span, text=number_lines(numbered, whole), symbol=symbol)


def pluralize(number: int, what: str) -> str:
    ending = "" if number == 1 else "es" if what.endswith("s") else "s"
    return f"{number:,} {what}{ending}"


class ShownCode:
    """Gives each excerpt its number. One whose lines were all shown before is not shown again."""

    def __init__(self) -> None:
        self.excerpts: list[Excerpt] = []
        self._numbers: dict[tuple[str, int], int] = {}

    def go_on(self, excerpts: Sequence[Excerpt]) -> None:
        """Take the numbers of an earlier round, of which the first are those of what is shown again."""
        self.excerpts = list(excerpts)
        for number, one in enumerate(self.excerpts, 1):
            self._numbers |= {(one.span.path, line): number for line in range(one.span.start, one.span.end + 1)}

    def show(self, blocks: Iterable[Block], gap: str = "\n") -> str:
        """Return the blocks as a model sees them. A path stands above the first excerpt of its file alone."""
        texts, above = list[str](), ""
        for block in blocks:
            texts.append(block if isinstance(block, str) else self._number_passage(block, above))
            above = above if isinstance(block, str) else block.span.path
        return gap.join(texts)

    def _number_passage(self, passage: Passage, above: str) -> str:
        """Return the passage under a new number; if all of its lines were shown, the numbers that they have."""
        span = passage.span
        path = "same file" if span.path == above else span.path
        where = format_location(path, span.start, span.end, passage.symbol)
        lines = [(span.path, int(line)) for line in _NUMBER.findall(passage.text)]
        known = [self._numbers.get(line, 0) for line in lines]
        if len(known) > MAX_WHOLE_LINES and all(known):  # a long line is whole only among fewer
            numbers = ", ".join(f"[{number}]" for number in dict.fromkeys(known))
            return f"({where}: see {numbers})"
        self.excerpts.append(Excerpt(span=span, symbol=passage.symbol))
        for line in lines:
            self._numbers.setdefault(line, len(self.excerpts))
        return f"[{len(self.excerpts)}] {where}\n{passage.text}"


def cut_longest(answers: Sequence[Sequence[Block]], max_chars: int) -> list[list[Block]]:
    """Return the answers in `max_chars` together, the longest cut after a line, so that each gets some of the room."""
    room, cut = max_chars, [list(answer) for answer in answers]
    order = sorted(range(len(cut)), key=lambda index: measure(cut[index]))
    for waiting, index in zip(range(len(cut), 0, -1), order, strict=True):
        cut[index] = _cut_blocks(cut[index], max(0, room) // waiting)
        room -= measure(cut[index])
    return cut


def measure(blocks: Iterable[Block]) -> int:
    """Return the characters of an answer, without its headings."""
    return sum(len(block if isinstance(block, str) else block.text) + 1 for block in blocks)


def _cut_blocks(blocks: Sequence[Block], max_chars: int) -> list[Block]:
    """Return the lines that fit into `max_chars`, and how many were left out."""
    if measure(blocks) <= max_chars:
        return list(blocks)
    shown: list[Block] = []
    left_out = 0
    for block in blocks:
        lines = (block if isinstance(block, str) else block.text).split("\n")
        fitting: list[str] = []
        while not left_out and len(fitting) < len(lines) and len(lines[len(fitting)]) < max_chars:
            max_chars -= len(lines[len(fitting)]) + 1
            fitting.append(lines[len(fitting)])
        left_out += len(lines) - len(fitting)
        if fitting:
            shown.append("\n".join(fitting) if isinstance(block, str) else _keep_lines(block, fitting))
    return [*shown, f"(further lines left out: {left_out:,}, for lack of room)"]


def _keep_lines(passage: Passage, lines: Sequence[str]) -> Passage:
    end = max(map(int, _NUMBER.findall("\n".join(lines))), default=passage.span.start)
    return passage.model_copy(update={"text": "\n".join(lines), "span": passage.span.model_copy(update={"end": end})})


def render_cited_code(files: Sequence[RelevantFile], codebase: Codebase) -> str:
    """Return the cited lines with ten lines around them, for a reader who cites none. What does not fit is left out."""
    room, rendered, seen = MAX_CHARS, list[str](), set[tuple[str, int]]()
    for file in files:
        lines = codebase.read_lines(file.path) or []
        if not lines or not file.start_line:
            continue
        end = min(file.end_line or file.start_line, file.start_line + MAX_CITED_LINES - 1)
        first, last = max(1, file.start_line - MARGIN), min(len(lines), end + MARGIN)
        new = [number for number in range(first, last + 1) if (file.path, number) not in seen]
        cited = range(file.start_line, end + 1) if end - file.start_line < MAX_WHOLE_LINES else ()
        text = number_lines(((number, lines[number - 1]) for number in new), cited) or "(shown above)"
        if len(text) <= room:
            room -= len(text)
            seen |= {(file.path, number) for number in new}
            heading = format_location(file.path, first, last, file.symbol)
            rendered.append(f"{heading} (cited: {file.start_line}-{end})\n{text}")
    return "\n\n".join(rendered)
