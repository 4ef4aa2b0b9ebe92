"""Some named faults of each source over real HTTP: comment, page, log and outputs.

`make trust ARGS="--only faults"` tries all of them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.faults.github_faults import GITHUB_FAULTS
from testing.faults.machine_faults import MACHINE_FAULTS
from testing.faults.service_faults import (
    EMBEDDING_FAULTS,
    HARMLESS_MODEL_FAULTS,
    MODEL_FAULTS,
    SEARCH_FAULTS,
    SUPERVISOR_FAULTS,
    Fault,
)
from testing.runs import external_services
from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[InProcessJob]:
    with set_up_job(tmp_path / "job") as job:
        yield job


SAMPLE = [
    *MODEL_FAULTS[::4],
    *SUPERVISOR_FAULTS,
    *HARMLESS_MODEL_FAULTS,
    *SEARCH_FAULTS[::4],
    *EMBEDDING_FAULTS[::3],
    *GITHUB_FAULTS[::10],
    *MACHINE_FAULTS[::3],
]


@pytest.mark.parametrize("fault", SAMPLE, ids=lambda fault: fault.name)
def test_a_fault_has_its_documented_outcome(fault: Fault, harness: InProcessJob):
    assert fault.find_problems(harness) == []


def test_a_model_that_always_calls_tools_must_answer(harness: InProcessJob):
    def ever(request: ReceivedRequest) -> ScriptedReply | None:
        names = [tool["function"]["name"] for tool in request.body.get("tools", [])]
        return chat_completion(tool_calls=[(names[0], '{"query": "basket"}')]) if names else None

    harness.model = ever
    done = harness.run()
    assert done.exit_code == 0, done.log
    assert harness.report["verdict"] == "CONFIRMED"
    assert len([what for what in harness.requests if what == "model look up"]) <= 3


def usage_of(tokens: int, reply: ScriptedReply) -> ScriptedReply:
    told = {"prompt_tokens": tokens - 20, "completion_tokens": 20, "total_tokens": tokens}
    return ScriptedReply({**reply.body, "usage": told})


BEFORE_THE_WRITER = 4


@pytest.mark.parametrize("call", [1, 4, 7])
def test_no_call_follows_after_the_cap_is_reached(call: int, harness: InProcessJob):
    """The call reports more tokens than the cap: no call follows."""

    def dear(request: ReceivedRequest) -> ScriptedReply | None:
        usual = external_services.default_reply(request)[1]
        return usage_of(100_000 if len(harness.requests) == call else 100, usual)

    harness.model = dear
    done = harness.run()
    assert done.exit_code == 0, done.log
    parallel = 3 - 1
    assert len(harness.requests) <= call + parallel, harness.requests
    assert int(done.outputs["tokens"]) <= 100_000 + 100 * (call + parallel)
    if call <= BEFORE_THE_WRITER:
        assert done.outputs["status"] == "degraded"
        assert "budget ran low" in harness.comment or "would be exceeded" in harness.comment


def test_a_cap_of_no_dollars_means_rules(harness: InProcessJob):
    done = harness.run(max_cost_usd="0")
    assert (done.exit_code, done.outputs["engine"], done.outputs["status"]) == (0, "rules", "complete"), done.log
    assert harness.requests == []
    assert "max-cost-usd is 0" in done.log
