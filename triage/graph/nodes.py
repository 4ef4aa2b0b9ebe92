"""The nodes: each agent's turn, what the state keeps of it, and the two ends of the run."""

from collections.abc import Awaitable
from typing import Any, Protocol

from langgraph.runtime import Runtime

from triage.agents.critic import extract_search_terms, map_critique_to_verdict
from triage.agents.registry import AGENTS
from triage.citations.verify import verify_files
from triage.domain.code import IndexFacts
from triage.domain.findings import AgentFindingBase, AgentName, CodebaseFinding, CritiqueFinding
from triage.domain.issue import Issue, IssueComment, Reading
from triage.domain.report import Round
from triage.domain.run import Engine, Usage
from triage.graph.finish import build_report
from triage.graph.planner import decide
from triage.graph.routing import Bounds, should_open_round
from triage.graph.step_runner import StepRecorder, run_agent, run_step
from triage.graph.triage_state import BugTriageState, build_agent_input
from triage.ports import Services
from triage.reading.markdown.visible_text import extract_visible_page
from triage.reading.read_issue import read_issue
from triage.threads import run_in_daemon_thread

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
    trail = StepRecorder("prepare", services)
    facts = await index_repository(trail)
    reading, thread = read_visible_issue(build_agent_input(state).issue)
    commit = facts.commit if facts else None
    return {
        "reading": reading,
        "human_exchanges": thread,
        "index": facts,
        "repository": state.repository.model_copy(update={"commit": commit}),
        "steps": trail.records,
    }


async def index_repository(trail: StepRecorder) -> IndexFacts | None:
    """Index the repository within its share of the time; none when that failed."""
    services = trail.services

    async def index() -> IndexFacts:
        return await run_in_daemon_thread(services.codebase.index)

    return await run_step(trail, index, max(1.0, services.seconds_left() * INDEX_SHARE))


def read_visible_issue(issue: Issue) -> tuple[Reading, list[IssueComment]]:
    """The issue and what other people said, as one sees them on the page; hidden pieces are counted together.

    The author's own comments are in the reading.
    """
    reading = read_issue(issue)
    others = [said for said in issue.thread if not said.by_bot and said.author != issue.author]
    shown = [extract_visible_page(said.body) for said in others]
    hidden = reading.hidden_fragments + sum(one.hidden_fragments for one in shown)
    thread = [said.model_copy(update={"body": one.text}) for said, one in zip(others, shown, strict=True)]
    return reading.model_copy(update={"hidden_fragments": hidden}), thread


async def supervisor(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Decide who is next. The only writer of iterations, round and current_node."""
    services = runtime.context
    bounds = compute_bounds(services)
    opened = should_open_round(state, bounds)
    seen = state.model_copy(update={"round": state.round + 1}) if opened else state
    trail = StepRecorder("supervisor", services, seen.round, state.iterations + 1)
    decision = await decide(seen, bounds, trail)
    services.progress.detail(decision.log_line)
    return {
        "round": seen.round,
        "iterations": state.iterations + 1,
        "current_node": ", ".join(decision.selected),
        "planner_decisions": [decision],
        "steps": trail.records,
        "spent": bounds.spent or Usage(),
    }


def compute_bounds(services: Services) -> Bounds:
    """What the run may still do."""
    spent = services.model.usage + services.model.reused if services.model else None
    return Bounds(services.limits, services.seconds_left(), list_available_agents(services), spent)


def list_available_agents(services: Services) -> frozenset[AgentName]:
    """Agents that can be selected: web search needs its tool."""
    return frozenset(name for name in AGENTS if name != "web_search" or services.web_tools is not None)


def make_agent_node(name: AgentName) -> Node:
    """The node of one agent."""
    agent = AGENTS[name]

    async def turn(state: BugTriageState, runtime: Runtime[Services]) -> Update:
        services = runtime.context
        rung = state.planner_decisions[-1].rung
        trail = StepRecorder(name, services, state.round, state.iterations, rung)
        answered = await run_agent(agent, build_agent_input(state), trail, by_rules=name in state.by_rules)
        update: Update = {"steps": trail.records}
        if answered.declined:
            return update | {"by_rules": [name]}
        update["answered_in_round"] = {name: state.round}
        if name == "critic":
            update["rounds"] = [summarize_round(state, answered.answer)]
        if answered.answer is None:
            # An earlier rejection says nothing about what was found since.
            return update | ({"critic_feedback": None, "gaps": []} if name == "critic" else {})
        kept = update_from_answer(name, answered.answer, answered.engine, state, services)
        return update | kept

    return turn


def summarize_round(state: BugTriageState, critique: AgentFindingBase | None) -> Round:
    """What the round that the critic ends has brought."""
    named = [found.relevant_files for found in state.findings if found.agent_name == "codebase_search"]
    now = [file.path for file in state.codebase.relevant_files] if state.codebase else []
    searched_now = state.answered_in_round.get("codebase_search") == state.round
    before = {path for paths in (named[:-1] if searched_now else named) for path in paths}
    return Round(
        number=state.round,
        searched_for=state.gaps,
        added=[path for path in dict.fromkeys(now) if path not in before],
        verdict=critique.verdict if isinstance(critique, CritiqueFinding) else None,
    )


def update_from_answer(
    name: AgentName, answer: AgentFindingBase, engine: Engine, state: BugTriageState, services: Services
) -> Update:
    """What the state keeps of an answer: the finding, the typed answer, and what follows from it."""
    update: Update = {}
    if isinstance(answer, CodebaseFinding):
        files, citations = verify_files(
            answer.relevant_files, services.codebase.read_lines, services.codebase.list_paths()
        )
        answer = answer.model_copy(update={"relevant_files": files})
        update["citations"] = citations
    if isinstance(answer, CritiqueFinding):
        answer = require_verified_citation(answer, state.citations.verified)
        update["critic_feedback"] = map_critique_to_verdict(answer)
        update["gaps"] = find_new_search_terms(answer, engine, state)
    return update | {"findings": [AGENTS[name].to_finding(answer)], ANSWER_FIELDS[name]: answer}


def require_verified_citation(critique: CritiqueFinding, verified: int) -> CritiqueFinding:
    """`Confirmed by the code` is said only when code was looked up and found: at least one citation holds."""
    if critique.verdict != "CONFIRMED" or verified:
        return critique
    gap = "No reference into the code could be verified."
    update = {"verdict": "UNCERTAIN", "ready_for_report": False, "gaps": [gap, *critique.gaps]}
    return critique.model_copy(update=update)


ANSWER_FIELDS: dict[AgentName, str] = {
    "investigator": "investigation",
    "codebase_search": "codebase",
    "web_search": "web",
    "critic": "critique",
    "writer": "output",
}


def find_new_search_terms(critique: CritiqueFinding, engine: Engine, state: BugTriageState) -> list[str]:
    """Search words of the gaps that were not searched for yet: names, or a model's whole sentence without any."""
    words = extract_search_terms(critique.gaps) or (critique.gaps if engine == "model" else [])
    asked = state.investigation.keywords_for_search if state.investigation else []
    searched = " ".join([state.reading.text, *asked, *state.gaps]).lower()
    return [word for word in words if word.lower() not in searched]


async def finish(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Put the report together and check every reference in it."""
    return {"report": build_report(state, runtime.context)}
