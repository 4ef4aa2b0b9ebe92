"""Writes progress line by line: to the log of the Actions runner, or to a server's log by Python's logging."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from triage.domain.run import StepRecord, ToolExecution
from triage.outside.output.safe_lines import (
    PREFIX,
    LineWriter,
    format_command,
    mask_commands,
    to_safe_line,
    to_safe_lines,
)

_log = logging.getLogger("triage")


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
    """Implements `triage.ports.ProgressLog`. No text makes a line of it a command to the runner."""

    def __init__(self, lines: LineWriter, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._clock = clock
        self._start = clock()

    def add_masks(self, secrets: Iterable[str]) -> None:
        """Makes the runner mask the secrets in everything that is logged from now on."""
        self._lines.write_unredacted(mask_commands(secrets))

    def info(self, text: str) -> None:
        self._lines.write([f"{PREFIX}{format_elapsed(self._clock() - self._start)} {to_safe_line(text)}"])

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        self._lines.write([format_command("group", title)])
        try:
            yield
        finally:
            self._lines.write(["::endgroup::"])

    def log_group(self, title: str, text: str) -> None:
        body = [f"{PREFIX}{line}".rstrip() for line in to_safe_lines(text)]
        self._lines.write([format_command("group", title), *body, "::endgroup::"])


class ServerLog(LineLog):
    """Implements `triage.ports.ProgressLog`. The server adds the time and the run."""

    def info(self, text: str) -> None:
        _log.info("%s", to_safe_line(text))

    def log_group(self, title: str, text: str) -> None:
        """Logs the title only: the text is in the report, which the client gets."""
        del text
        self.info(title)

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        self.info(title)
        yield
