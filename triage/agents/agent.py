"""The parts that every agent has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from triage.agents.services import Services
from triage.domain.agent_input import AgentInput
from triage.domain.code import Excerpt, LookedUp
from triage.domain.findings import AgentFinding, AgentFindingBase, AgentName
from triage.domain.skill import SkillTier

if TYPE_CHECKING:
    from triage.outside.model.chat_model import ChatModel


A = TypeVar("A", bound=AgentFindingBase)

Capability = Literal["untrusted input", "code access", "outbound requests"]
"""All three together make a hijacked agent dangerous. No agent has more than two (`graph/capabilities.py`)."""
MAX_CAPABILITIES = 2
CONFIDENT_FROM = 0.6
"""Rules call the first place the cause's location, and the critic may confirm it, from this confidence on."""


@dataclass(frozen=True)
class AgentResult(Generic[A]):
    finding: A
    shortfalls: list[str] = field(default_factory=list)
    """Parts that came otherwise than planned, each with the reason and what stood in."""
    looked_up: list[LookedUp] = field(default_factory=list)
    """What the agent looked up in the repository."""
    skills: dict[str, SkillTier] = field(default_factory=dict)
    """The project's skills that were in its prompt: id to tier, 2 for the text and 3 with files that it references."""
    excerpts: list[Excerpt] = field(default_factory=list)
    """The code that it was shown, by number."""


@dataclass(frozen=True)
class Agent(Generic[A]):
    """An agent: a model chain and rules that answer the same question with the same schema.

    Only the step's record says which of the two answered.
    """

    name: AgentName
    capabilities: frozenset[Capability]
    answer_with_model: Callable[[AgentInput, Services, ChatModel], Awaitable[AgentResult[A]]]
    answer_with_rules: Callable[[AgentInput, Services], Awaitable[A]]
    get_details: Callable[[A], str]
    """Return the most informative field of an answer."""
    list_references: Callable[[A], list[str]]
    """Return paths, URLs, or whatever else an answer points at."""
    check_answer: Callable[[A, Services], str | None] = lambda *_: None
    """Return why an answer cannot be used; None when it can."""


def to_agent_finding(raw: AgentFindingBase, details: str, relevant_files: list[str]) -> AgentFinding:
    """Return what the state keeps of an agent's answer."""
    return AgentFinding(**dict(raw) | {"details": details, "relevant_files": relevant_files})
