"""Writes progress to a server's log, through Python's logging. The server adds the time and the run."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from triage.adapters.runner.format_record import LineLog
from triage.adapters.runner.inert_lines import to_inert_line

_log = logging.getLogger("triage")


class ServerLog(LineLog):
    """Implements `triage.ports.ProgressLog`."""

    def info(self, text: str) -> None:
        _log.info("%s", to_inert_line(text))

    def log_group(self, title: str, text: str) -> None:
        """Logs the title only: the text is in the report, which the client gets."""
        del text
        self.info(title)

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Logs the title: a log has no groups."""
        self.info(title)
        yield
