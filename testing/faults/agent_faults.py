"""Agents that fail, one or two at a time: their model, or model and rules. Checks what the report says then."""

import asyncio
from dataclasses import replace
from itertools import combinations
from typing import Any
from unittest.mock import patch

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeToolset, fake_services
from triage.base.errors import ModelUnavailable
from triage.domain.findings import AgentName
from triage.domain.report import RunReport
from triage.domain.run import Outcome, Status
from triage.graph.capabilities import AGENTS
from triage.graph.run_graph import run_graph

ONE_AND_TWO: list[tuple[AgentName, ...]] = [*((name,) for name in AGENTS), *combinations(AGENTS, 2)]
EXTERNAL_TEXT = "words from outside"
REQUESTS: dict[AgentName, list[str]] = {
    "investigator": ["InvestigatorFinding"],
    "codebase_search": ["CodebaseFinding"],
    "web_search": ["tools"],
    "critic": ["CritiqueFinding"],
    "writer": ["TriageReport", "text"],
}


async def _run(agents: tuple[AgentName, ...]) -> RunReport:
    down = ModelUnavailable("endpoint failed (503)")
    prepared = factories.answers(tools=ModelUnavailable("not asked"))
    answers: dict[str, Any] = prepared | {name: down for one in agents for name in REQUESTS[one]}
    services = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(answers), web_tools=FakeToolset())
    return await run_graph(factories.issue(), factories.repository(), services, asyncio.Event())


async def find_problems_without_models(agents: tuple[AgentName, ...]) -> list[str]:
    """Runs without the models of these agents and returns what is not as expected."""
    report = await _run(agents)
    problems = {
        f"status {report.status}": report.status is not Status.DEGRADED,
        "the suspect was lost": [suspect.path for suspect in report.suspects][:1] != ["src/parse.py"],
        "no verdict": report.verdict is None,
    }
    for name in agents:
        outcomes = [step.outcome for step in report.steps if step.step == name]
        note = f"{_display_name(name)}: endpoint failed (503); answered by rules instead."
        problems[f"{name} was not answered by rules"] = outcomes != [Outcome.FAILED, Outcome.SUCCESS]
        problems[f"not reported: {note}"] = note not in report.notes
    return [problem for problem, is_present in problems.items() if is_present]


async def find_problems_without_models_and_rules(agents: tuple[AgentName, ...]) -> list[str]:
    """Runs without the models and the rules of these agents and returns what is not as expected."""

    async def broken(*_: Any) -> Any:
        raise ZeroDivisionError(EXTERNAL_TEXT)

    with patch.dict(AGENTS, {name: replace(AGENTS[name], answer_with_rules=broken) for name in agents}):
        report = await _run(agents)
    problems = {
        f"status {report.status}": report.status is not Status.DEGRADED,
        "no summary, root cause or ticket": not (report.summary and report.root_cause and report.ticket.title),
        "the writer was not last": [decision.selected for decision in report.decisions][-1] != ["writer"],
        "suspects": bool(report.suspects) is ("codebase_search" in agents),
        "words from outside": EXTERNAL_TEXT in report.model_dump_json(),
    }
    for name in agents:
        problems[f"{name} is not reported"] = not any(one.startswith(_display_name(name)) for one in report.notes)
    return [problem for problem, is_present in problems.items() if is_present]


def _display_name(name: AgentName) -> str:
    return name.replace("_", " ").capitalize()
