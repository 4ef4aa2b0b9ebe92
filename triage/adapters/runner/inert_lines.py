"""Text as log lines that the runner takes for text and a terminal for characters."""

import threading
from contextlib import suppress
from typing import TextIO

from triage.secrets.redactor import Redact
from triage.text.clean_text import clean_text

PREFIX = "| "
"""Starts every line that is no command: the runner obeys `::name::` only at a line's start, blanks not counted
(actions/runner, ActionCommand.cs)."""
MAX_LINE_CHARS = 4_000
"""The runner cuts an annotation at 4,096 characters (ExecutionContext.cs)."""


def to_inert_lines(text: str) -> list[str]:
    """The text's lines without control and invisible characters, and without the runner's older `##[name]` form.

    The older form is obeyed anywhere in a line. Long lines are cut.
    """
    lines = clean_text(text).split("\n")
    return [_shorten(line.replace("\t", "    ").replace("##[", "## [")) for line in lines]


def to_inert_line(text: str) -> str:
    """`inert_lines` joined into one line."""
    return _shorten(" ".join(line.strip() for line in to_inert_lines(text) if line.strip()))


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"


class LineWriter:
    """Whole lines to a stream, from any thread. Characters that the stream cannot hold are escaped."""

    def __init__(self, stream: TextIO, screened: Redact = lambda text: text) -> None:
        """Take the stream, and what masks our own secrets in whatever is written to it."""
        self._stream = stream
        self._redact = screened
        self._lock = threading.Lock()

    def write(self, lines: list[str]) -> None:
        """Write the lines together, nothing of another thread between them."""
        self.write_unredacted([self._redact("\n".join(lines))] if lines else [])

    def write_unredacted(self, lines: list[str]) -> None:
        """For the commands by which the runner learns our secrets, and for nothing else."""
        text = "".join(f"{line}\n" for line in lines)
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        safe = text.encode(encoding, "backslashreplace").decode(encoding)
        # Whoever read the log may be gone, or its disk be full: no reason to lose the report.
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(safe)
            self._stream.flush()
