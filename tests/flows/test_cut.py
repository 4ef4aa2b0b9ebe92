"""A run that is cancelled, or runs out of time, at each of its stages; over fakes."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from testing import factories
from testing.fakes import NOW, FakeCodebase, FakeGitHub, FakeModel, FakeProgressLog, FakeRunner, fake_services
from triage.domain.effect import COMMENT_MARKER, Policy
from triage.domain.issue import Issue, IssueComment
from triage.domain.run import Status
from triage.domain.task import Task, TriageIssue, Trigger
from triage.errors import GitHubUnavailable
from triage.flows.flow_context import FlowContext, FlowResult
from triage.flows.triage_issue import run_task
from triage.ports import Services
from triage.publish.hidden_state import parse_state
from triage.threads import seconds_left

OPENED = TriageIssue(number=7, trigger=Trigger.OPENED, actor="reporter")
BY_HAND = TriageIssue(number=7, trigger=Trigger.REQUESTED)
FULL = IssueComment(
    author="github-actions[bot]",
    body=f"{COMMENT_MARKER} v1 {{}} -->\nwords",
    ours=True,
    by_bot=True,
    comment_id=55,
    created_at=NOW,
)


@dataclass
class SlowGitHub(FakeGitHub):
    """Says when it is asked, and takes its time over it."""

    asked: Callable[[str], object] = lambda method: None

    def _raise_prepared_error(self, method: str) -> None:
        self.asked(method)
        super()._raise_prepared_error(method)


@dataclass
class Night:
    """A run, and the moment of its end."""

    github: SlowGitHub = field(default_factory=lambda: SlowGitHub(issues={7: factories.issue()}))
    runner: FakeRunner = field(default_factory=FakeRunner)
    journal: FakeProgressLog = field(default_factory=FakeProgressLog)
    policy: Policy = field(default_factory=Policy)
    told: Issue | None = field(default_factory=factories.issue)
    given: Services = field(default_factory=lambda: fake_services(codebase=FakeCodebase(factories.FILES)))
    seconds: float = 60.0
    """Left after a signal."""
    reading_seconds: float = 60.0
    released: threading.Event = field(default_factory=threading.Event)

    def run(self, task: Task = OPENED) -> FlowResult:
        async def work() -> FlowResult:
            self.loop, self.cancelled = asyncio.get_running_loop(), asyncio.Event()
            return await asyncio.wait_for(run_task(task, self.desk()), 30)

        return asyncio.run(work())

    def desk(self) -> FlowContext:
        return FlowContext(
            github=self.github,
            runner=self.runner,
            progress=self.journal,
            policy=self.policy,
            repository=factories.repository(),
            open_services=lambda: self.given,
            now=lambda: NOW,
            event_issue=self.told,
            cancelled=self.cancelled,
            seconds_left=lambda: self.seconds,
            read_seconds_left=lambda: self.reading_seconds,
        )

    def cancel(self) -> None:
        self.loop.call_soon_threadsafe(self.cancelled.set)

    def hanging(self, method: str) -> None:
        """GitHub hangs when asked for this, and the run is cancelled then."""

        def asked(name: str) -> None:
            if name == method:
                self.cancel()
                self.released.wait(30)

        self.github.asked = asked

    def stuck_in(self, name: str) -> None:
        """A model that hangs when asked for this, and the run is cancelled then."""

        async def stop(_: Any) -> Any:
            self.cancelled.set()
            await asyncio.sleep(60)

        self.given = fake_services(
            codebase=FakeCodebase(factories.FILES), model=FakeModel(factories.answers(**{name: stop}, tools=stop))
        )

    @property
    def summary(self) -> str:
        (page,) = self.runner.summaries
        return page

    @property
    def writes(self) -> int:
        return len(self.github.posted) + len(self.github.edited) + len(self.github.labelled)


@pytest.fixture
def night() -> Iterator[Night]:
    night = Night()
    with contextlib.ExitStack() as stack:
        stack.callback(night.released.set)
        yield night


@pytest.mark.parametrize("method", ["fetch_issue", "list_labels"])
def test_cancelled_while_github_is_read_the_page_shows_what_the_issue_says(night: Night, method: str):
    night.hanging(method)
    assert night.run().status is Status.DEGRADED
    assert "This report is partial. The run was cancelled before it looked anything up" in night.summary
    assert night.writes == 0
    assert night.runner.values["status"] == "degraded"


@pytest.mark.parametrize("told", [None, factories.issue()])
def test_cancelled_before_a_text_or_a_right_to_ask_is_known_the_page_says_that(night: Night, told: Issue | None):
    night.told = told
    night.hanging("fetch_issue")
    assert night.run(BY_HAND).status is Status.DEGRADED
    assert "could not be read: the run was cancelled." in night.summary
    assert night.runner.values["status"] == "degraded"


def test_cancelled_while_roles_are_asked_nobody_is_obeyed(night: Night):
    night.github.issues[7] = factories.issue(
        thread=[IssueComment(author="stranger", body="/triage", created_at=NOW, comment_id=60)]
    )
    night.hanging("fetch_role")
    command = TriageIssue(number=7, trigger=Trigger.COMMAND, actor="stranger")
    assert night.run(command).status is Status.DEGRADED
    assert "cancelled" in night.summary
    assert night.writes == 0


def test_cancelled_before_it_began_a_run_asks_nobody(night: Night):
    asked: list[str] = []
    night.github.asked = asked.append

    async def work() -> FlowResult:
        night.cancelled = asyncio.Event()
        night.cancelled.set()
        return await run_task(OPENED, night.desk())

    assert asyncio.run(work()).status is Status.DEGRADED
    assert asked == []
    assert "This report is partial." in night.summary


@pytest.mark.parametrize("name", ["CodebaseFinding", "CritiqueFinding", "TriageReport"])
def test_cancelled_after_the_first_finding_a_partial_report_is_commented(night: Night, name: str):
    night.policy = Policy(labels="apply")
    night.stuck_in(name)
    assert night.run().status is Status.DEGRADED
    ((_, body),) = night.github.posted
    assert "This report is partial." in body
    assert "The run was cancelled." in body
    assert night.github.labelled == [], "there is no time for that"
    assert night.runner.values["comment-url"]
    state = parse_state(body)
    assert state is not None
    assert (state.text, state.content) == ("", ""), "whatever the next run says is news"


def test_cancelled_before_anything_was_found_nothing_is_commented(night: Night):
    night.stuck_in("InvestigatorFinding")
    assert night.run().status is Status.DEGRADED
    assert night.writes == 0
    assert "The run was cancelled." in night.summary


def test_a_partial_report_does_not_replace_a_whole_one(night: Night):
    asked: list[str] = []
    night.github.issues[7] = factories.issue(thread=[FULL])
    night.github.asked = asked.append
    night.stuck_in("CritiqueFinding")
    night.run(BY_HAND)
    assert night.writes == 0
    assert asked == ["fetch_issue", "list_labels"]


def test_a_partial_report_does_not_replace_what_another_run_wrote_meanwhile(night: Night):
    def meanwhile() -> None:
        night.github.issues[7] = factories.issue(thread=[FULL])

    night.stuck_in("CritiqueFinding")
    night.given = fake_services(codebase=FakeCodebase(factories.FILES, on_index=meanwhile), model=night.given.model)
    night.run()
    assert night.writes == 0


@pytest.mark.parametrize("policy", [Policy(comment=False), Policy(dry_run=True)])
def test_a_partial_report_obeys_the_policy(night: Night, policy: Policy):
    night.policy = policy
    night.stuck_in("CritiqueFinding")
    night.run()
    assert night.writes == 0
    assert "The run was cancelled." in night.summary


def test_a_report_that_was_whole_when_the_signal_came_is_published_as_such(night: Night):
    class Listening(FakeProgressLog):
        def folded(self, title: str, text: str) -> None:
            night.cancelled.set()

    night.journal = Listening()
    night.given = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(factories.answers()))
    night.policy = Policy(labels="apply")
    night.run()
    ((_, body),) = night.github.posted
    state = parse_state(body)
    assert state is not None
    assert state.content
    assert night.github.labelled == [(7, ["bug"])]


def test_a_comment_that_is_being_written_when_the_signal_comes_has_time_to_arrive(night: Night):
    night.github.asked = lambda method: night.cancel() if method == "post_comment" else None
    assert night.run().status is Status.COMPLETE
    assert len(night.github.posted) == 1
    assert night.runner.values["comment-url"]
    assert "may stand there" not in night.summary


def test_a_comment_that_does_not_arrive_in_time_may_stand_there(night: Night):
    night.hanging("post_comment")
    night.seconds = 0.05
    assert night.run().status is Status.DEGRADED
    assert "the run was cancelled: it may stand there, or not" in night.summary
    assert "src/parse.py" in night.summary, "what was found is told all the same"
    assert night.runner.values["comment-url"] == ""
    assert night.runner.values["status"] == "degraded"


def test_what_arrived_before_the_signal_is_told(night: Night):
    model = FakeModel(factories.answers())
    night.given = fake_services(codebase=FakeCodebase(factories.FILES), model=model)
    night.policy = Policy(labels="apply")
    night.hanging("add_labels")
    night.seconds = 0.5
    night.run()
    assert night.runner.values["comment-url"].endswith("issuecomment-1001")
    assert "may stand there" in night.summary


def test_a_github_that_does_not_take_the_comment_ends_with_the_runs_time(night: Night):
    night.github.asked = lambda method: night.released.wait(30) if method == "post_comment" else None
    night.seconds = 0.5
    night.run()
    assert "the run's time was up: it may stand there, or not" in night.summary
    assert night.runner.values["status"] == "degraded"


def test_a_github_that_does_not_let_itself_be_read_leaves_time_for_what_the_event_told(night: Night):
    night.github.asked = lambda method: night.released.wait(30) if method == "fetch_issue" else None
    night.reading_seconds = 0.1
    assert night.run().status is Status.DEGRADED
    assert "could not be read: GitHub took more than 0 seconds" in night.summary
    assert "src/parse.py" in night.summary
    assert night.writes == 0


def test_a_run_that_is_cut_by_its_clock_comments_as_ever(night: Night):
    """Only who cancels is in a hurry; the report says that it is partial."""
    night.stuck_in("CritiqueFinding")
    refused = SlowGitHub(issues={7: factories.issue()}, errors={"list_labels": GitHubUnavailable("down")})
    night.github = refused
    model = FakeModel(factories.answers(CritiqueFinding=lambda _: asyncio.sleep(60)))
    late = fake_services(codebase=FakeCodebase(factories.FILES), model=model, started=-290.0)
    night.given = late
    night.run()
    assert len(night.github.posted) == 1


def test_a_write_knows_how_long_it_is_waited_for(night: Night):
    """So that a limit which outlasts the run is said at once, and is no comment that may stand there or not."""
    known: list[float] = []
    night.github.asked = lambda method: (
        known.append(seconds_left()) if method in ("refetch_issue", "post_comment") else None
    )
    night.run()
    look, post, _ = known
    assert 0 < look <= night.seconds / 2
    assert night.seconds / 2 < post <= night.seconds
