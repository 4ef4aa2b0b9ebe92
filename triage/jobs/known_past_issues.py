"""Past issues that were read before a run, for many runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triage.domain.past_issues import PastIssue


@dataclass(frozen=True)
class KnownPastIssues:
    """Implements the port `PastIssueSource` without asking anybody."""

    issues: Sequence[PastIssue]

    def iterate(self, words: str) -> Iterator[list[PastIssue]]:
        del words
        yield list(self.issues)
