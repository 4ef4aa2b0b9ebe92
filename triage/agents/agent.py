"""What makes an agent."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFinding, AgentFindingBase, AgentName
from triage.ports import Model, Services

A = TypeVar("A", bound=AgentFindingBase)

Capability = Literal["untrusted input", "code access", "outbound requests"]
"""What makes a hijacked agent dangerous, taken together; the rule of two (`graph/reach.py`) is that nobody has all."""
MAX_CAPABILITIES = 2


@dataclass(frozen=True)
class AgentAnswer(Generic[A]):
    """An agent's answer, and which parts of it a twin had to give because the model failed, with the reason."""

    answer: A
    shortfalls: list[str] = field(default_factory=list)


def accept_any_answer(answer: AgentFindingBase, case: AgentInput, services: Services) -> str | None:
    """For an agent of whom any answer can be used."""
    return None


@dataclass(frozen=True)
class Agent(Generic[A]):
    """One agent: a model chain and a twin by rules that answer the same question with the same schema.

    Nothing downstream knows which of the two answered, but for the step's record.
    """

    name: AgentName
    capabilities: frozenset[Capability]
    answer_with_model: Callable[[AgentInput, Services, Model], Awaitable[AgentAnswer[A]]]
    answer_with_rules: Callable[[AgentInput, Services], Awaitable[A]]
    to_finding: Callable[[A], AgentFinding]
    check_answer: Callable[[A, AgentInput, Services], str | None] = accept_any_answer
    """The gate after the agent: why the answer cannot be used, or none."""


def to_agent_finding(raw: AgentFindingBase, details: str, relevant_files: list[str]) -> AgentFinding:
    """Translate an agent's answer into what the state keeps.

    Args:
        raw: The answer.
        details: The answer's most telling field.
        relevant_files: Paths, URLs, or what else the agent points at next.
    """
    return AgentFinding(
        agent_name=raw.agent_name,
        summary=raw.summary,
        confidence=raw.confidence,
        details=details,
        relevant_files=relevant_files,
    )
