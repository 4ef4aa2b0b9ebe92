"""Makes the output of libraries inert: prints, warnings, logs and tracebacks of threads."""

import contextlib
import io
import logging
import sys
import threading
from collections.abc import Iterator

from triage.base.errors import error_location
from triage.output.safe_lines import PREFIX, LineWriter, to_safe_lines


class GuardedStream(io.TextIOBase):
    """Replaces `sys.stdout` and `sys.stderr`, and writes each line as an inert line.

    The runner reads commands from both streams, and a library's message may quote text from outside.
    """

    def __init__(self, lines: LineWriter) -> None:
        super().__init__()
        self._lines = lines
        self._pending = ""
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Writes the whole lines; the rest waits for its end."""
        with self._lock:
            whole, end, rest = (self._pending + text).rpartition("\n")
            self._pending = rest
            if end:
                self._write_safe(whole)
        return len(text)

    def flush(self) -> None:
        """Does nothing: half a line must wait, because its other half could turn it into a command."""

    def write_pending(self) -> None:
        """Writes the rest, at the end of the process."""
        with self._lock:
            rest, self._pending = self._pending, ""
            if rest:
                self._write_safe(rest)

    def writable(self) -> bool:
        return True

    def _write_safe(self, text: str) -> None:
        self._lines.write([f"{PREFIX}{line}".rstrip() for line in to_safe_lines(text)])


class _LibraryLogHandler(logging.Handler):
    """Logs the name and level of a library's warnings and errors. The message may quote what the library was given."""

    def __init__(self, lines: LineWriter) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        error = record.exc_info[1] if record.exc_info else None
        text = f"{record.name}: {level}" + (f": {error_location(error)}" if error else "")
        self._lines.write([PREFIX + line for line in to_safe_lines(text)])


@contextlib.contextmanager
def capture_library_output(lines: LineWriter) -> Iterator[None]:
    """Makes inert what is printed, logged or left uncaught in a thread inside the block."""
    stream, root, handler = GuardedStream(lines), logging.getLogger(), _LibraryLogHandler(lines)
    hooks = threading.excepthook, sys.unraisablehook, logging.raiseExceptions

    def uncaught(args: "threading.ExceptHookArgs | sys.UnraisableHookArgs") -> None:
        if args.exc_value is not None:
            lines.write([f"{PREFIX}Uncaught exception: {error_location(args.exc_value)}"])

    root.addHandler(handler)
    threading.excepthook, sys.unraisablehook, logging.raiseExceptions = uncaught, uncaught, False
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield
    finally:
        stream.write_pending()
        root.removeHandler(handler)
        threading.excepthook, sys.unraisablehook, logging.raiseExceptions = hooks
