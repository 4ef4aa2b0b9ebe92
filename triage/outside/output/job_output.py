"""Writes the results of a run for GitHub Actions: job summary, outputs, annotations, report file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from triage.base.errors import BadInput, describe_os_error
from triage.outside.output.job_files import REPORT, write_file
from triage.outside.output.line_logs import ActionsLog
from triage.outside.output.safe_lines import PREFIX, LineWriter, format_command
from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from triage.domain.code import Span
    from triage.ports import AnnotationLevel

SUMMARY_BYTES = 900_000
"""Below 1 MiB, above which GitHub drops a step's whole summary (docs, workflow commands)."""
CUT_NOTICE = "> **This summary was cut: it is longer than a job's page can hold.**\n\n"


@dataclass
class JobOutput:
    """Implements `triage.ports.Output` with the runner's files and commands. A missing file is logged and no error.

    Our own secrets are masked in everything that it writes.
    """

    lines: LineWriter
    redactor: SecretRedactor
    _: KW_ONLY
    summary_path: Path | None = None
    output_path: Path | None = None
    workspace: Path | None = None
    has_written_summary: bool = field(default=False, init=False)
    """Whether the job's page got a summary."""
    log: ActionsLog = field(init=False)

    def __post_init__(self) -> None:
        self.log = ActionsLog(self.lines)

    def write_summary(self, markdown: str) -> None:
        self.has_written_summary = True
        if self.summary_path is None:
            self.lines.write([f"{PREFIX}The summary is not shown: GITHUB_STEP_SUMMARY is not set."])
            return
        masked = self.redactor.redactor_for("summary")(markdown)
        self._append(self.summary_path, "summary", lambda size: fit_summary(masked, SUMMARY_BYTES - size))

    def write_outputs(self, values: Mapping[str, str]) -> None:
        if self.output_path is None:
            self.lines.write([f"{PREFIX}Later steps get no outputs: GITHUB_OUTPUT is not set."])
            return
        masked = self.redactor.redactor_for("outputs")(dict(values))
        self._append(self.output_path, "outputs", lambda _: format_outputs(masked))

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """Shows one line beside the job. A file with a secret in its path is not named."""
        message = self.redactor.redactor_for("annotations")(message)  # before it is cut
        at = at if at is None or not self.redactor.has_match(at.path) else None
        where = {"file": at.path, "line": str(at.start), "endLine": str(at.end)} if at else {}
        self.lines.write([format_command(level, message, where)])

    def write_report(self, json_text: str) -> str:
        if self.workspace is None:
            return ""
        try:
            return write_file(self.workspace, REPORT, self.redactor.redactor_for("report")(json_text))
        except BadInput as error:
            self.annotate("warning", str(error))
            return ""

    def _append(self, path: Path, what: str, format_data: Callable[[int], bytes]) -> None:
        try:
            with open(path, "ab", opener=_open_nonblocking) as file:
                file.write(format_data(os.fstat(file.fileno()).st_size))
        except OSError as error:
            self.annotate("warning", f"The {what} could not be written: {describe_os_error(error)}.")


def format_outputs(values: Mapping[str, str]) -> bytes:
    """Returns `NAME<<DELIMITER` blocks, each with an unpredictable delimiter."""
    blocks = []
    for name, value in values.items():
        end = f"triage_{secrets.token_hex(16)}"
        blocks.append(f"{name}<<{end}\n{value}\n{end}\n")
    return "".join(blocks).encode("utf-8", "replace")


def fit_summary(markdown: str, max_bytes: int) -> bytes:
    """Returns Markdown as UTF-8. Longer text is cut after its last whole line that fits, with a notice before it."""
    whole = markdown.encode("utf-8", "replace")
    whole = whole if whole.endswith(b"\n") else whole + b"\n"
    if len(whole) <= max_bytes:
        return whole
    notice = CUT_NOTICE.encode()
    cut = whole[: max(max_bytes - len(notice), 0)]
    return notice + cut[: cut.rfind(b"\n") + 1] if max_bytes > len(notice) else b""


def _open_nonblocking(path: str, flags: int) -> int:
    # Opening a pipe that nobody reads fails instead of blocking.
    return os.open(path, flags | os.O_NONBLOCK, 0o666)
