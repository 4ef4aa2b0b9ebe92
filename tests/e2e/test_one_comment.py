"""One comment and few requests: real runs in this process against a real HTTP server that plays GitHub.

`make trust` tries runs side by side, kills, lost responses and lists that lag.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from testing import factories
from testing.fakes import fake_job
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from triage.domain.effect import COMMENT_MARKER
from triage.domain.run import Status
from triage.domain.task import TriageTask, Trigger
from triage.outside.github.issue_tracker import IssueTracker
from triage.run.triage_issue import run_task

OPENED = TriageTask(number=7, trigger=Trigger.OPENED, actor="mona")
POST = f"POST /repos/{SLUG}/issues/7/comments"
OPTIONS = "POST /graphql"
"""Asks what may be suggested; this server has no suggestions."""


@dataclass
class Stage:
    """GitHub, and the runs on it."""

    api: GitHubApi

    def run(self) -> Status:
        tracker = IssueTracker(JOB_TOKEN, SLUG, self.api.url, seconds_between_writes=0.0, reread_seconds=0.0)
        return asyncio.run(run_task(OPENED, fake_job(tracker)))


@pytest.fixture
def stage() -> Iterator[Stage]:
    with serve_github_api() as api:
        api.add_issue(title=factories.issue().title, body=factories.issue().body)
        api.add_comment("Me too", "ann")
        yield Stage(api)
        assert api.comment_bodies[0] == "Me too"


def test_a_run_sends_few_requests(stage: Stage):
    assert stage.run() is Status.COMPLETE
    below = f"/repos/{SLUG}"
    read = [f"GET {below}/issues/7", f"GET {below}/issues/7/comments"]
    assert stage.api.request_lines() == [*read, f"GET {below}/labels", *read, OPTIONS, POST, *read]


def test_the_same_event_again_changes_nothing(stage: Stage):
    stage.run()
    once = list(stage.api.comment_bodies)
    assert len([body for body in once if body.startswith(COMMENT_MARKER)]) == 1
    for _ in range(2):
        assert stage.run() is Status.COMPLETE
    assert stage.api.comment_bodies == once
    assert [line for line in stage.api.request_lines() if not line.startswith("GET")] == [OPTIONS, POST]
