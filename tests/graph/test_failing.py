"""Every agent failing, and all of them: their model, or model and rules. A report comes out all the same."""

import asyncio
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeToolset, fake_services
from triage.base.errors import ModelUnavailable
from triage.domain.findings import AgentName
from triage.domain.report import RunReport
from triage.domain.run import Outcome, Status
from triage.graph.capabilities import AGENTS
from triage.graph.run_graph import run_graph

ONE_OR_ALL: list[tuple[AgentName, ...]] = [*((name,) for name in AGENTS), tuple(AGENTS)]
EXTERNAL_TEXT = "words from outside"
REQUESTS: dict[AgentName, list[str]] = {
    "investigator": ["InvestigatorFinding"],
    "codebase_search": ["CodebaseFinding"],
    "web_search": ["tools"],
    "critic": ["CritiqueFinding"],
    "writer": ["TicketDraft", "text"],
}


async def _run(agents: tuple[AgentName, ...]) -> RunReport:
    down = ModelUnavailable("endpoint failed (503)")
    prepared = factories.answers(tools=ModelUnavailable("not asked"))
    answers: dict[str, Any] = prepared | {name: down for one in agents for name in REQUESTS[one]}
    services = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(answers), web_tools=FakeToolset())
    return await run_graph(factories.issue(), factories.repository(), services, asyncio.Event())


@pytest.mark.parametrize("agents", ONE_OR_ALL, ids="+".join)
async def test_where_a_model_fails_rules_answer_and_the_report_says_so(agents: tuple[AgentName, ...]):
    report = await _run(agents)
    assert report.status is Status.DEGRADED
    assert [suspect.path for suspect in report.suspects][:1] == ["src/parse.py"]
    assert report.verdict is not None
    asked = [name for name in agents if name != "critic" or "codebase_search" not in agents]  # rules judge rules
    for name in asked:
        [step] = [step for step in report.steps if step.step == name]
        assert (step.engine, step.outcome, step.error) == ("rules", Outcome.SUCCESS, "endpoint failed (503)")
        assert f"{_display_name(name)}: endpoint failed (503); answered by rules instead." in report.notes


@pytest.mark.parametrize("agents", ONE_OR_ALL, ids="+".join)
async def test_where_model_and_rules_fail_the_others_go_on(agents: tuple[AgentName, ...]):

    async def broken(*_: Any) -> Any:
        raise ZeroDivisionError(EXTERNAL_TEXT)

    with patch.dict(AGENTS, {name: replace(AGENTS[name], answer_with_rules=broken) for name in agents}):
        report = await _run(agents)
    assert report.status is Status.DEGRADED
    assert report.summary
    assert report.ticket.title
    assert [decision.selected for decision in report.decisions][-1] == ["writer"]
    assert bool(report.suspects) is not ("codebase_search" in agents)
    assert EXTERNAL_TEXT not in report.model_dump_json()
    for name in agents:
        assert any(one.startswith(_display_name(name)) for one in report.notes)


def _display_name(name: AgentName) -> str:
    return name.replace("_", " ").capitalize()
