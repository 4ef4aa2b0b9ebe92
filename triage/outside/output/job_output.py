"""Writes the results of a run for GitHub Actions: job summary, outputs, annotations, report file."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.base.errors import BadInput, describe_os_error
from triage.outside.output.line_logs import ActionsLog, LineWriter, format_command
from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from triage.domain.code import Span
    from triage.domain.effect import AnnotationLevel


SUMMARY_BYTES = 900_000
"""Below 1 MiB, above which GitHub drops a step's whole summary (docs, workflow commands)."""


@dataclass
class JobOutput:
    """Implements `Output` with the runner's files and commands. A missing file is logged and no error.

    Our own secrets are masked in everything that it writes.
    """

    lines: LineWriter
    redactor: SecretRedactor
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
        masked = self.redactor.redactor_for("summary")(markdown)
        self._append(self.summary_path, "summary", lambda size: fit_summary(masked, SUMMARY_BYTES - size))

    def write_outputs(self, values: Mapping[str, str]) -> None:
        masked = self.redactor.redactor_for("outputs")(dict(values))
        self._append(self.output_path, "outputs", lambda _: format_outputs(masked))

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """Shows one line beside the job. A file with a secret in its path is not named."""
        message = self.redactor.redactor_for("annotations")(message)  # before it is cut
        at = at if at is None or not self.redactor.has_match(at.path) else None
        where = {"file": at.path, "line": str(at.start), "endLine": str(at.end)} if at else {}
        self.lines.write([format_command(level, message, where)])

    def write_report(self, json_text: str) -> str:
        """Write `report.json`; return its path below the workspace, or an empty string if it was not written."""
        if self.workspace is None:
            return ""
        try:
            return write_file(self.workspace, REPORT, self.redactor.redactor_for("report")(json_text))
        except BadInput as error:
            self.annotate("warning", str(error))
            return ""

    def _append(self, path: Path | None, what: str, format_data: Callable[[int], bytes]) -> None:
        """Append to a file of the runner what `format_data` returns for its size in bytes. A failure is a warning."""
        if path is None:
            self.log.info(f"The runner names no file for the {what}.")
            return
        try:
            with path.open("ab") as file:
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
    notice = b"> **This summary was cut: it is longer than a job's page can hold.**\n\n"
    cut = whole[: max(max_bytes - len(notice), 0)]
    return notice + cut[: cut.rfind(b"\n") + 1] if max_bytes > len(notice) else b""


FOLDER = ".triage"
REPORT = "report.json"
PROPOSE_RESULT = "propose-result.json"


def write_file(workspace: Path, name: str, json_text: str) -> str:
    """Writes `.triage/<name>` atomically. Returns its path relative to the workspace.

    A `.gitignore` beside it keeps it out of later commits.

    Raises BadInput if the folder is a symbolic link or a file, the workspace is read-only, or the disk is full.
    """
    folder, draft = workspace / FOLDER, workspace / FOLDER / f".{name}.{secrets.token_hex(8)}"
    try:
        if folder.is_symlink():
            raise NotADirectoryError(errno.ENOTDIR, "")
        folder.mkdir(exist_ok=True)
        if not os.path.lexists(folder / ".gitignore"):
            (folder / ".gitignore").write_text("*\n")
        # A lone surrogate becomes \udXXX, which is JSON's own escape for it.
        draft.write_bytes(json_text.encode("utf-8", "backslashreplace"))
        draft.replace(folder / name)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise BadInput(f"{FOLDER}/{name} could not be written: {describe_os_error(error)}.") from None
    return f"{FOLDER}/{name}"


def read_own_file(workspace: Path, name: str, max_bytes: int) -> bytes | None:
    """Returns the first `max_bytes` + 1 bytes of `.triage/<name>`; None without a regular file.

    Raises BadInput if it is a symbolic link, or cannot be read.
    """
    path = workspace / FOLDER / name
    try:
        if path.is_symlink() or path.parent.is_symlink():
            raise OSError(errno.ELOOP, "")
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise BadInput(f"{FOLDER}/{name} could not be read: {describe_os_error(error)}.") from None


def read_event(path: Path | None) -> dict[str, Any]:
    """Return the payload, a JSON object. Raises BadInput if the file is missing, or has none."""
    try:
        event = json.loads(path.read_bytes()) if path else None
    except (OSError, ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise BadInput("The event payload cannot be read: GITHUB_EVENT_PATH names no file with a JSON object.")
    return event
