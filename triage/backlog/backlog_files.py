"""The files of a backlog in one folder, which the jobs hand on as an artifact.

Whoever downloads an artifact is another user than the one who wrote it in a container, so all may read the files.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from triage.backlog.backlog import BacklogPlan, BatchRecord, ListedIssue
from triage.base.errors import BadInput
from triage.domain.past_issues import PastIssue
from triage.safety.secrets.redactor import SecretRedactor

PLAN = "plan.json"
PAST = "past.json"
TABLE = "backlog.md"
CSV = "backlog.csv"
MAX_FILE_BYTES = 256_000_000
"""A batch of 1,000 issues with 100 comments of 65,536 characters each would be larger; none is."""
_ISSUES = TypeAdapter(list[ListedIssue])
_PAST_ISSUES = TypeAdapter(list[PastIssue])
T = TypeVar("T")


@dataclass
class BacklogFiles:
    """Symbolic links are not followed: the checkout may be a stranger's. Every method raises BadInput.

    Our own secrets are masked in everything that is written.
    """

    folder: Path
    redactor: SecretRedactor = field(default_factory=lambda: SecretRedactor([]), repr=False, kw_only=True)

    def write_list(
        self, plan: BacklogPlan, batches: Iterable[Sequence[ListedIssue]], past: Sequence[PastIssue]
    ) -> None:
        self._make_folder()
        for file in self.folder.glob("*.jsonl"):
            self._write_files(lambda file=file: file.unlink())  # type: ignore[misc]
        self._write(PAST, self._dump(_PAST_ISSUES.dump_python(list(past), mode="json")))
        for number, issues in enumerate(batches, 1):
            self._write(_issues_file(number), self._dump(_ISSUES.dump_python(list(issues), mode="json")))
        self._write(PLAN, self._dump(plan.model_dump(mode="json")))  # last: with it the list is complete

    def read_plan(self) -> BacklogPlan:
        return self._read(PLAN, BacklogPlan.model_validate_json)

    def read_batch(self, batch: int) -> list[ListedIssue]:
        """Return the issues of a batch, which counts from 1."""
        return self._read(_issues_file(batch), _ISSUES.validate_json)

    def read_past(self) -> list[PastIssue]:
        """Return the issues to compare with."""
        return self._read(PAST, _PAST_ISSUES.validate_json)

    def read_records(self, batch: int) -> list[BatchRecord]:
        """Return what became of the issues of a batch; nothing if it was not begun. A cut line counts as none."""
        try:
            data = self._read_bytes(_records_file(batch))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unreadable(_records_file(batch), error) from None
        records = []
        for line in data.splitlines():
            try:
                records.append(BatchRecord.model_validate_json(line))
            except ValidationError:  # the process was killed while it wrote
                continue
        return records

    def append(self, batch: int, record: BatchRecord) -> None:
        """Add a record. It is on disk when this returns."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        # The line end comes first: the line before may have been cut.
        line = b"\n" + self._dump(record.model_dump(mode="json", exclude_defaults=True)) + b"\n"

        def write() -> None:
            with os.fdopen(os.open(self.folder / _records_file(batch), flags, 0o644), "wb") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())

        self._write_files(write)

    def write_table(self, markdown: str, csv_text: str) -> None:
        redact = self.redactor.redactor_for("table of the backlog")
        self._write(TABLE, redact(markdown).encode("utf-8", "replace"))
        self._write(CSV, redact(csv_text).encode("utf-8", "replace"))

    def _dump(self, tree: object) -> bytes:
        tree = self.redactor.redactor_for("files of the backlog")(tree)
        # A lone surrogate, which JSON readers reject, becomes a question mark.
        return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    def _make_folder(self) -> None:
        def make() -> None:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self.folder.is_symlink():
                raise NotADirectoryError
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="ascii")

        self._write_files(make)

    def _write(self, name: str, data: bytes) -> None:
        draft = self.folder / f".{name}.new"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC

        def write() -> None:
            with os.fdopen(os.open(draft, flags, 0o644), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.folder / name)

        self._write_files(write)

    def _write_files(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            reason = (error.strerror or "it is no folder").lower()
            raise BadInput(f"The files of the backlog cannot be written to {self.folder} ({reason}).") from None

    def _read(self, name: str, parse: Callable[[bytes], T]) -> T:
        try:
            return parse(self._read_bytes(name))
        except OSError as error:
            raise self._unreadable(name, error) from None
        except ValidationError:
            raise BadInput(f"{self.folder / name} is not a file of this version. Start the list again.") from None

    def _read_bytes(self, name: str) -> bytes:
        handle = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError("not a regular file")
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise OSError("too large")
        return data

    def _unreadable(self, name: str, error: OSError) -> BadInput:
        reason = (error.strerror or str(error)).lower()
        what = f"{self.folder / name} cannot be read ({reason})."
        return BadInput(f"{what} List the backlog first, and hand on its folder.")


def _issues_file(batch: int) -> str:
    return f"issues-{batch:03}.json"


def _records_file(batch: int) -> str:
    return f"results-{batch:03}.jsonl"
