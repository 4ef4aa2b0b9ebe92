"""Opens the Actions runner. Apart from `wiring`: an event that starts no triage needs only this."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from triage.app.settings import RunnerEnvironment
from triage.safety.secrets.redactor import SecretRedactor
from triage.writes.redacting_runner import RedactingRunner

if TYPE_CHECKING:
    from triage.output.line_logs import ActionsLog


@dataclass(frozen=True)
class ActionsContext:
    """The Actions runner: where results go, the log, and a guard over whatever a library prints."""

    runner: RedactingRunner
    log: "ActionsLog"
    library_output_capture: AbstractContextManager[None]
    redactor: SecretRedactor


def open_actions(environment: RunnerEnvironment, stream: TextIO, redactor: SecretRedactor) -> ActionsContext:
    """The Actions runner, which writes to the runner's files and to the stream."""
    from triage.output.actions_runner import ActionsRunner
    from triage.output.capture_library_output import capture_library_output
    from triage.output.inert_lines import LineWriter
    from triage.output.line_logs import ActionsLog

    lines = LineWriter(stream, redactor.redactor_for("log"))
    runner = ActionsRunner(
        lines,
        summary_path=environment.summary_path,
        output_path=environment.output_path,
        workspace=environment.workspace,
    )
    return ActionsContext(RedactingRunner(runner, redactor), ActionsLog(lines), capture_library_output(lines), redactor)


def read_payload(environment: RunnerEnvironment) -> dict[str, Any]:
    from triage.output.event_file import read_event

    return read_event(environment.event_path)
