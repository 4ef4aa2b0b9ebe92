"""The rule of two: no node reads untrusted input, sees the code and sends something out, all three at once.

A node is not handed what it may not use, so an injected instruction finds nothing to use.
"""

from __future__ import annotations

from collections.abc import Mapping
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

FIX_CAPABILITIES: frozenset[Capability] = frozenset({"untrusted input", "code access"})
"""Of the nodes that make a patch: what they write stays in the run until a person has approved it."""

CAPABILITIES: Mapping[str, frozenset[Capability]] = {
    "read_and_index": frozenset({"untrusted input", "code access"}),
    "fetch_past_issues": frozenset({"untrusted input", "outbound requests"}),
    "compare_past_issues": frozenset({"untrusted input", "code access"}),
    "supervisor": frozenset({"untrusted input", "code access"}),
    **{name: agent.capabilities for name, agent in AGENTS.items()},
    "finish": frozenset({"untrusted input", "code access"}),
    "publish": frozenset({"outbound requests"}),
    **dict.fromkeys(
        (
            "fetch_ticket",
            "classify_ticket",
            "identify_modules",
            "retrieve_context",
            "generate_code_changes",
            "generate_tests",
            "prepare_diff_summary",
        ),
        FIX_CAPABILITIES,
    ),
    **dict.fromkeys(
        ("apply_changes", "create_pull_request", "post_comment"), frozenset({"untrusted input", "outbound requests"})
    ),
}
"""Of every node, and of the publisher. Those that send something out after an approval ask no model: they take the
issue's number from the event, and what is carried out from the frozen proposal."""

assert all(len(capabilities) <= MAX_CAPABILITIES for capabilities in CAPABILITIES.values()), "the rule of two"


class _ForbiddenCodebase:
    def __getattr__(self, name: str) -> NoReturn:
        raise PermissionError(f"codebase.{name}: this node must not see the code")


def restrict_services(services: Services, capabilities: frozenset[Capability]) -> Services:
    """Return the services that the capabilities cover.

    The project's settings count as code: they may be as private.
    """
    removed: dict[str, Any] = {}
    if "outbound requests" not in capabilities:
        removed |= {"web_tools": None, "past_issues": None}
    if "code access" not in capabilities:
        removed |= {"codebase": cast("Codebase", _ForbiddenCodebase()), "code_tools": None, "config": ProjectConfig()}
    return replace(services, **removed)


def restrict_input(agent_input: AgentInput, capabilities: frozenset[Capability]) -> AgentInput:
    """Return the input without what others concluded from the code, for an agent that must not see it."""
    if "code access" in capabilities:
        return agent_input
    repository = agent_input.repository.model_copy(update={"labels": []})
    return AgentInput(
        issue=agent_input.issue,
        parsed=agent_input.parsed,
        repository=repository,
        web_queries=agent_input.web_queries,  # words of the issue, and of the next line, only
        dependencies=agent_input.dependencies,
        failing_package=agent_input.failing_package,
    )
