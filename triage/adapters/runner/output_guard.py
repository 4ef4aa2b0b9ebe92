"""What others write: a library's prints, warnings and logs, tracebacks of threads. None of it is obeyed or quoted."""

import contextlib
import io
import logging
import re
import sys
import threading
from collections.abc import Iterator

from triage.adapters.runner.inert_lines import PREFIX, LineWriter, to_inert_lines
from triage.errors import error_location

MAX_PENDING_CHARS = 65_536
_TRACEBACK = "Traceback (most recent call last):"


class GuardedStream(io.TextIOBase):
    """Takes the place of `sys.stdout` or `sys.stderr`: each line goes on as an inert line.

    The runner reads commands from both streams, and a library's message may quote text from outside. Of a traceback
    only the exception's type goes on: its message and its lines may hold anything.
    """

    def __init__(self, lines: LineWriter) -> None:
        super().__init__()
        self._lines = lines
        self._pending = ""
        self._in_traceback = False
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Pass on the whole lines, keep the rest until its line ends."""
        with self._lock:
            whole, end, rest = (self._pending + text).rpartition("\n")
            if not end and len(rest) > MAX_PENDING_CHARS:
                whole, end, rest = rest, "\n", ""
            self._pending = rest
            if end:
                self._write_inert(whole)
        return len(text)

    def flush(self) -> None:
        """Nothing: half a line is held back, so that its other half cannot turn it into a command."""

    def write_pending(self) -> None:
        """Pass on what is held, at the end of the process."""
        with self._lock:
            held, self._pending = self._pending, ""
            if held:
                self._write_inert(held)

    def writable(self) -> bool:
        """Yes."""
        return True

    def _write_inert(self, text: str) -> None:
        lines = [f"{PREFIX}{line}".rstrip() for line in self._without_tracebacks(to_inert_lines(text))]
        if lines:
            self._lines.write(lines)

    def _without_tracebacks(self, lines: list[str]) -> Iterator[str]:
        quoted = False
        for line in lines:
            if _TRACEBACK in line:
                self._in_traceback = True
            elif self._in_traceback:
                # Frames are indented, those of a group of exceptions behind bars as well.
                if line and not re.match(r"[\s|+]", line):
                    self._in_traceback, quoted = False, True
                    yield f"An exception: {_exception_type(line)}"
            elif not quoted:  # what follows in the same breath are further lines of its message
                yield line


def _exception_type(line: str) -> str:
    named = re.match(r"[A-Za-z_][\w.]{0,99}", line)
    return named[0] if named else "of no name"


class _LibraryLogHandler(logging.Handler):
    """Libraries' warnings and errors as a line that names who and what; a message may quote what they were given."""

    def __init__(self, lines: LineWriter) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        what = record.levelname.lower()
        error = record.exc_info[1] if record.exc_info else None
        told = f"{record.name}: {what}" + (f": {error_location(error)}" if error else "")
        self._lines.write([PREFIX + line for line in to_inert_lines(told)])


@contextlib.contextmanager
def guard_output(lines: LineWriter) -> Iterator[None]:
    """Inside the block whatever others write, log, or leave uncaught in a thread, becomes inert lines."""
    stream, root, librarian = GuardedStream(lines), logging.getLogger(), _LibraryLogHandler(lines)
    hooks = threading.excepthook, sys.unraisablehook, logging.raiseExceptions

    def uncaught(told: "threading.ExceptHookArgs | sys.UnraisableHookArgs") -> None:
        if told.exc_value is not None:
            lines.write([f"{PREFIX}An exception that nobody caught: {error_location(told.exc_value)}"])

    root.addHandler(librarian)
    threading.excepthook, sys.unraisablehook, logging.raiseExceptions = uncaught, uncaught, False
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield
    finally:
        stream.write_pending()
        root.removeHandler(librarian)
        threading.excepthook, sys.unraisablehook, logging.raiseExceptions = hooks
