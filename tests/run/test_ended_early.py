"""A run that is cancelled, or runs out of time, at each of its stages; over fakes."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from testing import factories
from testing.fakes import NOW, FakeCodebase, FakeGitHub, FakeModel, fake_services
from tests.run.run_harness import OPENED, RunHarness
from triage.base.errors import GitHubUnavailable
from triage.base.threads import seconds_left
from triage.domain.effect import Policy
from triage.domain.issue import IssueComment
from triage.domain.run import Status
from triage.domain.task import IssueTask, TriageTask, Trigger
from triage.run.job_context import JobContext
from triage.run.may_run.event import Event
from triage.run.triage_issue import run_task


class SlowGitHub(FakeGitHub):
    """Says when it is asked, and takes its time over it."""

    asked: Callable[[str], object] = staticmethod(lambda method: None)

    def _raise_prepared_error(self, method: str) -> None:
        self.asked(method)
        super()._raise_prepared_error(method)


@dataclass
class CutHarness(RunHarness):
    """A run over fakes, and when it is cut."""

    github: SlowGitHub = field(default_factory=lambda: SlowGitHub(issues={7: factories.issue()}))
    event: Event | None = field(default_factory=lambda: Event(issue=factories.issue()))
    seconds: float = 60.0
    """Left after a signal."""
    reading_seconds: float = 60.0
    released: threading.Event = field(default_factory=threading.Event)

    def run(self, task: IssueTask = OPENED) -> Status:
        async def work() -> Status:
            self.loop, self.cancelled = asyncio.get_running_loop(), asyncio.Event()
            return await asyncio.wait_for(run_task(task, self.build_context()), 30)

        return asyncio.run(work())

    def build_context(self) -> JobContext:
        return replace(
            super().build_context(),
            repository=factories.repository(),
            cancelled=self.cancelled,
            seconds_left=lambda: self.seconds,
            github_seconds_left=lambda: self.reading_seconds,
        )

    def cancel(self) -> None:
        self.loop.call_soon_threadsafe(self.cancelled.set)

    def hang_in(self, method: str) -> None:
        """GitHub hangs when asked for this, and the run is cancelled then."""

        def asked(name: str) -> None:
            if name == method:
                self.cancel()
                self.released.wait(30)

        self.github.asked = asked

    def hang_in_model(self, name: str) -> None:
        """A model that hangs when asked for this, and the run is cancelled then."""

        async def stop(_: Any) -> Any:
            self.cancelled.set()
            await asyncio.sleep(60)

        self.services = fake_services(
            codebase=FakeCodebase(factories.FILES), model=FakeModel(factories.answers(tools=stop) | {name: stop})
        )

    @property
    def summary(self) -> str:
        (page,) = self.output.summaries
        return page


@pytest.fixture
def harness() -> Iterator[CutHarness]:
    harness = CutHarness()
    with contextlib.ExitStack() as stack:
        stack.callback(harness.released.set)
        yield harness


@pytest.mark.parametrize("method", ["fetch_issue", "list_labels"])
def test_cancelled_while_github_is_read_the_page_says_so(harness: CutHarness, method: str):
    harness.hang_in(method)
    assert harness.run() is Status.DEGRADED
    assert "The run was cancelled before it looked anything up" in harness.summary
    assert harness.writes == 0
    assert harness.output.values["status"] == "degraded"


def test_cancelled_while_roles_are_asked_nobody_is_obeyed(harness: CutHarness):
    harness.github.issues[7] = factories.issue(
        thread=[IssueComment(author="stranger", body="/triage", created_at=NOW, comment_id=60)]
    )
    harness.hang_in("fetch_role")
    command = TriageTask(number=7, trigger=Trigger.COMMAND, actor="stranger")
    assert harness.run(command) is Status.DEGRADED
    assert "cancelled" in harness.summary
    assert harness.writes == 0


def test_cancelled_before_it_began_a_run_asks_nobody(harness: CutHarness):
    asked: list[str] = []
    harness.github.asked = asked.append

    async def work() -> Status:
        harness.cancelled = asyncio.Event()
        harness.cancelled.set()
        return await run_task(OPENED, harness.build_context())

    assert asyncio.run(work()) is Status.DEGRADED
    assert asked == []
    assert "The run was cancelled before it looked anything up" in harness.summary


@pytest.mark.parametrize("name", ["InvestigatorFinding", "CritiqueFinding", "TicketDraft"])
def test_what_a_cancelled_run_has_found_stays_on_its_page(harness: CutHarness, name: str):
    asked: list[str] = []
    harness.github.asked = asked.append
    harness.policy = Policy(comment="always", labels="apply")
    harness.hang_in_model(name)
    assert harness.run() is Status.DEGRADED
    assert harness.writes == 0
    assert asked == ["fetch_issue", "list_labels"]
    assert "The run was cancelled." in harness.summary
    assert harness.output.values["comment-url"] == ""


def test_a_comment_that_is_being_written_when_the_signal_comes_has_time_to_arrive(harness: CutHarness):
    harness.github.asked = lambda method: harness.cancel() if method == "post_comment" else None
    assert harness.run() is Status.COMPLETE
    assert len(harness.github.posted) == 1
    assert harness.output.values["comment-url"]
    assert "may or may not" not in harness.summary


def test_a_comment_that_does_not_arrive_in_time_may_stand_there(harness: CutHarness):
    harness.hang_in("post_comment")
    harness.seconds = 0.05
    assert harness.run() is Status.DEGRADED
    assert "the run was cancelled. What was sent last may or may not be there." in harness.summary
    assert "src/parse.py" in harness.summary, "what was found is told all the same"
    assert harness.output.values["comment-url"] == ""
    assert harness.output.values["status"] == "degraded"


def test_a_github_that_does_not_take_the_comment_ends_with_the_runs_time(harness: CutHarness):
    harness.github.asked = lambda method: harness.released.wait(30) if method == "post_comment" else None
    harness.seconds = 0.5
    harness.run()
    assert "the run's time was up. What was sent last may or may not be there." in harness.summary
    assert harness.output.values["status"] == "degraded"


def test_a_github_that_does_not_let_itself_be_read_leaves_time_for_what_the_event_told(harness: CutHarness):
    harness.github.asked = lambda method: harness.released.wait(30) if method == "fetch_issue" else None
    harness.reading_seconds = 0.1
    assert harness.run() is Status.DEGRADED
    assert "could not be read: GitHub took more than 0 seconds" in harness.summary
    assert "src/parse.py" in harness.summary
    assert harness.writes == 0


def test_a_run_that_is_cut_by_its_clock_comments_as_ever(harness: CutHarness):
    """Only who cancels is in a hurry; the report says that it is partial."""
    harness.github = SlowGitHub(issues={7: factories.issue()}, errors={"list_labels": GitHubUnavailable("down")})
    model = FakeModel(factories.answers(CritiqueFinding=lambda _: asyncio.sleep(60)))
    harness.services = fake_services(codebase=FakeCodebase(factories.FILES), model=model, started=-290.0)
    harness.run()
    assert len(harness.github.posted) == 1


def test_a_write_knows_how_long_it_is_waited_for(harness: CutHarness):
    """So that a limit which outlasts the run is said at once, and is no comment that may stand there or not."""
    known: list[float] = []
    harness.github.asked = lambda method: (
        known.append(seconds_left()) if method in ("fetch_issue", "post_comment") else None
    )
    harness.run()
    _, look, post, _ = known
    assert 0 < look <= harness.seconds / 2
    assert harness.seconds / 2 < post <= harness.seconds
