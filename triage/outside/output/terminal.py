"""Writes progress to standard error, and stores results for the command line to print."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.text import Text

from triage.base.errors import BadInput, describe_os_error
from triage.domain.code import Span
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
_NAMES = {
    "fetch_past_issues": "reading past issues",
    "compare_past_issues": "comparing past issues",
    "read_and_index": "reading the issue, indexing the repository",
    "investigator": "working out what is reported",
    "codebase_search": "searching the code",
    "web_search": "searching the web",
    "critic": "checking the evidence",
    "writer": "writing the report",
}
"""What a terminal shows while a step runs. Tools have their own names."""


def progress_console() -> Console:
    """Returns a console on standard error, without rich's markup, emoji names and highlighting."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


class TerminalOutput:
    """Implements `Output`. Stores the summary and the report for the command line.

    Our own secrets are masked in everything that it takes.
    """

    def __init__(
        self,
        redactor: SecretRedactor,
        report_path: Path | None = None,
        console: Console | None = None,
        *,
        verbose: bool = False,
    ) -> None:
        self.markdown = ""
        """All summaries, joined."""
        self.json_text = ""
        """The JSON report; empty until `write_report`."""
        self._console = console or progress_console()
        self.progress = TerminalProgress(self._console, verbose=verbose)
        self._redactor = redactor
        self._report_path = report_path

    def write_summary(self, markdown: str) -> None:
        masked = self._redactor.redactor_for("summary")(markdown)
        self.markdown = f"{self.markdown}\n{masked}" if self.markdown else masked

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Does nothing: there is no later step."""

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """Prints one line to standard error; the message itself names the place."""
        del at
        message = self._redactor.redactor_for("annotations")(message)
        self._console.print(Text.assemble((f"{level}: ", _LEVEL_STYLES[level]), to_safe_line(message)))

    def write_report(self, json_text: str) -> str:
        """Stores the JSON, and writes it to the file that the user chose. Raises BadInput if that fails."""
        self.json_text = self._redactor.redactor_for("report")(json_text)
        if self._report_path is None:
            return ""
        try:
            self._report_path.write_bytes(self.json_text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise BadInput(f"The report cannot be written to this path: {describe_os_error(error)}.") from None
        return str(self._report_path)


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

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        self._print_line(title, "bold")
        yield

    def _print_line(self, text: str, style: str) -> None:
        when = format_elapsed(self._clock() - self._start)
        self._console.print(Text.assemble((when, "dim"), " ", (to_safe_line(text), style)))

    def _update_status(self) -> None:
        if self._running and self._console.is_terminal:
            self._status.update(Text(", ".join(to_safe_line(_NAMES.get(name, name)) for name in self._running)))
            self._status.start()
        else:
            self._status.stop()
