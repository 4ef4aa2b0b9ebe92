"""The codebase agent's tool loop as the endpoint sees it: real requests, a real index, the wired services."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from testing import factories
from testing.apps import make_app
from testing.checkouts.git_repositories import commit
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, error_reply, serve_script
from triage.agents import codebase_search
from triage.agents.agent import AgentAnswer
from triage.app.settings import Settings
from triage.base.progress import measure_step
from triage.domain.agent_input import AgentInput
from triage.domain.findings import CodebaseFinding
from triage.domain.run import Outcome, ToolExecution
from triage.read.read_issue import read_issue

Script = Callable[[ReceivedRequest], ScriptedReply]
READ = ("read_lines", '{"path": "src/parse.py", "start": 1, "end": 2}')


async def run(
    tmp_path: Path, script: Script
) -> tuple[AgentAnswer[CodebaseFinding], list[ReceivedRequest], list[ToolExecution]]:
    commit(tmp_path, dict(factories.FILES))
    issue = factories.issue()
    case = AgentInput(
        issue=issue,
        parsed=read_issue(issue),
        repository=factories.repository(),
        investigation=factories.investigation(),
    )
    with serve_script(script) as server:
        settings = Settings(model_api_key="sk-test", model_base_url=f"{server.url}/v1")
        services = make_app(settings, tmp_path, case.repository.slug).open_services()
        services.codebase.index()
        assert services.model is not None
        with measure_step(time.monotonic() + 60) as step:
            result = await codebase_search.answer_with_model(case, services, services.model)
    return result, server.requests, step.tools


def answering(turn: Script) -> Script:
    """The finding whenever it is asked for, else what the turn says."""

    def reply(request: ReceivedRequest) -> ScriptedReply:
        wanted = request.body.get("response_format")
        return chat_completion(factories.codebase().model_dump_json()) if wanted else turn(request)

    return reply


def turns_before(request: ReceivedRequest) -> int:
    return sum(message["role"] == "assistant" for message in request.body["messages"])


def assert_every_call_is_answered(request: ReceivedRequest) -> None:
    """As OpenAI demands it, or it refuses the request."""
    waiting: list[str] = []
    for message in request.body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls") or []]
            for call in message.get("tool_calls") or []:
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert not waiting


async def test_a_model_looks_things_up_and_then_answers(tmp_path: Path):
    def turn(request: ReceivedRequest) -> ScriptedReply:
        return (
            chat_completion("enough")
            if turns_before(request)
            else chat_completion(tool_calls=[READ], finish_reason="tool_calls")
        )

    result, requests, records = await run(tmp_path, answering(turn))
    assert result.shortfalls == []
    first, second, last = requests
    assert [tool["function"]["name"] for tool in first.body["tools"]] == [
        "grep",
        "find_symbol",
        "read_lines",
        "git_log",
        "show_commit",
        "CodebaseFinding",
    ]
    assert_every_call_is_answered(second)
    assert "tools" not in last.body
    assert [message["role"] for message in last.body["messages"]] == ["system", "user"]
    assert "(src/parse.py 1-2: see [1])" in last.body["messages"][1]["content"].partition("<<looked up")[2]
    assert [(record.tool, record.outcome) for record in records] == [("read_lines", Outcome.SUCCESS)]


async def test_an_endpoint_that_knows_no_tools_answers_from_the_passages(tmp_path: Path):
    result, requests, records = await run(tmp_path, answering(lambda _: error_reply(400, param="tools")))
    assert result.answer.why == factories.WHY
    assert [file.path for file in result.answer.relevant_files] == ["src/parse.py"]
    assert result.shortfalls == ["looking things up ended early: request refused (400); answered from what was there"]
    assert records == []
    assert "[1] src/parse.py 1-3" in requests[-1].body["messages"][1]["content"]
