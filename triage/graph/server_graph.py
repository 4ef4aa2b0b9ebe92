"""The same graph for LangGraph Server.

A server cannot pass services to a graph, so the first node of each run opens them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from triage.agents.services import Services
from triage.base.errors import SetupError
from triage.base.threads import in_thread
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.graph.nodes import Node, fetch_past_issues, read_and_index
from triage.graph.run_graph import add_nodes
from triage.graph.triage_state import BugTriageState, Update

ServerGraph = CompiledStateGraph[BugTriageState, Any, Any, Any]
OpenServices = Callable[[str], Services]
"""Opens the services for a repository's name. It may block, and raises SetupError."""
ExportReport = Callable[[RunReport, Services], Awaitable[None]]
_FIRST_NODES = (read_and_index, fetch_past_issues)
"""A run that goes on after its first superstep does not pass them again."""


class TriageInput(BaseModel):
    """What a client may send of the state; LangGraph leaves out the rest."""

    issue: Issue
    repository: Repository = Repository(slug="")


class RequestRefused(ValueError):
    """The request cannot be carried out. The server shows clients the message of a ValueError, and of few others."""


@dataclass
class _LazyServices:
    """The services of one run, opened when a node first needs them, which may be after a restart of the server."""

    open_services: OpenServices
    opened: Services | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, state: BugTriageState) -> Services:
        async with self.lock:
            if self.opened is None:
                try:
                    self.opened = await in_thread(self.open_services, state.repository.slug)
                except SetupError as error:
                    raise RequestRefused(str(error)) from None
                if state.index is not None:  # which is in no checkpoint
                    await in_thread(self.opened.codebase.index)
        return self.opened


def build_server_graph(open_services: OpenServices, export_report: ExportReport) -> ServerGraph:
    lazy_services = _LazyServices(open_services)

    def with_services(node: Node) -> Node:
        async def run(state: BugTriageState, runtime: Runtime[Services]) -> Update:
            if state.steps and node in _FIRST_NODES:
                raise RequestRefused("A thread is for one run: start the next one on a new thread, or without any.")
            services = await lazy_services.get(state)
            result = node(state, runtime.override(context=services))
            update = await result if isawaitable(result) else result
            if isinstance(update.get("report"), RunReport):
                await export_report(update["report"], services)
            return update

        return run

    graph = StateGraph(BugTriageState, input_schema=TriageInput)
    add_nodes(graph, with_services)
    return graph.compile()


def compute_max_iterations(supersteps: int) -> int:
    """Return how many decisions a server's limit allows: two supersteps each, and six for the ends."""
    return max(1, (supersteps - 6) // 2)
