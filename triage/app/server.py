"""The graph for LangGraph Server, which finds it by `langgraph.json`. Settings come from `TRIAGE_*` variables."""

import asyncio
import os
from dataclasses import replace
from functools import cache, partial

from langchain_core.runnables import RunnableConfig

from triage.agents.services import Services
from triage.app.app import App
from triage.app.settings import Checkouts, RunnerEnvironment, Settings, collect_own_secrets
from triage.app.settings.network_settings import prepare_network
from triage.domain.task import TaskName
from triage.graph.server_graph import ServerGraph, build_server_graph, compute_max_iterations
from triage.outside.output.line_logs import ServerLog
from triage.run.run_context import export_telemetry
from triage.safety.secrets.redactor import SecretRedactor

DEFAULT_RECURSION_LIMIT = 25
"""The server's limit if the client sets none."""


def graph(config: RunnableConfig) -> ServerGraph:
    iterations = compute_max_iterations(config.get("recursion_limit") or DEFAULT_RECURSION_LIMIT)
    export_report = partial(export_telemetry, cancelled=asyncio.Event())
    return build_server_graph(partial(open_run, iterations=iterations), export_report)


def open_run(repository: str, iterations: int) -> Services:
    """Open the services of one run. Raises SetupError.

    `repository` is `owner/name` or empty; `iterations` are what the server's recursion limit allows.
    """
    services = open_on_server(repository).open_services()
    limits = services.limits.model_copy(update={"iterations": min(services.limits.iterations, iterations)})
    return replace(services, limits=limits)


def open_on_server(repository: str, task: TaskName = "triage") -> App:
    """Open what a run of LangGraph Server has, for the checkout of the repository. Raises SetupError.

    `repository` is `owner/name`, or empty where the server has one checkout.
    """
    _prepare_network()
    folder = Checkouts.read(os.environ).find_folder(repository)
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
