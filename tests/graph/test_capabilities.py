"""The rule of two: declared for every node, and what a node may not have is not handed to it."""

from dataclasses import replace
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeTools, services
from tests.agents.test_agents import case
from triage.agents import registry
from triage.agents.agent import Agent, Consulted, Power
from triage.domain.agent_input import Case
from triage.domain.project_config import Config
from triage.graph.capabilities import POWERS, shown, within
from triage.graph.step_runner import Trail, consult
from triage.ports import Services

OUTSIDE: frozenset[Power] = frozenset({"reads strangers", "sends out"})
INSIDE: frozenset[Power] = frozenset({"reads strangers", "sees code"})


def test_every_node_declares_its_powers_and_has_at_most_two():
    assert set(POWERS) == {*registry.AGENTS, "prepare", "supervisor", "finish", "publish"}
    assert all(1 <= len(powers) <= 2 for powers in POWERS.values())
    assert [name for name, powers in POWERS.items() if "sends out" in powers] == ["web_search", "publish"]


def test_who_sends_out_gets_no_code_and_no_settings():
    given = within(
        services(
            codebase=FakeCodebase(factories.FILES),
            search=FakeTools(""),
            code_tools=FakeTools(""),
            config=Config(instructions="The vault is in the cellar."),
        ),
        OUTSIDE,
    )
    assert given.search is not None
    assert given.code_tools is None
    assert given.config == Config()
    for name in ("search", "lines", "paths", "retriever", "index", "owners"):
        with pytest.raises(PermissionError):
            getattr(given.codebase, name)


def test_who_sees_code_gets_nothing_that_sends():
    given = within(services(codebase=FakeCodebase(factories.FILES), search=FakeTools("")), INSIDE)
    assert given.search is None
    assert given.codebase.paths()


def test_who_sends_out_is_not_shown_what_others_concluded():
    whole = case(codebase=factories.codebase(), critique=factories.critique(), investigation=factories.investigation())
    seen = shown(whole, OUTSIDE)
    assert (seen.codebase, seen.critique, seen.investigation, seen.findings) == (None, None, None, [])
    assert seen.reading == whole.reading
    assert shown(whole, INSIDE) == whole


@pytest.mark.parametrize("name", registry.AGENTS)
async def test_every_agent_is_consulted_within_its_powers(name: Any):
    """Whoever an agent is, its model and its twin get the narrowed services and case."""
    given: list[tuple[Services, Case]] = []
    real = registry.AGENTS[name]

    async def by_model(seen: Case, services: Services, model: Any) -> Consulted[Any]:
        given.append((services, seen))
        raise ZeroDivisionError

    async def by_rules(seen: Case, services: Services) -> Any:
        given.append((services, seen))
        raise ZeroDivisionError

    agent: Agent[Any] = replace(real, by_model=by_model, by_rules=by_rules)
    whole = services(
        codebase=FakeCodebase(factories.FILES), search=FakeTools(""), code_tools=FakeTools(""), model=FakeModel({})
    )
    await consult(agent, case(codebase=factories.codebase()), Trail(name, whole), by_rules=False)
    assert len(given) >= 2
    for services_given, seen in given:
        assert (services_given.search is not None) == ("sends out" in agent.powers)
        assert (services_given.code_tools is not None) == ("sees code" in agent.powers)
        assert (seen.codebase is not None) == ("sees code" in agent.powers)
