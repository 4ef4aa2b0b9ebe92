"""A stream for everything that others write: warnings, tracebacks, a library's prints."""

import io
import threading
from typing import TextIO

from triage.runner.lines import PREFIX, LineWriter, inert_lines

LONGEST_HELD_CHARS = 65_536


class GuardedStream(io.TextIOBase):
    """Takes the place of `sys.stdout` or `sys.stderr`: each line goes on as an inert line.

    The runner reads commands from both streams, and a library's message may quote text from outside.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._lines = LineWriter(stream)
        self._held = ""
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Pass on the whole lines, keep the rest until its line ends."""
        with self._lock:
            whole, end, rest = (self._held + text).rpartition("\n")
            if not end and len(rest) > LONGEST_HELD_CHARS:
                whole, end, rest = rest, "\n", ""
            self._held = rest
            if end:
                self._pass_on(whole)
        return len(text)

    def flush(self) -> None:
        """Nothing: half a line is held back, so that its other half cannot turn it into a command."""

    def finish(self) -> None:
        """Pass on what is held, at the end of the process."""
        with self._lock:
            held, self._held = self._held, ""
            if held:
                self._pass_on(held)

    def writable(self) -> bool:
        """Yes."""
        return True

    def _pass_on(self, text: str) -> None:
        self._lines.write([f"{PREFIX}{line}".rstrip() for line in inert_lines(text)])
