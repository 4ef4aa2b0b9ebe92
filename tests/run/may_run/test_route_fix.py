"""Which events are tasks of the fix flow."""

import json
from typing import Any

import pytest

from testing.webhooks.example_payloads import comment
from triage.base.errors import BadInput
from triage.domain.task import FixTask, Skip, Task
from triage.run.may_run.route import route_event


def route_fix_event(event_name: str, payload: dict[str, Any], number: int | None = None) -> Task | None:
    return route_event(event_name, payload, number, "fix-gate")


@pytest.mark.parametrize(
    ("body", "task"),
    [
        ("/triage fix", {"command": "fix"}),
        ("/triage fix only a.py", {"command": "fix", "words": "only a.py"}),
        ("/triage approve 0123456789ab", {"command": "approve", "proposal_id": "0123456789ab"}),
        ("/triage reject 0123456789ab no", {"command": "reject", "proposal_id": "0123456789ab", "words": "no"}),
        (
            "/triage revise 0123456789ab\nuse a set",
            {"command": "revise", "proposal_id": "0123456789ab", "words": "use a set"},
        ),
    ],
)
def test_commands(body: str, task: dict[str, str]) -> None:
    assert route_fix_event("issue_comment", comment(body, "mona")) == FixTask(number=1, actor="mona", **task)


@pytest.mark.parametrize(
    "body", ["", "Thanks", "/triage", "/triage quiet", "/triage apply 0123456789ab", "> /triage fix"]
)
def test_other_comments_are_skipped(body: str) -> None:
    assert isinstance(route_fix_event("issue_comment", comment(body)), Skip)


@pytest.mark.parametrize("event", ["issues", "push", "pull_request", "pull_request_target", ""])
def test_other_events_are_skipped(event: str) -> None:
    assert isinstance(route_fix_event(event, comment("/triage fix")), Skip)


def test_edited_comments_pull_requests_and_bots_are_skipped() -> None:
    edited = comment("/triage fix") | {"action": "edited"}
    on_pull_request = json.loads(json.dumps(comment("/triage fix")))
    on_pull_request["issue"]["pull_request"] = {}
    for payload in (edited, on_pull_request, comment("/triage fix", "evil[bot]")):
        assert isinstance(route_fix_event("issue_comment", payload), Skip)


def test_by_hand() -> None:
    assert route_fix_event("workflow_dispatch", {}, 7) == FixTask(number=7, actor="")
    with pytest.raises(BadInput):
        route_fix_event("workflow_dispatch", {})
