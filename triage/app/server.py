"""The graph for LangGraph Server, which finds it by `langgraph.json`. Settings come from `TRIAGE_*` variables."""

import asyncio
import os
from dataclasses import replace
from functools import partial

from langchain_core.runnables import RunnableConfig

from triage.app import wiring
from triage.app.settings import Checkouts
from triage.app.wiring import RunSetup
from triage.domain.issue import Repository
from triage.graph.server_graph import ServerGraph, build_server_graph, compute_max_iterations
from triage.jobs.export_telemetry import export_telemetry
from triage.ports import Services

DEFAULT_RECURSION_LIMIT = 25
"""The server's limit if the client sets none."""


def graph(config: RunnableConfig) -> ServerGraph:
    iterations = compute_max_iterations(config.get("recursion_limit") or DEFAULT_RECURSION_LIMIT)
    export_report = partial(export_telemetry, cancelled=asyncio.Event())
    return build_server_graph(partial(open_run, iterations=iterations), export_report)


def open_run(repository: str, iterations: int) -> tuple[Repository, Services]:
    """The repository of one run, and its services. Raises SetupError.

    `repository` is `owner/name` or empty; `iterations` are what the server's recursion limit allows.
    """
    folder = Checkouts.read(os.environ).find_folder(repository)
    slug = repository or folder.name
    setup = RunSetup.from_terminal(os.environ, folder, slug, wiring.build_server_log()).with_project_config()
    services = wiring.open_services(setup)
    limits = services.limits.model_copy(update={"iterations": min(services.limits.iterations, iterations)})
    server_url = setup.environment.server_url if repository else ""
    return Repository(slug=slug, server_url=server_url), replace(services, limits=limits)
