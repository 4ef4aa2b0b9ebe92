"""Fakes for what the jobs of a backlog read and write."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from triage.backlog.backlog import BacklogPage, BacklogPlan, BatchRecord, Cursor, ListedIssue
from triage.backlog.backlog_files import BacklogFiles
from triage.base.errors import BadInput, TriageError
from triage.domain.past_issues import PastIssue


@dataclass
class FakeBacklogFiles(BacklogFiles):
    """Files in memory."""

    folder: Path = field(default=Path(), kw_only=True)
    plan: BacklogPlan | None = None
    batches: list[list[ListedIssue]] = field(default_factory=list)
    past: list[PastIssue] = field(default_factory=list)
    records: dict[int, list[BatchRecord]] = field(default_factory=dict)
    tables: list[tuple[str, str]] = field(default_factory=list)

    def write_list(
        self, plan: BacklogPlan, batches: Iterable[Sequence[ListedIssue]], past: Sequence[PastIssue]
    ) -> None:
        self.plan, self.batches, self.past = plan, [list(batch) for batch in batches], list(past)
        self.records = {}

    def read_plan(self) -> BacklogPlan:
        if self.plan is None:
            raise BadInput("no list")
        return self.plan

    def read_batch(self, batch: int) -> list[ListedIssue]:
        return self.batches[batch - 1]

    def read_past(self) -> list[PastIssue]:
        return self.past

    def read_records(self, batch: int) -> list[BatchRecord]:
        return list(self.records.get(batch, []))

    def append(self, batch: int, record: BatchRecord) -> None:
        self.records.setdefault(batch, []).append(record)

    def write_table(self, markdown: str, csv_text: str) -> None:
        self.tables.append((markdown, csv_text))


@dataclass
class FakeBacklogSource:
    """Pages of issues; with an error, that is raised after them."""

    pages: list[BacklogPage]
    error: TriageError | None = None
    asked: list[tuple[str, Cursor | None]] = field(default_factory=list)

    def iterate(self, query: str, cursor: Cursor | None) -> Iterator[BacklogPage]:
        self.asked.append((query, cursor))
        yield from self.pages
        if self.error:
            raise self.error
