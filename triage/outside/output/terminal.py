"""Writes progress and annotations to standard error, and the report to a file."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.text import Text

from triage.base.errors import BadInput, describe_os_error
from triage.domain.effect import AnnotationLevel
from triage.domain.run import Outcome, StepRecord, ToolExecution
from triage.outside.output.line_logs import format_elapsed, format_record, to_safe_line
from triage.safety.secrets.redactor import SecretRedactor

_LEVEL_STYLES: dict[AnnotationLevel, str] = {"error": "bold red", "warning": "yellow", "notice": "cyan"}
_OUTCOME_STYLES = {
    Outcome.SUCCESS: "green",
    Outcome.FAILED: "red",
    Outcome.TIMED_OUT: "red",
    Outcome.SKIPPED: "dim",
}


STARTING = "loading"


class TerminalOutput:
    """What a command writes besides its result. Our own secrets are masked in it."""

    def __init__(
        self,
        redactor: SecretRedactor,
        report_path: Path | None = None,
        console: Console | None = None,
        *,
        verbose: bool = False,
    ) -> None:
        self._console = console or Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.progress = TerminalProgress(self._console, verbose=verbose)
        self._redactor = redactor
        self._report_path = report_path

    def annotate(self, level: AnnotationLevel, message: str) -> None:
        """Print one line to standard error."""
        message = self._redactor.redactor_for("annotations")(message)
        self._console.print(Text.assemble((f"{level}: ", _LEVEL_STYLES[level]), to_safe_line(message)))

    def write_report(self, json_text: str) -> None:
        """Write the JSON to the file that the user chose, if any. Raises BadInput if that fails."""
        if self._report_path is None:
            return
        try:
            masked = self._redactor.redactor_for("report")(json_text)
            self._report_path.write_bytes(masked.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise BadInput(f"The report cannot be written to this path: {describe_os_error(error)}.") from None


class TerminalProgress:
    """Implements `ProgressLog`.

    A terminal shows what runs now in a line that changes. Steps and decisions are lines of their own if `verbose`.
    Use it as a context manager: leaving it gives the cursor back.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic, *, verbose: bool = False) -> None:
        self._console = console
        self._clock = clock
        self._verbose = verbose
        self._start = clock()
        self._running: list[str] = []
        self._status = console.status("")

    def __enter__(self) -> Self:
        self._running.append(STARTING)
        self._update_status()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.clear()
        self._update_status()

    def log_start(self, what: str) -> None:
        if STARTING in self._running:
            self._running.remove(STARTING)
        self._running.append(what)
        self._update_status()
        if not self._console.is_terminal:
            self.detail(f"{what} started")

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        name = record.tool if isinstance(record, ToolExecution) else record.step
        if name in self._running:
            self._running.remove(name)
        self._update_status()
        if self._verbose:
            self._print_line(format_record(record), _OUTCOME_STYLES[record.outcome])

    def info(self, text: str) -> None:
        self._print_line(text, "")

    def log_step(self, text: str) -> None:
        """What a command does now, until its next step."""
        self._running[:] = [text]
        self._update_status()
        if self._verbose or not self._console.is_terminal:
            self.info(text)

    def detail(self, text: str) -> None:
        if self._verbose:
            self.info(text)

    def _print_line(self, text: str, style: str) -> None:
        when = format_elapsed(self._clock() - self._start)
        self._console.print(Text.assemble((when, "dim"), " ", (to_safe_line(text), style)))

    def _update_status(self) -> None:
        if self._running and self._console.is_terminal:
            self._status.update(Text(", ".join(to_safe_line(name.replace("_", " ")) for name in self._running)))
            self._status.start()
        else:
            self._status.stop()
