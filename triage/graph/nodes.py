"""The nodes: each agent's turn, what the state keeps of it, and the two ends of the run."""

from collections.abc import Awaitable
from typing import Any, Protocol

from langgraph.runtime import Runtime

from triage.agents.critic import map_critique_to_verdict, searchable
from triage.agents.registry import AGENTS
from triage.checks.grounding import held
from triage.domain.code import IndexFacts
from triage.domain.findings import AgentFindingBase, AgentName, CodebaseFinding, CritiqueFinding
from triage.domain.issue import Reading
from triage.domain.run import Engine
from triage.graph.finish import assemble
from triage.graph.routing import decide, opens_round
from triage.graph.state import BugTriageState, case_of
from triage.graph.step import Trail, consult, run_plain
from triage.ports import Services
from triage.reading.read import read
from triage.threads import in_daemon_thread

Update = dict[str, Any]


class Node(Protocol):
    """A node of the graph, as LangGraph calls it."""

    def __call__(self, state: BugTriageState, runtime: Runtime[Services]) -> Awaitable[Update]:
        """The channels to write."""


INDEX_SHARE = 0.6
"""Of the run's time: what is left must do for the agents."""


async def prepare(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Read the issue as a person sees it, and index the repository."""
    services = runtime.context
    trail = Trail("prepare", services)

    async def work() -> tuple[Reading, IndexFacts]:
        reading = read(case_of(state).issue)
        return reading, await in_daemon_thread(services.codebase.index)

    done = await run_plain(trail, work, max(1.0, services.seconds_left() * INDEX_SHARE))
    reading, facts = done if done else (read(case_of(state).issue), None)
    commit = facts.commit if facts else None
    return {
        "reading": reading,
        "index": facts,
        "repository": state.repository.model_copy(update={"commit": commit}),
        "steps": trail.records,
    }


async def supervisor(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Decide who is next. The only writer of iterations, round and current_node."""
    services = runtime.context
    opened = opens_round(state, services.limits)
    seen = state.model_copy(update={"round": state.round + 1}) if opened else state
    decision = decide(seen, services.limits, services.seconds_left(), available(services), services.now())
    return {
        "round": seen.round,
        "iterations": state.iterations + 1,
        "current_node": ", ".join(decision.selected) or "finish",
        "planner_decisions": [decision],
    }


def available(services: Services) -> frozenset[AgentName]:
    """Agents that can be selected: web search needs its tool."""
    return frozenset(name for name in AGENTS if name != "web_search" or services.search is not None)


def agent_node(name: AgentName) -> Node:
    """The node of one agent."""
    agent = AGENTS[name]

    async def turn(state: BugTriageState, runtime: Runtime[Services]) -> Update:
        services = runtime.context
        trail = Trail(name, services, state.round, state.iterations)
        answered = await consult(agent, case_of(state), trail, by_rules=name in state.by_rules)
        update: Update = {"steps": trail.records}
        if answered.declined:
            return update | {"by_rules": [name]}
        update["answered_in_round"] = {name: state.round}
        if answered.answer is None:
            return update
        kept = keep(name, answered.answer, answered.engine, state, services)
        return update | kept

    return turn


def keep(
    name: AgentName, answer: AgentFindingBase, engine: Engine, state: BugTriageState, services: Services
) -> Update:
    """What the state keeps of an answer: the finding, the typed answer, and what follows from it."""
    update: Update = {}
    if isinstance(answer, CodebaseFinding):
        files, citations = held(answer.relevant_files, services.codebase.lines, services.codebase.paths())
        answer = answer.model_copy(update={"relevant_files": files})
        update["citations"] = citations
    if isinstance(answer, CritiqueFinding):
        update["critic_feedback"] = map_critique_to_verdict(answer)
        update["gaps"] = new_words(answer, engine, state)
    return update | {"findings": [AGENTS[name].finding(answer)], CHANNELS[name]: answer}


CHANNELS: dict[AgentName, str] = {
    "investigator": "investigation",
    "codebase_search": "codebase",
    "web_search": "web",
    "critic": "critique",
    "writer": "output",
}


def new_words(critique: CritiqueFinding, engine: Engine, state: BugTriageState) -> list[str]:
    """Search words of the gaps that were not searched for yet: names, or a model's whole sentence without any."""
    words = searchable(critique.gaps) or (critique.gaps if engine == "model" else [])
    searched = " ".join([state.reading.text, *state.gaps]).lower()
    return [word for word in words if word.lower() not in searched]


async def finish(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Put the report together and check every reference in it."""
    return {"report": assemble(state, runtime.context)}
