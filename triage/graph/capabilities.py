"""The rule of two: no agent reads untrusted input, sees the code and sends something out, all three at once.

It is not handed what it may not use, so an injected instruction finds nothing to use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from triage.agents import codebase_search, critic, investigator, web_search, writer
from triage.agents.agent import MAX_CAPABILITIES, Agent, Capability
from triage.agents.services import Services
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentName
from triage.domain.project_config import ProjectConfig

if TYPE_CHECKING:
    from triage.find.codebase import Codebase


AGENTS: dict[AgentName, Agent[Any]] = {
    agent.name: agent
    for agent in (investigator.AGENT, codebase_search.AGENT, web_search.AGENT, critic.AGENT, writer.AGENT)
}
"""All agents by name. A new one needs a module, a line here, and its place in `routing`."""

PAST_ISSUES_CAPABILITIES: frozenset[Capability] = frozenset({"untrusted input", "outbound requests"})
"""Of the node that reads past issues."""
FIX_CAPABILITIES: frozenset[Capability] = frozenset({"untrusted input", "code access"})
"""Of the nodes that make a patch: what they write stays in the run until a person has approved it. What is sent out
after that asks no model: it takes the issue's number from the event, and all else from the frozen proposal."""

assert all(len(agent.capabilities) <= MAX_CAPABILITIES for agent in AGENTS.values()), "the rule of two"


class _ForbiddenCodebase:
    def __getattr__(self, name: str) -> NoReturn:
        raise PermissionError(f"codebase.{name}: this node must not see the code")


def restrict_services(services: Services, capabilities: frozenset[Capability]) -> Services:
    """Return the services that the capabilities cover. The project's settings count as code: they may be as private."""
    removed: dict[str, Any] = {}
    if "outbound requests" not in capabilities:
        removed |= {"web_tools": None, "iterate_past_issues": None}
    if "code access" not in capabilities:
        removed |= {"codebase": cast("Codebase", _ForbiddenCodebase()), "code_tools": None, "config": ProjectConfig()}
    return replace(services, **removed)


def restrict_input(agent_input: AgentInput, capabilities: frozenset[Capability]) -> AgentInput:
    """Return only the issue and names of packages to an agent without code access. A new field is left out too."""
    if "code access" in capabilities:
        return agent_input
    repository = agent_input.repository.model_copy(update={"labels": []})
    return AgentInput(
        issue=agent_input.issue,
        parsed=agent_input.parsed,
        repository=repository,
        dependencies=agent_input.dependencies,  # a query has words of the issue and of these only
        failing_package=agent_input.failing_package,
    )
