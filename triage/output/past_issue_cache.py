"""Caches the repository's past issues, so that a run asks GitHub only for those that changed since the last one.

The folder may come from anywhere: what does not parse counts as nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path

from pydantic import AwareDatetime, ValidationError

from triage.base.private_folder import make_private_folder, read_private_file, write_private_file
from triage.domain.memory import PastIssue
from triage.domain.value import Value
from triage.ports import IteratePages

MAX_FILE_BYTES = 32_000_000
"""A thousand issues have 8 MB at most, unless their texts are escapes only."""
MAX_AGE = timedelta(days=7)
"""Then all issues are read anew: some are deleted, and what GitHub did not show once it may show now."""


class _Stored(Value):
    limit: int
    """How many were asked for."""
    read_at: AwareDatetime
    """When all of them were read; later runs read only changes."""
    issues: list[PastIssue]


@dataclass(frozen=True)
class CachedPastIssues:
    """Implements the port `PastIssueSource` with a file in front of GitHub."""

    folder: Path | None
    """None caches nothing."""
    repository: str
    """Its cache is not read for another one."""
    limit: int
    iterate_pages: IteratePages
    now: Callable[[], datetime]

    def iterate(self, words: str) -> Iterator[list[PastIssue]]:
        if self.folder is None:
            yield from self.iterate_pages(None, words)
            return
        file = self.folder / f"issues-{blake2b(self.repository.encode(), digest_size=16).hexdigest()}.json"
        stored = self._read(file)
        issues = stored.issues if stored else []
        yield issues
        known = {issue.number: issue for issue in issues}
        for page in self.iterate_pages(_find_last_change(issues), words):
            known |= {issue.number: issue for issue in page}
            yield page
        self._write(file, stored.read_at if stored else self.now(), list(known.values()))

    def _read(self, file: Path) -> _Stored | None:
        try:
            stored = _Stored.model_validate_json(read_private_file(file, MAX_FILE_BYTES) or b"")
        except (OSError, ValidationError):
            return None
        # A time to come would hide all changes until then.
        now = self.now()
        if stored.limit < self.limit or not now - MAX_AGE < stored.read_at <= now:
            return None
        known = [issue for issue in stored.issues if issue.updated_at and issue.updated_at <= now]
        return stored.model_copy(update={"issues": known[: self.limit]})

    def _write(self, file: Path, read_at: datetime, issues: Sequence[PastIssue]) -> None:
        newest = sorted(issues, key=lambda issue: -issue.number)[: self.limit]
        stored = _Stored(limit=self.limit, read_at=read_at, issues=newest)
        with suppress(OSError):  # the next run asks for all of them
            make_private_folder(file.parent)
            write_private_file(file, stored.model_dump_json().encode(), self.now().timestamp())


def _find_last_change(issues: Sequence[PastIssue]) -> datetime | None:
    return max((issue.updated_at for issue in issues if issue.updated_at), default=None)
