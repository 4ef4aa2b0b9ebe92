"""Which events have an example run."""

import json
from typing import Any

import pytest

from testing.webhooks.example_payloads import comment, load_payload
from triage.domain.task import ReproduceTask, Skip, Task, Trigger
from triage.run.may_run.route import MAX_REPRODUCE_CHARS, route_event

COMMENT = "issue_comment"


def route_reproduce_event(event_name: str, payload: dict[str, Any], number: int | None = None) -> Task | None:
    return route_event(event_name, payload, number, "reproduce-select")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("/triage reproduce", ""),
        ("/triage reproduce on 2.4.1", "on 2.4.1"),
        ("/triage reproduce\n\n```\nimport shop\n```\n", "\n\n```\nimport shop\n```"),
        ("/triage reproduce " + "x" * 30_000, "x" * MAX_REPRODUCE_CHARS),
    ],
)
def test_a_command(body: str, words: str) -> None:
    assert route_reproduce_event(COMMENT, comment(body, "mona")) == ReproduceTask(
        number=1, trigger=Trigger.COMMAND, actor="mona", words=words
    )
    assert route_event(COMMENT, comment(body, "mona")) == Skip(
        reason="`/triage reproduce` needs the workflow examples/workflows/reproduce.yml (docs/reproduce.md)."
    )


@pytest.mark.parametrize("body", ["", "Thanks", "/triage", "/triage fix", "> /triage reproduce", "/triage reproduced"])
def test_other_comments_are_skipped(body: str) -> None:
    assert isinstance(route_reproduce_event(COMMENT, comment(body)), Skip)


def test_edited_comments_pull_requests_and_bots_are_skipped() -> None:
    edited = comment("/triage reproduce") | {"action": "edited"}
    on_pull_request = json.loads(json.dumps(comment("/triage reproduce")))
    on_pull_request["issue"]["pull_request"] = {}
    for payload in (edited, on_pull_request, comment("/triage reproduce", "evil[bot]")):
        assert isinstance(route_reproduce_event(COMMENT, payload), Skip)


def test_an_opened_issue() -> None:
    assert route_reproduce_event("issues", load_payload("issues.opened")) == ReproduceTask(
        number=1, trigger=Trigger.OPENED
    )
    assert isinstance(route_reproduce_event("issues", load_payload("issues.edited")), Skip)
    by_bot = json.loads(json.dumps(load_payload("issues.opened")))
    by_bot["issue"]["user"]["type"] = "Bot"
    assert isinstance(route_reproduce_event("issues", by_bot), Skip)


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule", "release"])
def test_all_again(event: str) -> None:
    assert route_reproduce_event(event, {}) == ReproduceTask()
    assert route_reproduce_event(event, {}, 7) == ReproduceTask(number=7)


@pytest.mark.parametrize("event", ["push", "pull_request", "pull_request_target"])
def test_other_events_are_skipped(event: str) -> None:
    assert isinstance(route_reproduce_event(event, comment("/triage reproduce")), Skip)
