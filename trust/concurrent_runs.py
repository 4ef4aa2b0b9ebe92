"""One issue at a strict GitHub on loopback, several runs of the whole program on it, and what happens to each."""

import itertools
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.runs import sample_bug
from testing.runs.job import Job, JobResult
from testing.servers.github_api import SLUG, ApiFault, ApiRequest, GitHubApi, serve_github_api
from testing.servers.github_server import GitHubServer
from trust.forked_runs import start_run, wait_for_run

BOT = "github-actions[bot]"
NUMBER = 7
POST = f"POST /repos/{SLUG}/issues/{NUMBER}/comments"
MEETING_SECONDS = 3.0
"""How long the first comment of a run waits for that of another."""


@dataclass(frozen=True)
class KillPoint:
    """SIGKILL for the run at one of its requests, before or after that was carried out."""

    request: int
    after: bool


@dataclass
class RunPlan:
    """What happens to one run."""

    comment_fault: ApiFault | None = None
    """What its first comment meets."""
    kill: KillPoint | None = None
    meeting: threading.Barrier | None = None
    """Where the first comments of all runs wait for each other, so that each was written before any was seen."""
    run_seconds: int = 3
    process: int = 0
    request_count: int = 0
    commented: bool = False

    def wait_for_other_runs(self) -> None:
        """Wait for the others."""
        if self.meeting is not None:
            try:
                self.meeting.wait(MEETING_SECONDS)
            except threading.BrokenBarrierError:
                return

    def kill_process(self) -> None:
        """Kill the run."""
        if self.meeting is not None:
            self.meeting.abort()
        if self.process:
            os.kill(self.process, signal.SIGKILL)


@dataclass
class ConcurrentRuns:
    """The issue, and the runs by their tokens."""

    api: GitHubApi
    folder: Path
    plans: dict[str, RunPlan] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(10))

    def __post_init__(self) -> None:
        self.api.on_request = self._hears

    @property
    def our_comments(self) -> list[str]:
        """Texts of the comments that stand there by us."""
        return [str(comment["body"]) for comment in self.api.comments if comment["user"]["login"] == BOT]

    def add_run(self, fate: RunPlan) -> str:
        """For a run that this happens to."""
        token = f"ghs_{next(self.numbers)}" * 6
        self.api.logins[token] = BOT
        self.plans[token] = fate
        return token

    def run(self, *fates: RunPlan) -> list[JobResult]:
        """The action, as often as there are fates, all at once."""
        running = []
        for fate in fates:
            token = self.add_run(fate)
            job = Job(self.folder / token, GitHubServer(sample_bug.TITLE, sample_bug.BODY, NUMBER, url=self.api.url))
            job.inputs |= {"timeout-seconds": str(fate.run_seconds), "github-token": token}
            sample_bug.write_plain_checkout(job.workspace)
            job.commit()
            process = start_run(job)
            fate.process = process.pid or 0
            running.append((job, process))
        return [wait_for_run(job, process) for job, process in running]

    def _hears(self, asked: ApiRequest) -> ApiFault | None:
        fate = self.plans[asked.token]
        fate.request_count += 1
        first = asked.line == POST and not fate.commented
        if first:
            fate.commented = True
            fate.wait_for_other_runs()
        if fate.kill is not None and fate.kill.request == fate.request_count:
            fate.kill_process()
            return ApiFault("", stored=fate.kill.after)
        return fate.comment_fault if first else None


@contextmanager
def serve_shared_issue() -> Iterator[ConcurrentRuns]:
    """An issue with one comment, which is not ours."""
    with TemporaryDirectory() as folder, serve_github_api() as api:
        api.add_issue(NUMBER, title=sample_bug.TITLE, body=sample_bug.BODY)
        api.add_comment("Me too", "ann")
        yield ConcurrentRuns(api, Path(folder))
