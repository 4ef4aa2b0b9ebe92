"""Writes progress to the log of the Actions runner."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from triage.adapters.runner.format_record import LineLog, format_elapsed
from triage.adapters.runner.inert_lines import PREFIX, LineWriter, to_inert_line, to_inert_lines
from triage.adapters.runner.workflow_commands import format_command, mask_commands


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
        self._lines.write([f"{PREFIX}{format_elapsed(self._clock() - self._start)} {to_inert_line(text)}"])

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        self._lines.write([format_command("group", title)])
        try:
            yield
        finally:
            self._lines.write(["::endgroup::"])

    def log_group(self, title: str, text: str) -> None:
        body = [f"{PREFIX}{line}".rstrip() for line in to_inert_lines(text)]
        self._lines.write([format_command("group", title), *body, "::endgroup::"])
