from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from testing.fakes import NOW, FakeCodebase
from triage.agents.code_tools import build_code_tools
from triage.approval.tool_gate import (
    TOOL_CAPABILITIES,
    ToolCapability,
    freeze_call,
    may_replay,
    needs_approval,
    review,
)
from triage.domain.proposal import PROPOSAL_LIFETIME, PendingMutation
from triage.web.web_search_tool import build_search_tool

ARGS: dict[str, Any] = {"title": "Dates", "labels": ["bug"]}
PENDING = freeze_call("call-1", "create_ticket", ARGS, NOW)


def test_the_table_names_every_tool_of_the_agents_and_no_other():
    tools = [*build_code_tools(FakeCodebase({})), build_search_tool(SecretStr("tvly-x"))]
    assert {tool.name for tool in tools} == set(TOOL_CAPABILITIES)
    assert not any(needs_approval(tool.name) for tool in tools)


@pytest.mark.parametrize("capability", get_args(ToolCapability))
def test_everything_but_reading_needs_approval(capability: ToolCapability):
    assert needs_approval("tool", {"tool": capability}) == (capability != "read")


@given(st.text())
def test_a_tool_that_nobody_declared_needs_approval(name: str):
    assert needs_approval(name) == (name not in TOOL_CAPABILITIES)


def test_a_frozen_call_does_not_follow_its_arguments():
    args: dict[str, Any] = {"b": [1], "a": "ä\ud800"}
    pending = freeze_call("call-1", "create_ticket", args, NOW)
    args["b"].append(2)
    assert pending.args == '{"a":"\\u00e4\\ud800","b":[1]}'
    assert pending == freeze_call("call-1", "create_ticket", {"a": "ä\ud800", "b": [1]}, NOW)


def test_the_id_is_of_everything_that_is_frozen():
    others = [
        freeze_call("call-2", "create_ticket", ARGS, NOW),
        freeze_call("call-1", "delete_ticket", ARGS, NOW),
        freeze_call("call-1", "create_ticket", {}, NOW),
        freeze_call("call-1", "create_ticket", ARGS, NOW + timedelta(seconds=1)),
    ]
    assert len({PENDING.approval_id, *(other.approval_id for other in others)}) == 5


def test_an_approved_call_may_run_under_its_id():
    reviewed, _ = review(PENDING, " Approve ", NOW)
    assert reviewed.status == "approved"
    assert may_replay(reviewed, PENDING.approval_id)
    assert not may_replay(reviewed, "0" * 12)
    assert not may_replay(PENDING, PENDING.approval_id)


@pytest.mark.parametrize("answer", ["reject", "use another title", "", None, True, {"decision": "approve"}, "approved"])
def test_every_other_answer_is_no(answer: object):
    reviewed, _ = review(PENDING, answer, NOW)
    assert reviewed.status == "rejected"
    assert not may_replay(reviewed, PENDING.approval_id)


def test_the_words_of_a_refusal_are_returned():
    _, verdict = review(PENDING, "  Use another title. ", NOW)
    assert verdict.feedback == "Use another title."


def test_an_expired_question_is_no():
    assert review(PENDING, "approve", NOW + PROPOSAL_LIFETIME - timedelta(seconds=1))[0].status == "approved"
    assert review(PENDING, "approve", NOW + PROPOSAL_LIFETIME)[0].status == "expired"


@pytest.mark.parametrize(
    "change",
    [
        {"args": "{}"},
        {"name": "delete_ticket"},
        {"tool_call_id": "call-2"},
        {"created_at": NOW + timedelta(days=1)},
        {"approval_id": "0" * 12},
        {"status": "approved"},
        {"status": "rejected"},
        {"status": "expired"},
    ],
)
def test_a_call_that_was_altered_or_decided_already_is_no(change: dict[str, Any]):
    altered = PENDING.model_copy(update=change)
    assert review(altered, "approve", NOW)[0].status == "rejected"
    approved = review(PENDING, "approve", NOW)[0].model_copy(update=change)
    assert change == {"status": "approved"} or not may_replay(approved, PENDING.approval_id)


def test_a_checkpoint_changes_nothing():
    assert PendingMutation.model_validate_json(PENDING.model_dump_json()) == PENDING
