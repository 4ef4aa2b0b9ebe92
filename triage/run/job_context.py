"""What the jobs act through, what they work on, where they read past issues, and telemetry."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from triage.agents.services import IteratePastIssues, Services
from triage.base.errors import GitHubUnavailable
from triage.base.progress import ProgressLog
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.code import Span
from triage.domain.effect import AnnotationLevel, Policy
from triage.domain.issue import Repository
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.read.other_issues import make_visible

if TYPE_CHECKING:
    from triage.outside.github.issue_tracker import IssueTracker
    from triage.run.may_run.event import Event


T = TypeVar("T")

ROLE_OF_ASKER = "The role of whoever asked"
"""Begins the sentence of an error, see `JobContext.ask_github`."""
MAX_EXPORT_SECONDS = 3.5
"""A little more than the exporter's own limit, which bounds each wait: a collector may answer byte by byte."""
MAX_SECONDS_AFTER_SIGNAL = 1.0
"""The runner kills the process seconds after a signal."""


class Output(Protocol):
    """Where results go besides GitHub: the files and commands of the Actions runner, or a terminal."""

    def write_summary(self, markdown: str) -> None:
        """Add Markdown to the job summary."""

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Set the action's outputs."""

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """Annotate the job, and the lines of code if there are any, with one line of text."""

    def write_report(self, json_text: str) -> str:
        """Write the JSON report; its path for users, or empty if it is not written."""


class OpenServices(Protocol):
    def __call__(self, *, by_rules: bool = False) -> Services:
        """Open what acts in one triage; `by_rules` for a run beyond the cap of runs by a model."""


@dataclass(frozen=True)
class JobContext:
    """What a job acts through. The `open_` functions take seconds, so a job calls them only when there is work."""

    github: IssueTracker
    output: Output
    """The page and the files of the job; nothing of the issue."""
    progress: ProgressLog
    policy: Policy
    repository: Repository
    open_services: OpenServices
    now: Callable[[], datetime]
    cancelled: asyncio.Event
    """Set at the first signal."""
    event: Event | None
    """None for a request by number."""
    seconds_left: Callable[[], float]
    """Until everything must be written. A signal makes it shorter."""
    github_seconds_left: Callable[[], float]
    """For the next question to GitHub before the agents start."""
    config: ProjectConfig
    max_model_runs: int | None
    """In this repository in 24 hours; none where no model would be asked."""

    async def ask_github(self, what: str, request: Callable[[], T]) -> T:
        """Read something from GitHub before the agents start. `what` begins the sentence of an error.

        Raises:
            GitHubUnavailable: From the request itself, when time is up, or when the run is cancelled.
        """
        seconds = self.github_seconds_left()
        try:
            return await call_with_deadline(request, self.cancelled, seconds)
        except OutOfTime as error:
            reason = str(error) if self.cancelled.is_set() else f"GitHub took more than {seconds:.0f} seconds"
            raise GitHubUnavailable(f"{what} could not be read: {reason}.") from None


def iterate_visible(iterate_pages: IteratePastIssues, words: str) -> Iterator[list[PastIssue]]:
    """Yield past issues of GitHub as a person sees them on their pages."""
    for page in iterate_pages(words):
        yield [make_visible(issue) for issue in page]


async def export_telemetry(
    report: RunReport,
    services: Services,
    cancelled: asyncio.Event,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> None:
    """Export the published report if telemetry is on. Never raises; a failure is a line in the log."""
    export = services.export_report
    if export is None:
        return
    try:
        await call_with_deadline(
            lambda: export(report),
            cancelled,
            MAX_EXPORT_SECONDS,
            seconds_after_cancel=lambda: min(MAX_SECONDS_AFTER_SIGNAL, seconds_left()),
        )
    except OutOfTime:
        services.progress.info("Telemetry not sent: the collector takes too long.")
    except Exception as error:  # noqa: BLE001 - the SDK raises for its own variables, and the report is published
        services.progress.info(f"Telemetry not sent: {type(error).__name__}.")
