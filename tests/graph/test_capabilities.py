"""The rule of two: what an agent may not have is not handed to it."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeToolset, fake_services
from tests.agents.test_agents import case
from triage.agents.agent import Agent, AgentResult, Capability
from triage.agents.code_tools import build_code_tools
from triage.agents.services import Services
from triage.domain.agent_input import AgentInput
from triage.domain.project_config import ProjectConfig
from triage.graph.capabilities import AGENTS, restrict_input, restrict_services
from triage.graph.step_runner import StepRecorder, run_agent
from triage.outside.web.web_search_tool import build_search_tool

OUTSIDE: frozenset[Capability] = frozenset({"untrusted input", "outbound requests"})
INSIDE: frozenset[Capability] = frozenset({"untrusted input", "code access"})


def test_only_the_web_search_sends_out():
    assert [name for name, agent in AGENTS.items() if "outbound requests" in agent.capabilities] == ["web_search"]


def test_who_sends_out_gets_no_code_and_no_settings():
    given = restrict_services(
        fake_services(
            codebase=FakeCodebase(factories.FILES),
            web_tools=FakeToolset(""),
            code_tools=FakeToolset(""),
            config=ProjectConfig(instructions="The vault is in the cellar."),
        ),
        OUTSIDE,
    )
    assert given.web_tools is not None
    assert given.code_tools is None
    assert given.config == ProjectConfig()
    for name in ("search", "read_lines", "list_paths", "get_retriever", "index", "project"):
        with pytest.raises(PermissionError):
            getattr(given.codebase, name)


def test_who_sees_code_gets_nothing_that_sends():
    given = restrict_services(fake_services(codebase=FakeCodebase(factories.FILES), web_tools=FakeToolset("")), INSIDE)
    assert given.web_tools is None
    assert given.codebase.list_paths()


def test_who_sends_out_is_not_shown_what_others_concluded():
    whole = case(
        dependencies=["numpy"],
        code_finding=factories.codebase(),
        critique=factories.critique(),
        investigation=factories.investigation(),
    )
    seen = restrict_input(whole, OUTSIDE)
    assert (seen.code_finding, seen.critique, seen.investigation, seen.findings) == (None, None, None, [])
    assert (seen.parsed, seen.dependencies) == (whole.parsed, whole.dependencies)
    assert seen.failing_package == whole.failing_package
    assert restrict_input(whole, INSIDE) == whole


@pytest.mark.parametrize("name", AGENTS)
async def test_every_agent_is_consulted_within_its_powers(name: Any):
    """The model and the rules of every agent get the restricted services and input."""
    given: list[tuple[Services, AgentInput]] = []
    real = AGENTS[name]

    async def by_model(seen: AgentInput, services: Services, model: Any) -> AgentResult[Any]:
        given.append((services, seen))
        raise ZeroDivisionError

    async def by_rules(seen: AgentInput, services: Services) -> Any:
        given.append((services, seen))
        raise ZeroDivisionError

    agent: Agent[Any] = replace(real, answer_with_model=by_model, answer_with_rules=by_rules)
    whole = fake_services(
        codebase=FakeCodebase(factories.FILES),
        web_tools=FakeToolset(""),
        code_tools=FakeToolset(""),
        model=FakeModel({}),
    )
    await run_agent(agent, case(code_finding=factories.codebase()), StepRecorder(name, whole))
    assert len(given) >= 2
    for services_given, seen in given:
        assert (services_given.web_tools is not None) == ("outbound requests" in agent.capabilities)
        assert (services_given.code_tools is not None) == ("code access" in agent.capabilities)
        assert (seen.code_finding is not None) == ("code access" in agent.capabilities)


def test_the_tools_of_the_agents_only_read():
    tools = [*build_code_tools(FakeCodebase({})), build_search_tool(SecretStr("tvly-x"))]
    parsed = {"grep", "find_symbol", "read_lines", "git_log", "show_commit", "tavily_search"}
    assert {tool.name for tool in tools} == parsed, "SECURITY.md says that there are no others, and why"
