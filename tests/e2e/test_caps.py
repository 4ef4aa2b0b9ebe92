"""The caps of a run over real HTTP. `make trust ARGS="--only faults"` tries the named faults."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.runs import external_services
from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[InProcessJob]:
    with set_up_job(tmp_path / "job") as job:
        yield job


def usage_of(tokens: int, reply: ScriptedReply) -> ScriptedReply:
    usage = {"prompt_tokens": tokens - 20, "completion_tokens": 20, "total_tokens": tokens}
    return ScriptedReply({**reply.body, "usage": usage})


@pytest.mark.parametrize(("call", "status"), [(1, "degraded"), (4, "complete")])
def test_no_call_follows_after_the_cap_is_reached(call: int, status: str, harness: InProcessJob):
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
    assert done.outputs["status"] == status, "the fourth is the critic's, after which nobody asks"
    assert ("the budget is low, so rules answer" in done.summary) is (status == "degraded")


def test_a_cap_of_no_dollars_means_rules(harness: InProcessJob):
    done = harness.run(max_cost_usd="0")
    assert (done.exit_code, done.outputs["engine"], done.outputs["status"]) == (0, "rules", "complete"), done.log
    assert harness.requests == []
    assert "max-cost-usd is 0" in done.log
