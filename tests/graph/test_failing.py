"""Every agent failing, and every pair of agents: model, or model and twin. A report comes out all the same."""

import asyncio
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from tests import cases
from tests.fakes import FakeCodebase, FakeModel, FakeTools, services
from triage.agents.registry import AGENTS
from triage.domain.findings import AgentName
from triage.domain.report import RunReport
from triage.domain.run import Outcome, Status
from triage.errors import ModelUnavailable
from triage.graph.run import triage

ONE_AND_TWO: list[tuple[AgentName, ...]] = [*((name,) for name in AGENTS), *combinations(AGENTS, 2)]
ASKED: dict[AgentName, list[str]] = {
    "investigator": ["InvestigatorFinding"],
    "codebase_search": ["CodebaseFinding"],
    "web_search": ["tools"],
    "critic": ["CritiqueFinding"],
    "writer": ["TriageReport", "text", "json"],
}


async def run(answers: dict[str, Any]) -> RunReport:
    given = services(codebase=FakeCodebase(cases.FILES), model=FakeModel(answers), search=FakeTools())
    return await triage(cases.issue(), cases.repository(), given, asyncio.Event())


def failing(agents: tuple[AgentName, ...]) -> dict[str, Any]:
    down = ModelUnavailable("endpoint failed (503)")
    return cases.answers(tools=ModelUnavailable("not asked")) | {name: down for one in agents for name in ASKED[one]}


@pytest.mark.parametrize("agents", ONE_AND_TWO, ids="+".join)
async def test_where_a_model_fails_its_twin_answers_and_the_report_says_so(agents: tuple[AgentName, ...]):
    report = await run(failing(agents))
    assert report.status is Status.DEGRADED
    assert report.suspects[0].path == "src/parse.py"
    assert report.verdict is not None
    for name in agents:
        assert [s.outcome for s in report.steps if s.step == name] == [Outcome.FAILED, Outcome.SUCCESS]
        said = name.replace("_", " ").capitalize()
        assert f"{said}: endpoint failed (503); answered by rules instead." in report.notes


@pytest.mark.parametrize("agents", ONE_AND_TWO, ids="+".join)
async def test_where_model_and_twin_fail_the_others_go_on(
    agents: tuple[AgentName, ...], monkeypatch: pytest.MonkeyPatch
):
    async def broken(*_: Any) -> Any:
        raise ZeroDivisionError("words from outside")

    for name in agents:
        monkeypatch.setitem(AGENTS, name, replace(AGENTS[name], by_rules=broken))
    report = await run(failing(agents))
    assert report.status is Status.DEGRADED
    assert report.summary
    assert report.root_cause
    assert report.ticket.title
    assert [d.selected for d in report.decisions][-1] == ["writer"]
    assert bool(report.suspects) is (agents != ("codebase_search", "writer")), "the writer's own are looked up too"
    assert "words from outside" not in report.model_dump_json()
    for name in agents:
        assert any(note.startswith(name.replace("_", " ").capitalize()) for note in report.notes)
