"""Named faults: of the model, the search, the embeddings, GitHub and the machine over real HTTP, of every agent."""

import asyncio
import contextlib
import io
import json
import traceback
import urllib.request
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from testing.faults.agent_faults import (
    ONE_AND_TWO,
    find_problems_without_models,
    find_problems_without_models_and_rules,
)
from testing.faults.github_faults import GITHUB_FAULTS
from testing.faults.machine_faults import MACHINE_FAULTS
from testing.faults.service_faults import EMBEDDING_FAULTS, MODEL_FAULTS, SEARCH_FAULTS, Fault
from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.runs.job import JobResult
from testing.servers.github_server import SLUG
from triage.domain.findings import AgentName
from trust.measure import Measure, MeasureResult
from trust.sampling import sample_evenly

Agents = Callable[[tuple[AgentName, ...]], Coroutine[Any, Any, list[str]]]
BY_SOURCE = {
    "model": MODEL_FAULTS,
    "search": SEARCH_FAULTS,
    "embeddings": EMBEDDING_FAULTS,
    "GitHub": GITHUB_FAULTS,
    "machine": MACHINE_FAULTS,
}


@dataclass(frozen=True)
class Case:
    """A fault, and what finds out what was not as promised."""

    name: str
    find_problems: Callable[[], list[str]]


def _whole(source: str, fault: Fault) -> Case:
    def complaints() -> list[str]:
        with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as place:
            return fault.find_problems(place)

    return Case(f"{source}: {fault.name}", complaints)


def _agents(name: str, agents: tuple[AgentName, ...], tried: Agents) -> Case:
    return Case(f"{name} of {'+'.join(agents)}", lambda: asyncio.run(tried(agents)))


def list_cases() -> list[Case]:
    """Every fault."""
    whole = [_whole(source, fault) for source, faults in BY_SOURCE.items() for fault in faults]
    models = [_agents("model", agents, find_problems_without_models) for agents in ONE_AND_TWO]
    twins = [_agents("model and twin", agents, find_problems_without_models_and_rules) for agents in ONE_AND_TWO]
    return [*whole, *models, *twins]


def run(share: float) -> MeasureResult:
    """Try a share of the faults."""
    tried = [(case, case.find_problems()) for case in sample_evenly(list_cases(), share)]
    failures = [f"{case.name}: {words}" for case, complaints in tried for words in complaints]
    survived = sum(not complaints for _, complaints in tried)
    return MeasureResult(len(tried), failures, f"{survived} of {len(tried)} survived")


def run_without_defence() -> MeasureResult:
    """A program that lets every fault through."""
    chosen = [fault for fault in GITHUB_FAULTS if "writing" in fault.name][:3]
    failures: list[str] = []
    for fault in chosen:
        with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as place:
            fault.inject(place)
            failures += [f"{fault.name}: {words}" for words in fault.check_run(place, _naive(place))]
    return MeasureResult(len(chosen), failures)


def _naive(place: InProcessJob) -> JobResult:
    log = io.StringIO()
    url = f"{place.github.url}/repos/{SLUG}/issues/{place.github.number}/comments"
    with contextlib.redirect_stderr(log):
        try:
            urllib.request.urlopen(url, json.dumps({"body": "shop/basket.py"}).encode(), timeout=5).close()
        except OSError:
            traceback.print_exc()
            return JobResult(1, log.getvalue(), {}, "")
    return JobResult(0, log.getvalue(), {}, "")


MEASURE = Measure(
    "Named faults",
    "all survived",
    "A fault of the model, the web search, the embeddings, GitHub, the disk or an agent (each one and each pair, their "
    "twins by rules too); it must have the outcome that its name has: exit code, status, where it is told, one "
    "comment or none, and the report all the same.",
    run,
    run_without_defence,
)
