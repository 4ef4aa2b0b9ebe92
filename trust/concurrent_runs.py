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
from testing.runs.job import Finished, Job
from testing.servers.github_api import SLUG, Api, Asked, Trouble, serving
from testing.servers.github_server import GitHubServer
from trust.forked_runs import ended, started

BOT = "github-actions[bot]"
NUMBER = 7
POST = f"POST /repos/{SLUG}/issues/{NUMBER}/comments"
MEETING_SECONDS = 3.0
"""How long the first comment of a run waits for that of another."""


@dataclass(frozen=True)
class Kill:
    """SIGKILL for the run at one of its requests, before or after that was carried out."""

    request: int
    after: bool


@dataclass
class Fate:
    """What happens to one run."""

    lost: Trouble | None = None
    """What its first comment meets."""
    kill: Kill | None = None
    meeting: threading.Barrier | None = None
    """Where the first comments of all runs wait for each other, so that each was written before any was seen."""
    run_seconds: int = 3
    process: int = 0
    asked: int = 0
    commented: bool = False

    def meet(self) -> None:
        """Wait for the others."""
        if self.meeting is not None:
            try:
                self.meeting.wait(MEETING_SECONDS)
            except threading.BrokenBarrierError:
                return

    def end(self) -> None:
        """Kill the run."""
        if self.meeting is not None:
            self.meeting.abort()
        if self.process:
            os.kill(self.process, signal.SIGKILL)


@dataclass
class SharedIssue:
    """The issue, and the runs by their tokens."""

    api: Api
    folder: Path
    fates: dict[str, Fate] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(10))

    def __post_init__(self) -> None:
        self.api.hears = self._hears

    @property
    def ours(self) -> list[str]:
        """Texts of the comments that stand there by us."""
        return [str(comment["body"]) for comment in self.api.comments if comment["user"]["login"] == BOT]

    def token(self, fate: Fate) -> str:
        """For a run that this happens to."""
        token = f"ghs_{next(self.numbers)}" * 6
        self.api.logins[token] = BOT
        self.fates[token] = fate
        return token

    def run(self, *fates: Fate) -> list[Finished]:
        """The action, as often as there are fates, all at once."""
        running = []
        for fate in fates:
            token = self.token(fate)
            job = Job(self.folder / token, GitHubServer(sample_bug.TITLE, sample_bug.BODY, NUMBER, url=self.api.url))
            job.inputs |= {"timeout-seconds": str(fate.run_seconds), "github-token": token}
            sample_bug.plain_checkout(job.workspace)
            job.commit()
            process = started(job)
            fate.process = process.pid or 0
            running.append((job, process))
        return [ended(job, process) for job, process in running]

    def _hears(self, asked: Asked) -> Trouble | None:
        fate = self.fates[asked.token]
        fate.asked += 1
        first = asked.line == POST and not fate.commented
        if first:
            fate.commented = True
            fate.meet()
        if fate.kill is not None and fate.kill.request == fate.asked:
            fate.end()
            return Trouble("", stored=fate.kill.after)
        return fate.lost if first else None


@contextmanager
def shared_issue() -> Iterator[SharedIssue]:
    """An issue with one comment, which is not ours."""
    with TemporaryDirectory() as folder, serving() as api:
        api.add_issue(NUMBER, title=sample_bug.TITLE, body=sample_bug.BODY)
        api.add_comment("Me too", "ann")
        yield SharedIssue(api, Path(folder))
