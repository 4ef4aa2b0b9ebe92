"""A tool that changes something runs only after a person said yes, once, and as they saw it."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from testing import factories
from testing.fakes import NOW, FakeClock, FakeCodebase, FakeModel, FakeProgressLog, fake_services
from triage.agents.code_tools import build_code_tools
from triage.approval.tool_gate import ApprovalRequired, freeze_call, review
from triage.domain.issue import Repository
from triage.domain.run import Outcome
from triage.graph.run_graph import run_graph
from triage.graph.server_graph import build_server_graph
from triage.graph.tool_records import collect_pending_mutations, record_tool_calls
from triage.graph.tool_runner import ToolRunner
from triage.ports import Services

CODE = FakeCodebase(factories.FILES)
ARGS = {"title": "Dates are refused"}
CREATE = {"name": "create_ticket", "args": ARGS, "id": "call-1", "type": "tool_call"}
READ = {"name": "read_lines", "args": {"path": "src/parse.py", "start": 1, "end": 3}, "id": "call-2"}
GAP = "is `leap_year` checked?"
ASKED = {"issue_title": factories.issue().title, "issue_body": factories.issue().body}
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}


class Tickets:
    """A tracker that a tool changes, and everything else that one run needs."""

    def __init__(self, turns: list[Any] | None = None) -> None:
        self.created: list[str] = []
        self.now = NOW
        answers: dict[str, Any] = {
            "tools": [AIMessage("", tool_calls=[READ, CREATE]), factories.codebase()] if turns is None else turns,
            "CritiqueFinding": [factories.critique("UNCERTAIN", gaps=[GAP]), factories.critique()],
        }
        self.model = FakeModel(factories.answers(**answers))

    @property
    def tool(self) -> BaseTool:
        @tool
        async def create_ticket(title: str) -> str:
            """Create a ticket."""
            self.created.append(title)
            return f"TICKET {len(self.created)} WAS CREATED"

        return create_ticket

    def runner(self) -> ToolRunner:
        tools = [*build_code_tools(CODE), self.tool]
        return ToolRunner(tools, 5.0, FakeProgressLog(), lambda: self.now, FakeClock())

    def services(self) -> Services:
        return fake_services(codebase=CODE, model=self.model, code_tools=self.runner(), now=lambda: self.now)

    def graph(self, checkpoints: InMemorySaver) -> Any:
        """The server's graph as after a start of the server."""

        def open_services(_: str) -> tuple[Repository, Services]:
            return factories.repository(), self.services()

        async def export(*_: Any) -> None:
            return None

        graph = build_server_graph(open_services, export)
        graph.checkpointer = checkpoints
        return graph

    def prompts(self, name: str) -> str:
        return "\n".join(str(prompt) for asked, prompt in self.model.asked if asked == name)


async def test_the_whole_round_is_stripped():
    tickets = Tickets()
    message = AIMessage("", tool_calls=[READ, CREATE])
    with record_tool_calls() as records, collect_pending_mutations() as pending, pytest.raises(ApprovalRequired):
        await tickets.runner().run(message)
    assert tickets.created == []
    assert [(record.tool, record.outcome, record.error) for record in records] == [
        ("create_ticket", Outcome.SKIPPED, "needs a person's approval")
    ]
    assert pending == [freeze_call("call-1", "create_ticket", ARGS, NOW)]


async def test_a_tool_that_does_not_exist_is_no_question_to_a_person():
    (reply,) = await Tickets().runner().run(AIMessage("", tool_calls=[CREATE | {"name": "drop_all"}]))
    assert "There is no such tool" in str(reply.content)


async def test_an_approved_call_runs_once():
    tickets = Tickets()
    runner = tickets.runner()
    pending, _ = review(freeze_call("call-1", "create_ticket", ARGS, NOW), "approve", NOW)
    answer = await runner.replay(pending, pending.approval_id)
    assert (answer.content, answer.tool_call_id) == ("TICKET 1 WAS CREATED", "call-1")
    again = await runner.replay(pending, pending.approval_id)
    assert (again.content, again.status) == ("This call was approved and ran already.", "error")
    assert tickets.created == ["Dates are refused"]


@pytest.mark.parametrize("answer", ["reject", "other words", None])
async def test_what_was_not_approved_does_not_run(answer: object):
    tickets = Tickets()
    pending = freeze_call("call-1", "create_ticket", ARGS, NOW)
    for value, approval_id in (
        (pending, pending.approval_id),
        (review(pending, answer, NOW)[0], pending.approval_id),
        (review(pending, "approve", NOW)[0], "0" * 12),
        (review(pending, "approve", NOW)[0].model_copy(update={"args": '{"title":"Other"}'}), pending.approval_id),
    ):
        reply = await tickets.runner().replay(value, approval_id)
        assert (reply.content, reply.status) == ("Nobody approved this call.", "error")
    assert tickets.created == []


