"""The rule of two: nobody reads strangers' text, sees the code and can send something out, all three at once.

What a node may not have is not handed to it, so that a model that obeys a stranger finds nothing to obey with.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn, cast

from triage.agents.agent import MAX_CAPABILITIES, Capability
from triage.agents.registry import AGENTS
from triage.domain.agent_input import AgentInput
from triage.domain.project_config import ProjectConfig
from triage.ports import Codebase, Services

CAPABILITIES: Mapping[str, frozenset[Capability]] = {
    "prepare": frozenset({"reads strangers", "sees code"}),
    "supervisor": frozenset({"reads strangers", "sees code"}),
    **{name: agent.capabilities for name, agent in AGENTS.items()},
    "finish": frozenset({"reads strangers", "sees code"}),
    "publish": frozenset({"sends out"}),
}
"""Of every node, and of the publisher, which asks no model and takes the issue's number from the event alone."""

assert all(len(powers) <= MAX_CAPABILITIES for powers in CAPABILITIES.values()), "the rule of two"


class _ForbiddenCodebase:
    """In the place of a codebase that a node may not see."""

    def __getattr__(self, name: str) -> NoReturn:
        raise PermissionError(f"codebase.{name}: this node must not see the code")


def restrict_services(services: Services, powers: frozenset[Capability]) -> Services:
    """The services without what the powers do not cover.

    The project's settings count as code: they may be as private.
    """
    held: dict[str, Any] = {}
    if "sends out" not in powers:
        held["web_tools"] = None
    if "sees code" not in powers:
        held |= {"codebase": cast("Codebase", _ForbiddenCodebase()), "code_tools": None, "config": ProjectConfig()}
    return replace(services, **held)


def restrict_input(case: AgentInput, powers: frozenset[Capability]) -> AgentInput:
    """The case without what others concluded from the code, for a node that must not see it."""
    if "sees code" in powers:
        return case
    return AgentInput(
        issue=case.issue, reading=case.reading, repository=case.repository.model_copy(update={"labels": []})
    )
