"""The same graph for a server that speaks JSON: what acts is bound to it, input and output are small.

A server cannot hand over services: they are opened for each run, by its first node.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from triage.domain.issue import Repository
from triage.domain.report import RunReport
from triage.domain.run import StepRecord
from triage.errors import SetupError
from triage.graph.build_graph import add_nodes
from triage.graph.nodes import Node, Update
from triage.graph.triage_state import BugTriageState
from triage.ports import Services
from triage.threads import run_in_daemon_thread

MAX_CHARS = 1_000_000
"""GitHub itself takes 65,536."""


class _IssueInput(BaseModel):
    issue_title: str = Field(min_length=1, max_length=MAX_CHARS)
    issue_body: str = Field(default="", max_length=MAX_CHARS)
    issue_number: int | None = None
    issue_url: str = ""


class ServerInput(_IssueInput):
    """What a client sends."""

    repository: str = ""
    """`owner/name`, where the server holds several checkouts or for the report."""


class _ThreadInput(_IssueInput):
    """The same beside what an earlier run on the same thread may have left, which was about another issue."""

    repository: str | Repository = ""
    steps: list[StepRecord] = Field(default_factory=list)


class RequestRefused(ValueError):
    """The request cannot be carried out. The server shows clients the words of a ValueError, and of few others."""


class ServerOutput(BaseModel):
    """What a client gets."""

    report: RunReport


ServerGraph = CompiledStateGraph[BugTriageState, None, ServerInput, ServerOutput]
OpenServices = Callable[[str], tuple[Repository, Services]]
"""A repository's name, as asked, to where it is and what acts on it. It may block, and raises SetupError."""
ExportReport = Callable[[RunReport, Services], Awaitable[None]]


@dataclass
class _LazyServices:
    """What acts in one run; opened when it is first needed, which after a server's restart is in its middle."""

    opener: OpenServices
    opened: tuple[Repository, Services] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def open(self, repository: str, *, indexed: bool = False) -> tuple[Repository, Services]:
        async with self.lock:
            if self.opened is None:
                self.opened = await run_in_daemon_thread(lambda: self.opener(repository))
                if indexed:
                    await run_in_daemon_thread(self.opened[1].codebase.index)
        return self.opened


def build_server_graph(opener: OpenServices, teller: ExportReport) -> ServerGraph:
    """The graph for one run.

    Args:
        opener: Opens what acts.
        teller: Called with the finished report.
    """
    desk = _LazyServices(opener)

    async def receive(state: _ThreadInput) -> Update:
        if state.steps or isinstance(state.repository, Repository):
            raise RequestRefused("A thread is for one run: start the next one on a new thread, or without any.")
        try:
            where, _ = await desk.open(state.repository)
        except SetupError as error:
            raise RequestRefused(str(error)) from None
        return {"repository": where}

    def bound(node: Node) -> Node:
        async def turn(state: BugTriageState, runtime: Runtime[Services]) -> Update:
            _, services = await desk.open(state.repository.slug, indexed=state.index is not None)
            update = await node(state, runtime.override(context=services))
            if isinstance(update.get("report"), RunReport):
                await teller(update["report"], services)
            return update

        return turn

    graph = StateGraph(BugTriageState, input_schema=ServerInput, output_schema=ServerOutput)
    graph.add_node("receive", receive, input_schema=_ThreadInput)
    graph.add_edge(START, "receive")
    graph.add_edge("receive", "prepare")
    add_nodes(graph, bound)
    return graph.compile()


def compute_max_iterations(supersteps: int) -> int:
    """Supervisor decisions that a server's limit leaves room for: two supersteps each, and five for the ends."""
    return max(1, (supersteps - 5) // 2)
