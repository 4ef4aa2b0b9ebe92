"""Root: the same graph for LangGraph Server, which finds it by `langgraph.json`. Settings come from `TRIAGE_*`."""

import asyncio
import os
from dataclasses import replace

from langchain_core.runnables import RunnableConfig

from triage import wiring
from triage.domain.issue import Repository
from triage.domain.report import RunReport
from triage.flows.export_telemetry import export_telemetry
from triage.graph.server_graph import ServerGraph, build_server_graph, compute_max_iterations
from triage.ports import Services
from triage.secrets.redactor import SecretRedactor
from triage.settings import Checkouts, RunnerEnvironment, Settings, collect_own_secrets

DEFAULT_RECURSION_LIMIT = 25
"""The server's own limit, where the client asks for no other."""


def graph(config: RunnableConfig) -> ServerGraph:
    """The graph for one run, or for somebody who wants to see it: nothing is opened before it runs."""
    iterations = compute_max_iterations(config.get("recursion_limit") or DEFAULT_RECURSION_LIMIT)

    def opener(repository: str) -> tuple[Repository, Services]:
        return open_run(repository, iterations)

    return build_server_graph(opener, _export_telemetry)


def open_run(repository: str, iterations: int) -> tuple[Repository, Services]:
    """What acts in one run, and where.

    Args:
        repository: `owner/name`, or empty.
        iterations: Decisions that the server leaves room for.

    Raises:
        BadInput: The variables cannot be used, or there is no such checkout.
        BadConfig: The project's own settings cannot be used.
    """
    settings = Settings.from_terminal(os.environ)
    place = RunnerEnvironment.read(os.environ)
    folder = Checkouts.read(os.environ).find_folder(repository)
    slug = repository or folder.name
    services = wiring.build_services(
        settings,
        wiring.build_server_log(),
        folder,
        slug,
        config=wiring.read_project_config(settings, folder),
        tavily_base_url=place.tavily_base_url,
        network=place.network,
        collector=place.collector,
        way_out=SecretRedactor(collect_own_secrets(os.environ)),
    )
    limits = services.limits.model_copy(update={"iterations": min(services.limits.iterations, iterations)})
    where = Repository(slug=slug, server_url=place.server_url if repository else "")
    return where, replace(services, limits=limits, checkpoints=None)


async def _export_telemetry(report: RunReport, services: Services) -> None:
    await export_telemetry(report, services, asyncio.Event())
