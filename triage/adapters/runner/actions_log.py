"""Writes progress to the log of the Actions runner."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from triage.adapters.runner.format_record import format_elapsed, format_record
from triage.adapters.runner.inert_lines import PREFIX, LineWriter, to_inert_line, to_inert_lines
from triage.adapters.runner.workflow_commands import format_command, mask_commands
from triage.domain.run import StepRecord, ToolExecution


class ActionsLog:
    """Implements `triage.ports.ProgressLog`. No text makes a line of it a command to the runner."""

    def __init__(self, lines: LineWriter, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._clock = clock
        self._start = clock()

    def add_masks(self, secrets: Iterable[str]) -> None:
        """Makes the runner mask the secrets in everything that is logged from now on."""
        self._lines.write_unredacted(mask_commands(secrets))

    def log_start(self, what: str) -> None:
        """Logs that a step or a tool starts."""
        self.info(f"{what} started")

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        """Logs how a step or a tool ended."""
        self.info(format_record(record))

    def info(self, text: str) -> None:
        """Logs one line with the time since the start."""
        self._lines.write([f"{PREFIX}{format_elapsed(self._clock() - self._start)} {to_inert_line(text)}"])

    def detail(self, text: str) -> None:
        """Logs as `info` does."""
        self.info(text)

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Puts the lines of the block into a group, which GitHub folds at its end."""
        self._lines.write([format_command("group", title)])
        try:
            yield
        finally:
            self._lines.write(["::endgroup::"])

    def log_group(self, title: str, text: str) -> None:
        """Logs a folded group."""
        body = [f"{PREFIX}{line}".rstrip() for line in to_inert_lines(text)]
        self._lines.write([format_command("group", title), *body, "::endgroup::"])
