"""The graph for LangGraph Server, which finds it by `langgraph.json`. Settings come from `TRIAGE_*` variables.

A server cannot pass services to a graph, so the first node of each run opens them.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from inspect import isawaitable
from typing import Any, Generic, TypeVar

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from triage.agents.services import Services
from triage.app.app import App
from triage.app.settings.inputs import Settings
from triage.app.settings.network_settings import prepare_network
from triage.app.settings.runner_environment import RunnerEnvironment, find_checkout_folder
from triage.app.settings.secret_inputs import collect_own_secrets
from triage.base.errors import SetupError
from triage.base.threads import in_thread
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.task import JobName
from triage.graph.nodes import Node, fetch_past_issues, read_and_index
from triage.graph.run_graph import add_nodes
from triage.graph.triage_state import BugTriageState, Update
from triage.outside.output.line_logs import ServerLog
from triage.run.job_context import export_telemetry
from triage.safety.secrets.redactor import SecretRedactor

S = TypeVar("S")
C = TypeVar("C")
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
class Lazy(Generic[S, C]):
    """What one run acts through, opened when a node first needs it, which may be after a restart of the server."""

    open: Callable[[S], C]
    """For the state of the node. It may block, and raises SetupError."""
    _opened: C | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, state: S) -> C:
        """Return what is opened, by the first call. Raises RequestRefused."""
        async with self._lock:
            if self._opened is None:
                try:
                    self._opened = await in_thread(self.open, state)
                except SetupError as error:
                    raise RequestRefused(str(error)) from None
        return self._opened


def build_server_graph(open_services: OpenServices, export_report: ExportReport) -> ServerGraph:
    """Return the graph with services of its own, which opens them with its first node and exports the report."""

    def open_for(state: BugTriageState) -> Services:
        services = open_services(state.repository.slug)
        if state.index_facts is not None:  # which is in no checkpoint
            services.codebase.index()
        return services

    lazy_services = Lazy(open_for)

    def with_services(node: Node) -> Node:
        async def run_node(state: BugTriageState, runtime: Runtime[Services]) -> Update:
            if state.steps and node in _FIRST_NODES:
                raise RequestRefused("A thread is for one run: start the next one on a new thread, or without any.")
            services = await lazy_services.get(state)
            result = node(state, runtime.override(context=services))
            update = await result if isawaitable(result) else result
            if isinstance(update.get("report"), RunReport):
                await export_report(update["report"], services)
            return update

        return run_node

    graph = StateGraph(BugTriageState, input_schema=TriageInput)
    add_nodes(graph, with_services)
    return graph.compile()


def graph() -> ServerGraph:
    return build_server_graph(open_services, partial(export_telemetry, cancelled=asyncio.Event()))


def open_services(repository: str) -> Services:
    """Open the services of one run. Raises SetupError. `repository` is `owner/name` or empty."""
    return replace(open_on_server(repository).open_services(), searches_for_features=True)


def open_on_server(repository: str, task: JobName = "triage") -> App:
    """Open what a run of LangGraph Server has, for the checkout of the repository. Raises SetupError.

    `repository` is `owner/name`, or empty where the server has one checkout.
    """
    _prepare_network()
    folder = find_checkout_folder(os.environ, repository)
    return App(
        settings=Settings.from_terminal(os.environ, task=task),
        environment=RunnerEnvironment.read(os.environ),
        root=folder,
        repository=repository or folder.name,
        progress=ServerLog(),
        redactor=SecretRedactor(collect_own_secrets(os.environ)),
    ).with_project_config()


@cache
def _prepare_network() -> None:
    """For the first run, and so for the whole process."""
    for warning in prepare_network(os.environ):
        ServerLog().info(warning)
