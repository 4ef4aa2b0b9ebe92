"""Named faults of the model, the search, the embeddings, GitHub and the machine over real HTTP, and of each agent."""

import asyncio
import contextlib
import io
import json
import math
import traceback
import urllib.request
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from testing.faults.agent_faults import (
    ONE_AND_TWO,
    find_problems_without_models,
    find_problems_without_models_and_rules,
)
from testing.faults.github_faults import GITHUB_FAULTS
from testing.faults.machine_faults import MACHINE_FAULTS
from testing.faults.registry_faults import ANSWERS, serve_registry
from testing.faults.service_faults import (
    EMBEDDING_FAULTS,
    HARMLESS_MODEL_FAULTS,
    MODEL_FAULTS,
    SEARCH_FAULTS,
    SUPERVISOR_FAULTS,
    Fault,
)
from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.runs.job import JobResult
from testing.servers.endless_body import EndlessBody
from testing.servers.github_server import SLUG
from triage.domain.findings import AgentName
from triage.graph.routing import Choice, list_choices
from trust.measure import Measure, MeasureResult, sample_evenly

Agents = Callable[[tuple[AgentName, ...]], Coroutine[Any, Any, list[str]]]
BY_SOURCE = {
    "model": [*MODEL_FAULTS, *HARMLESS_MODEL_FAULTS],
    "supervisor": SUPERVISOR_FAULTS,
    "search": SEARCH_FAULTS,
    "embeddings": EMBEDDING_FAULTS,
    "GitHub": GITHUB_FAULTS,
    "machine": MACHINE_FAULTS,
}
UNHANDLED = [fault for fault in GITHUB_FAULTS if "writing" in fault.name][:3]
ONE_CHOICE = SUPERVISOR_FAULTS[0]
NESTED_JSON = next(fault for fault in GITHUB_FAULTS if fault.name == "nested JSON, reading the issue")


def _list_choices_twice(*given: Any, **options: Any) -> list[Choice]:
    return list_choices(*given, **options) * 2


WITHOUT_DEFENCE: dict[str, tuple[str, Any]] = {
    NESTED_JSON.name: ("triage.github.github_client.PARSE_ERRORS", (ValueError,)),
    ONE_CHOICE.name: ("triage.graph.planner.list_choices", _list_choices_twice),
    "slower than a connection's own limit": (
        "triage.model.endpoint.RetryPolicy.seconds_left",
        lambda _: math.inf,
    ),
    "a rate limit of the main model only": (
        "triage.model.endpoint_features.EndpointFeatures.prefers_fallback",
        lambda *_: False,
    ),
}
"""By fault, a name in the program and what stands in for it."""


@dataclass(frozen=True)
class Case:
    name: str
    find_problems: Callable[[], list[str]]


def _whole(source: str, fault: Fault) -> Case:
    def problems() -> list[str]:
        with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as job:
            return fault.find_problems(job)

    return Case(f"{source}: {fault.name}", problems)


def _registry(language: str, answer: str | None, *, gzipped: bool = False) -> Case:
    def problems() -> list[str]:
        with serve_registry() as registry:
            return registry.find_problems(language, EndlessBody(gzipped=gzipped) if answer is None else answer)

    return Case(f"registry: {language}, {'no end' if answer is None else answer[:60]!r}", problems)


def _agents(name: str, agents: tuple[AgentName, ...], tried: Agents) -> Case:
    return Case(f"{name} of {'+'.join(agents)}", lambda: asyncio.run(tried(agents)))


def run(share: float) -> MeasureResult:
    whole = [_whole(source, fault) for source, faults in BY_SOURCE.items() for fault in faults]
    models = [_agents("model", agents, find_problems_without_models) for agents in ONE_AND_TWO]
    both = [_agents("model and rules", agents, find_problems_without_models_and_rules) for agents in ONE_AND_TWO]
    lies = [_registry(*one) for one in ANSWERS] + [_registry("python", None, gzipped=each) for each in (False, True)]
    tried = [(case, case.find_problems()) for case in sample_evenly([*whole, *models, *both, *lies], share)]
    failures = [f"{case.name}: {problem}" for case, problems in tried for problem in problems]
    survived = sum(not problems for _, problems in tried)
    return MeasureResult(len(tried), failures, f"{survived} of {len(tried)} survived")


def run_without_defence() -> MeasureResult:
    """A program that handles no fault, and the whole program without its defence against one.

    Returns no failure unless there is one in each case.
    """
    found: dict[str, list[str]] = {}
    for fault in UNHANDLED:
        with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as job:
            fault.inject(job)
            found[fault.name] = fault.check_run(job, _run_naively(job))
    for fault in [ONE_CHOICE, NESTED_JSON, *HARMLESS_MODEL_FAULTS]:
        with patch(*WITHOUT_DEFENCE[fault.name]):
            found[fault.name] = _whole("", fault).find_problems()
    with patch("triage.reproduce.environments.package_index.PypiIndex.model_validate_json", json.loads):
        found["registry"] = _registry("python", "[]").find_problems()
    failures = [f"{name}: {problem}" for name, problems in found.items() for problem in problems]
    return MeasureResult(len(found), failures if all(found.values()) else [])


def _run_naively(job: InProcessJob) -> JobResult:
    log = io.StringIO()
    url = f"{job.github.url}/repos/{SLUG}/issues/{job.github.number}/comments"
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
    "A fault of the model, the search, the embeddings, GitHub, the disk or an agent, each one and each pair. It must "
    "have the documented outcome, and a report all the same. A package registry that lies must cost a sentence.",
    run,
    run_without_defence,
)
