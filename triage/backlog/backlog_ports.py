"""What the backlog needs from outside, as protocols."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from triage.backlog.backlog import BacklogPage, BacklogPlan, BatchRecord, Cursor, ListedIssue
from triage.domain.past_issues import PastIssue


class BacklogSource(Protocol):
    """Where issues are listed. Every method raises SetupError or GitHubUnavailable. Slow: call it in a thread."""

    def iterate(self, query: str, cursor: Cursor | None) -> Iterator[BacklogPage]:
        """Yield pages of the issues that a search finds, with their threads, newest first, each issue once.

        `query` is one of `backlog.search_query.check_query`. With a cursor, only what comes after it.
        """


class TableIssue(Protocol):
    """The issue that shows the table."""

    def write(self, title: str, body: str) -> tuple[int, str]:
        """Replace the text of the open issue of ours that begins with the marker, or open one; its number and URL.

        Raises as the writes of `ports.GitHub`. Slow: call it in a thread.
        """


class BacklogFolder(Protocol):
    """The files that the jobs hand on. Every method raises BadInput if a file cannot be read or written."""

    def write_list(
        self, plan: BacklogPlan, batches: Iterable[Sequence[ListedIssue]], past: Sequence[PastIssue]
    ) -> None:
        """Write the plan, the issues of each batch, and the issues that they are compared with."""

    def read_plan(self) -> BacklogPlan:
        """The plan."""

    def read_batch(self, batch: int) -> list[ListedIssue]:
        """The issues of a batch, which counts from 1."""

    def read_past(self) -> list[PastIssue]:
        """The issues to compare with."""

    def read_records(self, batch: int) -> list[BatchRecord]:
        """What became of the issues of a batch; nothing if it was not begun. A line that is cut counts as none."""

    def append(self, batch: int, record: BatchRecord) -> None:
        """Add a record. It is on disk when this returns."""

    def write_table(self, markdown: str, csv_text: str) -> None:
        """Write `backlog.md` and `backlog.csv`."""
