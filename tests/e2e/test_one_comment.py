"""Exactly one comment, whatever happens: real runs in this process against a real HTTP server that plays GitHub.

Runs are told apart by their tokens. `make trust` tries kills, lost responses and lists that lag.
"""

import asyncio
import contextlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeOutput, fake_job
from testing.servers.github_api import SLUG, ApiFault, ApiRequest, GitHubApi, serve_github_api
from triage.domain.effect import COMMENT_MARKER
from triage.domain.run import Status
from triage.domain.task import TriageTask, Trigger
from triage.outside.github.issue_tracker import IssueTracker
from triage.run.triage_issue import run_task

BOT = "github-actions[bot]"
OPENED = TriageTask(number=7, trigger=Trigger.OPENED, actor="mona")
POST = f"POST /repos/{SLUG}/issues/7/comments"
OPTIONS = "POST /graphql"
"""Asks what may be suggested; this server has no suggestions."""
AGAIN = "again"


LOST = {
    "stored, then 502": ApiFault("", 502, b"<html>", stored=True),
    "stored, then cut": ApiFault("", stored=True),
    "never arrived": ApiFault(""),
}


@dataclass
class Stage:
    """GitHub, and the runs on it."""

    api: GitHubApi
    script: dict[tuple[str, int], ApiFault] = field(default_factory=dict)
    """Faults by the number of the request."""
    at_the_post: threading.Barrier | None = None
    """All runs wait for each other before the first one posts."""
    counts: dict[str, int] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    endings: dict[str, Status | BaseException] = field(default_factory=dict)
    runners: dict[str, FakeOutput] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.api.on_request = self._hears

    def _hears(self, asked: ApiRequest) -> ApiFault | None:
        token = asked.token
        place = self.counts[token] = self.counts.get(token, 0) + 1
        if asked.line == POST and self.at_the_post and token not in self.met:
            self.met.add(token)
            with contextlib.suppress(threading.BrokenBarrierError):
                self.at_the_post.wait(2)
        return self.script.get((token, place))

    def run(self, name: str, **changes: Any) -> Status:
        """Runs once."""
        self.api.logins[name] = BOT
        tracker = IssueTracker(
            name,
            SLUG,
            self.api.url,
            seconds_between_writes=0.0,
            backoff_seconds=0.0,
            reread_seconds=0.0,
            max_wait_seconds=0.0,
            timeout_seconds=5,
        )
        self.runners[name] = FakeOutput()
        return asyncio.run(run_task(OPENED, fake_job(tracker, output=self.runners[name], **changes)))

    def side_by_side(self, count: int, **changes: Any) -> None:
        """Runs several times at once."""

        def one(name: str) -> None:
            try:
                self.endings[name] = self.run(name, **changes)
            except Exception as error:  # noqa: BLE001 - the test looks at it
                self.endings[name] = error

        threads = [threading.Thread(target=one, args=(f"run-{place}",)) for place in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @property
    def ours(self) -> list[str]:
        return [body for body in self.api.comment_bodies if body.startswith(COMMENT_MARKER)]


@pytest.fixture
def stage() -> Iterator[Stage]:
    with serve_github_api() as api:
        api.add_issue(title=factories.issue().title, body=factories.issue().body)
        api.add_issue(8)
        api.add_comment("Me too", "ann")
        api.add_comment("On another issue", BOT, 8)
        stage = Stage(api)
        yield stage
        assert api.comment_bodies[:2] == ["Me too", "On another issue"]
        assert {comment["issue"] for comment in api.comments[2:]} <= {7}
        writes = {asked.line for asked in api.requests if not asked.line.startswith("GET")} - {POST, OPTIONS}
        assert all(re.fullmatch(rf"(PATCH|DELETE) /repos/{SLUG}/issues/comments/50\d\d", line) for line in writes)


def test_a_run_sends_few_requests(stage: Stage):
    assert stage.run("run-0") is Status.COMPLETE
    assert len(stage.ours) == 1
    below = f"/repos/{SLUG}"
    read = [f"GET {below}/issues/7", f"GET {below}/issues/7/comments"]
    assert stage.api.request_lines() == [*read, f"GET {below}/labels", *read, OPTIONS, POST, *read]


POSTING = 7
"""Number of the request that writes, of nine."""


@pytest.mark.parametrize("fault", LOST.values(), ids=LOST)
def test_a_lost_response_ends_with_one_comment(stage: Stage, fault: ApiFault):
    stage.script = {("run-0", POSTING): fault}
    assert stage.run("run-0") is Status.COMPLETE
    assert len(stage.ours) == 1


def test_the_same_event_again_changes_nothing(stage: Stage):
    stage.run("run-0")
    once = list(stage.api.comment_bodies)
    for name in ("second", "third"):
        assert stage.run(name) is Status.COMPLETE
    assert stage.api.comment_bodies == once
    assert [line for line in stage.api.request_lines() if not line.startswith("GET")] == [OPTIONS, POST]


def test_concurrent_runs_keep_the_oldest_comment(stage: Stage):
    stage.at_the_post = threading.Barrier(3)
    stage.side_by_side(3)
    assert len(stage.api.request_lines(POST)) == 3, "they have all looked before, and seen nothing"
    assert [comment["id"] for comment in stage.api.comments] == [5000, 5001, 5002]
    for name, ending in stage.endings.items():
        assert isinstance(ending, Status), ending
        assert ending is Status.COMPLETE
        assert stage.runners[name].values["comment-url"].endswith("issuecomment-5002")


def test_a_failed_check_for_duplicates_leaves_one_comment(stage: Stage):
    """The other run or the next one reads both comments."""
    stage.at_the_post = threading.Barrier(2)
    stage.script = {("run-0", place): ApiFault("", 403, {"message": "x"}, {"retry-after": "999"}) for place in (9, 10)}
    stage.side_by_side(2)
    assert len(stage.ours) >= 1
    assert isinstance(stage.endings["run-0"], Status)
    assert stage.endings["run-0"] is Status.COMPLETE
    stage.run(AGAIN)
    assert len(stage.ours) == 1
    assert stage.runners["run-0"].annotations[-1][0] == "notice"