async def test_in_the_action_it_is_never_a_yes():
    tickets = Tickets()
    report = await run_graph(factories.issue(), factories.repository(), tickets.services(), asyncio.Event())
    assert tickets.created == []
    (search,) = [step for step in report.steps if step.step == "codebase_search" and step.shortfalls]
    assert "needs a person's approval" in search.shortfalls[0]
    assert "nobody can approve it in this run" in tickets.prompts("tools")
    assert report.suspects


def every_call_is_answered(prompt: Any) -> bool:
    asked = {call["id"] for message in prompt for call in getattr(message, "tool_calls", [])}
    return asked == {message.tool_call_id for message in prompt if message.type == "tool"}


@pytest.mark.parametrize("is_cold", [False, True], ids=["warm", "cold"])
async def test_approved_on_a_server(is_cold: bool):
    tickets, checkpoints = Tickets(), InMemorySaver()
    graph = tickets.graph(checkpoints)
    paused = await graph.ainvoke(ASKED, THREAD)
    (question,) = paused["__interrupt__"]
    assert question.value | {"approval_id": "", "created_at": ""} == {
        "prompt": "An agent asks to run a tool that changes something. Answer approve, reject, or say what is wrong.",
        "checkpoint_type": "tool_call",
        "approval_id": "",
        "tool": "create_ticket",
        "arguments": '{"title":"Dates are refused"}',
        "created_at": "",
    }
    state = (await graph.aget_state(THREAD)).values
    assert (state["hitl_required"], state["hitl_checkpoint_type"]) == (True, "tool_call")
    assert state["hitl_approval_id"] == state["pending_mutation"].approval_id == question.value["approval_id"]
    assert (state["hitl_reviewer_id"], state["hitl_reviewer_strategy"]) == (None, "write")
    assert tickets.created == []

    if is_cold:
        graph = tickets.graph(checkpoints)
    # Whatever the model says now, what was approved is what runs.
    tickets.model.answers["tools"] = [factories.codebase()]
    result = await graph.ainvoke(Command(resume="approve"), THREAD)
    assert tickets.created == ["Dates are refused"]
    assert "TICKET 1 WAS CREATED" in tickets.prompts("tools"), "the model reads what came of it"
    assert result["report"].suspects
    state = (await graph.aget_state(THREAD)).values
    assert (state["hitl_required"], state["pending_mutation"], state["hitl_approval_id"]) == (False, None, None)
    assert all(every_call_is_answered(prompt) for _, prompt in tickets.model.asked if isinstance(prompt, list))

    await graph.ainvoke(Command(resume="approve"), THREAD)
    assert tickets.created == ["Dates are refused"], "approved twice, run once"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("reject", "a person refused it. Their words: none"),
        ("We have a ticket for that: 17", "Their words: We have a ticket for that: 17"),
        ({"decision": "approve"}, "a person refused it"),
        ("\u200b", "a person refused it"),
    ],
)
async def test_refused_on_a_server(answer: object, words: str):
    tickets, checkpoints = Tickets(), InMemorySaver()
    await tickets.graph(checkpoints).ainvoke(ASKED, THREAD)
    result = await tickets.graph(checkpoints).ainvoke(Command(resume=answer), THREAD)
    assert tickets.created == []
    assert words in tickets.prompts("tools")
    assert result["report"].suspects


async def test_an_approval_after_seven_days():
    tickets, checkpoints = Tickets(), InMemorySaver()
    await tickets.graph(checkpoints).ainvoke(ASKED, THREAD)
    tickets.now += timedelta(days=7, seconds=1)
    await tickets.graph(checkpoints).ainvoke(Command(resume="approve"), THREAD)
    assert tickets.created == []
    assert "older than seven days" in tickets.prompts("tools")


async def test_a_pending_call_that_was_altered_in_the_checkpoint():
    tickets, checkpoints = Tickets(), InMemorySaver()
    graph = tickets.graph(checkpoints)
    await graph.ainvoke(ASKED, THREAD)
    pending = (await graph.aget_state(THREAD)).values["pending_mutation"]
    for change in ({"args": '{"title":"Other"}'}, {"status": "approved", "args": '{"title":"Other"}'}):
        checkpoint = await graph.aupdate_state(THREAD, {"pending_mutation": pending.model_copy(update=change)})
        await tickets.graph(checkpoints).ainvoke(Command(resume="approve"), checkpoint)
    assert tickets.created == []
