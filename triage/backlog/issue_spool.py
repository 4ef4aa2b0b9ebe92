"""Issues on disk until all are listed: a full list of issues with long threads would take gigabytes of memory."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import BinaryIO

from triage.backlog.backlog import ListedIssue


@dataclass
class IssueSpool:
    file: BinaryIO

    def add(self, issue: ListedIssue) -> None:
        # With escapes: a lone surrogate cannot be written as it is.
        self.file.write(json.dumps(issue.model_dump(mode="json")).encode() + b"\n")

    def read(self) -> Iterator[ListedIssue]:
        """Yield the issues in the order in which they were added. Nothing may be added meanwhile."""
        self.file.seek(0)
        for line in self.file:
            yield ListedIssue.model_validate(json.loads(line))


@contextmanager
def open_spool() -> Iterator[IssueSpool]:
    """Open a file without a name, which is gone when it is closed."""
    with TemporaryFile() as file:
        yield IssueSpool(file)
