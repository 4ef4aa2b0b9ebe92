"""Progress of runs in a server's log, through Python's logging: the server adds time and run."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from triage.adapters.runner.format_record import told
from triage.adapters.runner.inert_lines import one_line
from triage.domain.run import StepRecord, ToolExecution

_log = logging.getLogger("triage")


class ServerLog:
    """Implements `triage.ports.Journal`."""

    def started(self, what: str) -> None:
        """A step or a tool starts."""
        self.note(f"{what} started")

    def ended(self, record: StepRecord | ToolExecution) -> None:
        """It ended, and how."""
        self.note(told(record))

    def note(self, text: str) -> None:
        """One line."""
        _log.info("%s", one_line(text))

    def folded(self, title: str, text: str) -> None:
        """The title: the text is in the report, which the client gets."""
        del text
        self.note(title)

    @contextmanager
    def grouped(self, title: str) -> Iterator[None]:
        """The title; a log has nothing to fold."""
        self.note(title)
        yield
