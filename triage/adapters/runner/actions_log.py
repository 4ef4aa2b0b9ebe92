"""The Actions log: live lines while the run goes on."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from triage.adapters.runner.format_record import elapsed, told
from triage.adapters.runner.inert_lines import PREFIX, LineWriter, inert_lines, one_line
from triage.adapters.runner.workflow_commands import command, masks
from triage.domain.run import StepRecord, ToolExecution


class ActionsLog:
    """Implements `triage.ports.Journal`. Whatever it is given, no line of it is a command to the runner."""

    def __init__(self, lines: LineWriter, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._clock = clock
        self._start = clock()

    def add_masks(self, secrets: Iterable[str]) -> None:
        """Have the runner blot the secrets out of everything that is logged from now on."""
        self._lines.write_as_they_are(masks(secrets))

    def started(self, what: str) -> None:
        """A step or a tool starts."""
        self.note(f"{what} started")

    def ended(self, record: StepRecord | ToolExecution) -> None:
        """It ended, and how."""
        self.note(told(record))

    def note(self, text: str) -> None:
        """One line with the time since the start."""
        self._lines.write([f"{PREFIX}{elapsed(self._clock() - self._start)} {one_line(text)}"])

    @contextmanager
    def grouped(self, title: str) -> Iterator[None]:
        """A group that is open while its lines come in, and folded afterwards."""
        self._lines.write([command("group", title)])
        try:
            yield
        finally:
            self._lines.write(["::endgroup::"])

    def folded(self, title: str, text: str) -> None:
        """A group that the reader opens."""
        body = [f"{PREFIX}{line}".rstrip() for line in inert_lines(text)]
        self._lines.write([command("group", title), *body, "::endgroup::"])
