"""Makes log lines inert: the runner finds no commands in them, a terminal no control characters."""

import threading
from contextlib import suppress
from typing import TextIO

from triage.safety.clean_text import clean_text
from triage.safety.secrets.redactor import Redact

PREFIX = "| "
"""Starts every line that is not a command: the runner obeys `::name::` at the start of a line only, after blanks too
(actions/runner, ActionCommand.cs)."""
MAX_LINE_CHARS = 4_000
"""The runner cuts an annotation at 4,096 characters (ExecutionContext.cs)."""


def to_inert_lines(text: str) -> list[str]:
    """Returns the lines of a text, without control and invisible characters; long ones are cut.

    The runner's older commands, `##[name]`, are broken too: they are obeyed anywhere in a line.
    """
    lines = clean_text(text).split("\n")
    return [_shorten(line.replace("\t", "    ").replace("##[", "## [")) for line in lines]


def to_inert_line(text: str) -> str:
    return _shorten(" ".join(line.strip() for line in to_inert_lines(text) if line.strip()))


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"


class LineWriter:
    """Writes whole lines to a stream, from any thread. Escapes characters that the stream cannot encode."""

    def __init__(self, stream: TextIO, redact: Redact = lambda text: text) -> None:
        self._stream = stream
        self._redact = redact
        self._lock = threading.Lock()

    def write(self, lines: list[str]) -> None:
        """Writes the lines together, with nothing of another thread between them."""
        self.write_unredacted([self._redact("\n".join(lines))] if lines else [])

    def write_unredacted(self, lines: list[str]) -> None:
        """Writes lines as they are. Only for the commands that tell the runner our secrets."""
        text = "".join(f"{line}\n" for line in lines)
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        safe = text.encode(encoding, "backslashreplace").decode(encoding)
        # A closed pipe or a full disk is no reason to lose the report.
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(safe)
            self._stream.flush()
