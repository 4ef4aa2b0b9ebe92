"""The same graph for LangGraph Server, with small JSON input and output.

A server cannot pass services to a graph, so the first node of each run opens them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from triage.domain.issue import Issue, Repository
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
    repository: str = ""
    """`owner/name`. Needed where the server has several checkouts."""


class _ThreadInput(_IssueInput):
    """The input, and what an earlier run on the same thread may have left."""

    repository: str | Repository = ""
    steps: list[StepRecord] = Field(default_factory=list)


class RequestRefused(ValueError):
    """The request cannot be carried out. The server shows clients the message of a ValueError, and of few others."""


class ServerOutput(BaseModel):
    report: RunReport


ServerGraph = CompiledStateGraph[BugTriageState, None, ServerInput, ServerOutput]
OpenServices = Callable[[str], tuple[Repository, Services]]
"""Opens the services for a repository's name. It may block, and raises SetupError."""
ExportReport = Callable[[RunReport, Services], Awaitable[None]]


@dataclass
class _LazyServices:
    """The services of one run, opened when a node first needs them, which may be after a restart of the server."""

    open_services: OpenServices
    opened: tuple[Repository, Services] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, repository: str, *, with_index: bool = False) -> tuple[Repository, Services]:
        async with self.lock:
            if self.opened is None:
                self.opened = await run_in_daemon_thread(lambda: self.open_services(repository))
                if with_index:
                    await run_in_daemon_thread(self.opened[1].codebase.index)
        return self.opened


def build_server_graph(open_services: OpenServices, export_report: ExportReport) -> ServerGraph:
    lazy_services = _LazyServices(open_services)

    async def receive(state: _ThreadInput) -> Update:
        if state.steps or isinstance(state.repository, Repository):
            raise RequestRefused("A thread is for one run: start the next one on a new thread, or without any.")
        try:
            repository, _ = await lazy_services.get(state.repository)
        except SetupError as error:
            raise RequestRefused(str(error)) from None
        issue = Issue(number=state.issue_number, title=state.issue_title, body=state.issue_body, url=state.issue_url)
        return {"issue": issue, "repository": repository}

    def with_services(node: Node) -> Node:
        async def run(state: BugTriageState, runtime: Runtime[Services]) -> Update:
            _, services = await lazy_services.get(state.repository.slug, with_index=state.index is not None)
            update = await node(state, runtime.override(context=services))
            if isinstance(update.get("report"), RunReport):
                await export_report(update["report"], services)
            return update

        return run

    graph = StateGraph(BugTriageState, input_schema=ServerInput, output_schema=ServerOutput)
    graph.add_node("receive", receive, input_schema=_ThreadInput)
    graph.add_edge(START, "receive")
    graph.add_edge("receive", "prepare")
    add_nodes(graph, with_services)
    return graph.compile()


def compute_max_iterations(supersteps: int) -> int:
    """Return how many decisions a server's limit allows: two supersteps each, and five for the ends."""
    return max(1, (supersteps - 5) // 2)
