"""Writes lines that nobody else's text can break: to the log of the Actions runner, or to a server's log."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TextIO

from triage.base.text import truncate
from triage.domain.run import StepRecord, ToolExecution
from triage.safety.clean_text import clean_text
from triage.safety.secrets.redactor import Redact

PREFIX = "| "
"""Starts every line that is not a command: the runner obeys `::name::` at the start of a line only, after blanks too
(actions/runner, ActionCommand.cs)."""
MAX_LINE_CHARS = 4_000
"""The runner cuts an annotation at 4,096 characters (ExecutionContext.cs)."""


def to_safe_line(text: str) -> str:
    """Returns a text on one line, without control and invisible characters; a long one is cut.

    The runner's older commands, `##[name]`, are broken too: they are obeyed anywhere in a line.
    """
    lines = clean_text(text).replace("\t", "    ").replace("##[", "## [").split("\n")
    return truncate(" ".join(line.strip() for line in lines if line.strip()), MAX_LINE_CHARS)


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


MIN_MASK_CHARS = 8
"""A shorter mask would hide ordinary words of the log."""


def format_command(name: str, data: str, properties: Mapping[str, str]) -> str:
    """Returns a command as one line. Data and properties are made inert, then escaped."""
    # A property ends at a comma or a colon.
    escaped = {key: _escape(value).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items()}
    pairs = ",".join(f"{key}={value}" for key, value in escaped.items())
    return f"::{name}{' ' if pairs else ''}{pairs}::{_escape(data)}"


def _escape(data: str) -> str:
    """Return data as the runner reads it back. It decodes `%0A` and the like; a safe line has no line break."""
    return to_safe_line(data).replace("%", "%25")


def format_elapsed(seconds: float) -> str:
    """Returns minutes and seconds, such as `01:05`."""
    whole = max(int(seconds), 0)
    return f"{whole // 60:02d}:{whole % 60:02d}"


def format_record(record: StepRecord | ToolExecution) -> str:
    """Returns how a step or a tool call ended: outcome, seconds, tokens, dollars. Quotes nobody else."""
    outcome = record.outcome.lower().replace("_", " ")
    if isinstance(record, ToolExecution):
        parts, reasons = [f"{record.tool} {outcome} in {record.ms / 1000:.1f} s"], [record.error]
    else:
        parts = [f"{record.step} {outcome} in {record.seconds:.1f} s", *_format_usage(record)]
        reasons = [record.error, *record.shortfalls]
    suffix = "; ".join(reason for reason in reasons if reason)
    return ", ".join(parts) + (f": {suffix}" if suffix else "")


def _format_usage(record: StepRecord) -> list[str]:
    if record.engine == "rules":
        return ["by rules"]
    usage, requests = record.usage, len(record.calls)
    parts = []
    if usage.tokens or requests > 1:
        parts.append(f"{usage.tokens:,} tokens" + (f" in {requests} requests" if requests > 1 else ""))
        parts.append("cost unknown" if usage.usd is None else f"${usage.usd:.4f}")
    return [*parts, f"by {record.model or 'model'}"]


class LineLog:
    def info(self, text: str) -> None:
        raise NotImplementedError

    def detail(self, text: str) -> None:
        self.info(text)

    def log_start(self, what: str) -> None:
        self.info(f"{what} started")

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        self.info(format_record(record))


class ActionsLog(LineLog):
    """Implements `ProgressLog`. No text makes a line of it a command to the runner."""

    def __init__(self, lines: LineWriter, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._clock = clock
        self._start = clock()

    def add_masks(self, secrets: Iterable[str]) -> None:
        """Makes the runner mask each long line of each secret in everything that is logged from now on.

        A secret of several lines is never sent whole: the runner would mask its short lines too. It masks the forms of
        a value in a URL and in base64 by itself (HostContext.cs).
        """
        lines = dict.fromkeys(line.strip() for secret in secrets for line in secret.splitlines())
        long = [line.replace("%", "%25") for line in lines if len(line) >= MIN_MASK_CHARS]
        self._lines.write_unredacted([f"::add-mask::{line}" for line in long])

    def info(self, text: str) -> None:
        self._lines.write([f"{PREFIX}{format_elapsed(self._clock() - self._start)} {to_safe_line(text)}"])


class ServerLog(LineLog):
    """Implements `ProgressLog`. The server adds the time and the run."""

    def info(self, text: str) -> None:
        logging.getLogger("triage").info("%s", to_safe_line(text))
