"""Several runs of the whole program on one issue, at a strict GitHub on loopback, each with a plan of faults."""

import itertools
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.runs.job import Job
from testing.servers.github_api import SLUG, ApiFault, ApiRequest, GitHubApi, serve_github_api
from trust.forked_runs import wait_for_run

BOT = "github-actions[bot]"
NUMBER = 7
POST = f"POST /repos/{SLUG}/issues/{NUMBER}/comments"
BARRIER_SECONDS = 3.0
"""How long the first comment of a run waits for the first comment of another run."""


@dataclass(frozen=True)
class KillPoint:
    """SIGKILL at a request of the run, before or after GitHub handled it."""

    request: int
    after: bool


@dataclass
class RunPlan:
    """The faults of one run."""

    comment_fault: ApiFault | None = None
    """Fault of its first comment."""
    kill: KillPoint | None = None
    barrier: threading.Barrier | None = None
    """The first comments of all runs wait here, so that all are written before any run reads them."""
    run_seconds: int = 3
    process: int = 0
    request_count: int = 0
    has_commented: bool = False


@dataclass
class ConcurrentRuns:
    """The issue and its runs, by token."""

    api: GitHubApi
    folder: Path
    plans: dict[str, RunPlan] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(10))

    def __post_init__(self) -> None:
        self.api.on_request = self._handle_request

    @property
    def our_comments(self) -> list[str]:
        return [str(comment["body"]) for comment in self.api.comments if comment["user"]["login"] == BOT]

    def add_run(self, plan: RunPlan) -> str:
        """Registers a run and returns its token."""
        token = f"ghs_{next(self.numbers)}" * 6
        self.api.logins[token] = BOT
        self.plans[token] = plan
        return token

    def run(self, *plans: RunPlan) -> list[JobResult]:
        """Runs the action once per plan, all at the same time."""
        running = []
        for plan in plans:
            token = self.add_run(plan)
            job = Job(self.folder / token, self.api)
            job.inputs |= {"timeout-seconds": str(plan.run_seconds), "github-token": token}
            sample_bug.commit_plain_checkout(job.workspace)
            process = job.start_forked()
            plan.process = process.pid
            running.append((job, process))
        return [wait_for_run(job, process) for job, process in running]

    def _handle_request(self, asked: ApiRequest) -> ApiFault | None:
        plan = self.plans[asked.token]
        plan.request_count += 1
        first = asked.line == POST and not plan.has_commented
        if first:
            plan.has_commented = True
            if plan.barrier is not None:
                with suppress(threading.BrokenBarrierError):
                    plan.barrier.wait(BARRIER_SECONDS)
        if plan.kill is not None and plan.kill.request == plan.request_count:
            if plan.barrier is not None:
                plan.barrier.abort()
            os.kill(plan.process, signal.SIGKILL)
            return ApiFault("", stored=plan.kill.after)
        return plan.comment_fault if first else None


@contextmanager
def serve_shared_issue() -> Iterator[ConcurrentRuns]:
    """Yields an issue with one comment by somebody else."""
    with TemporaryDirectory() as folder, serve_github_api() as api:
        api.add_issue(NUMBER, title=sample_bug.TITLE, body=sample_bug.BODY)
        api.add_comment("Me too", "ann")
        yield ConcurrentRuns(api, Path(folder))
