"""A backlog, the issues of one list in batches; and its files below one folder, which jobs hand on as artifacts."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from triage.base.errors import BadInput
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.report import RunReport
from triage.domain.value import Value
from triage.outside.output.job_output import FOLDER, read_own_file, write_file
from triage.safety.secrets.redactor import SecretRedactor

MAX_ISSUES = 1_000
"""Of one list: GitHub's search returns no more."""
BATCH_SIZE = 20
BATCH_SECONDS = 3_000.0
"""After these a job begins no further triage."""


class LeftOut(Value):
    """A listed issue that is not triaged."""

    number: int
    title: str
    reason: str


class Backlog(Value):
    """What the jobs after the list share."""

    repository: str
    """`owner/name`."""
    server_url: str
    query: str
    listed_at: datetime
    issues: list[Issue] = Field(default_factory=list)
    """Those to triage, newest first."""
    past: list[PastIssue] = Field(default_factory=list)
    """Those to compare with, newest first."""
    left_out: list[LeftOut] = Field(default_factory=list)
    next_query: str = ""
    """Lists what is older; empty if nothing is."""

    @property
    def batches(self) -> list[list[Issue]]:
        return [self.issues[start : start + BATCH_SIZE] for start in range(0, len(self.issues), BATCH_SIZE)]


LIST = "backlog.json"
TABLE = "backlog.md"
MAX_FILE_BYTES = 256_000_000
_REPORTS = TypeAdapter(list[RunReport])
T = TypeVar("T")


@dataclass(frozen=True)
class BacklogFiles:
    """Our own secrets are masked in everything that is written. Every method raises BadInput."""

    folder: Path
    redactor: SecretRedactor

    def write_list(self, backlog: Backlog) -> None:
        for batch, _ in enumerate(backlog.batches, 1):
            self.write_reports(batch, [])
        self._write(LIST, self._dump(backlog.model_dump(mode="json")))

    def read_list(self) -> Backlog:
        backlog = self._read(LIST, Backlog.model_validate_json)
        if backlog is None:
            raise BadInput(f"{self.folder / FOLDER} has no list. List the backlog first, at a terminal with --github.")
        return backlog

    def write_reports(self, batch: int, reports: Sequence[RunReport]) -> None:
        """Write the reports of a batch, which counts from 1, in place of those that are there."""
        self._write(_reports_file(batch), self._dump([report.model_dump(mode="json") for report in reports]))

    def read_reports(self, batch: int) -> list[RunReport]:
        return self._read(_reports_file(batch), _REPORTS.validate_json) or []

    def write_table(self, markdown: str) -> None:
        self._write(TABLE, self.redactor.redactor_for("table of the backlog")(markdown))

    def _dump(self, tree: object) -> str:
        redacted = self.redactor.redactor_for("files of the backlog")(tree)
        # A lone surrogate, which JSON readers reject, becomes a question mark.
        return json.dumps(redacted, ensure_ascii=False).encode("utf-8", "replace").decode()

    def _write(self, name: str, text: str) -> None:
        with suppress(OSError):  # the file says why it cannot be written
            self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.folder, name, text)

    def _read(self, name: str, parse: Callable[[bytes], T]) -> T | None:
        """Return the parsed file; None if there is none. Raises BadInput."""
        data = read_own_file(self.folder, name, MAX_FILE_BYTES)
        try:
            return None if data is None else parse(data)
        except ValidationError:
            path = self.folder / FOLDER / name
            raise BadInput(f"{path} is not a file of this version. Start the list again.") from None


def _reports_file(batch: int) -> str:
    return f"backlog-{batch:02}.json"
