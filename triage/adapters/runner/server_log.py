"""Progress of runs in a server's log, through Python's logging: the server adds time and run."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from triage.adapters.runner.format_record import format_record
from triage.adapters.runner.inert_lines import to_inert_line
from triage.domain.run import StepRecord, ToolExecution

_log = logging.getLogger("triage")


class ServerLog:
    """Implements `triage.ports.Journal`."""

    def log_start(self, what: str) -> None:
        """A step or a tool starts."""
        self.info(f"{what} started")

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        """It ended, and how."""
        self.info(format_record(record))

    def info(self, text: str) -> None:
        """One line."""
        _log.info("%s", to_inert_line(text))

    def detail(self, text: str) -> None:
        """As `info`."""
        self.info(text)

    def log_group(self, title: str, text: str) -> None:
        """The title: the text is in the report, which the client gets."""
        del text
        self.info(title)

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """The title; a log has nothing to fold."""
        self.info(title)
        yield
