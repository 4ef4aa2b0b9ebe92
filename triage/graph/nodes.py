"""The nodes of the graph, and what the state keeps of an agent's answer."""

from collections.abc import Awaitable
from typing import Any, Protocol

from langgraph.runtime import Runtime

from triage.agents.critic import extract_search_terms, map_critique_to_verdict
from triage.agents.registry import AGENTS
from triage.citations.verify import verify_files
from triage.domain.findings import AgentFindingBase, AgentName, CodebaseFinding, CritiqueFinding
from triage.domain.issue import Issue, IssueComment, Reading
from triage.domain.report import Round
from triage.domain.run import Engine
from triage.graph.finish import build_report
from triage.graph.planner import decide
from triage.graph.routing import RemainingBudget, should_open_round
from triage.graph.step_runner import StepRecorder, run_agent, run_attempt
from triage.graph.triage_state import BugTriageState, build_agent_input
from triage.ports import Services
from triage.reading.markdown.visible_text import extract_visible_page
from triage.reading.read_issue import read_issue
from triage.threads import run_in_daemon_thread

Update = dict[str, Any]


class Node(Protocol):
    def __call__(self, state: BugTriageState, runtime: Runtime[Services]) -> Awaitable[Update]: ...


INDEX_SHARE = 0.6
"""Of the run's time; the rest is for the agents."""
ANSWER_FIELDS: dict[AgentName, str] = {
    "investigator": "investigation",
    "codebase_search": "codebase",
    "web_search": "web",
    "critic": "critique",
    "writer": "output",
}


async def prepare(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Read the issue as a person sees it, and index the repository."""
    services = runtime.context
    recorder = StepRecorder("prepare", services)
    seconds = max(1.0, services.seconds_left() * INDEX_SHARE)
    indexing = await run_attempt(
        recorder, "rules", lambda: run_in_daemon_thread(services.codebase.index), lambda _: None, seconds
    )
    facts = indexing.result
    reading, thread = read_visible_issue(build_agent_input(state).issue)
    return {
        "reading": reading,
        "human_exchanges": thread,
        "index": facts,
        "repository": state.repository.model_copy(update={"commit": facts.commit if facts else None}),
        "steps": recorder.records,
    }


def read_visible_issue(issue: Issue) -> tuple[Reading, list[IssueComment]]:
    """Read the issue and its thread as people see them on the page.

    Returns:
        The reading, which includes the author's own comments and counts all hidden fragments; and the comments of
        other people.
    """
    reading = read_issue(issue)
    others = [comment for comment in issue.thread if not comment.by_bot and comment.author != issue.author]
    pages = [extract_visible_page(comment.body) for comment in others]
    hidden = reading.hidden_fragments + sum(page.hidden_fragments for page in pages)
    thread = [comment.model_copy(update={"body": page.text}) for comment, page in zip(others, pages, strict=True)]
    return reading.model_copy(update={"hidden_fragments": hidden}), thread


async def supervisor(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Decide which agents run next. The only node that writes `iterations`, `round` and `current_node`."""
    services = runtime.context
    spent = services.model.usage + services.model.reused if services.model else None
    available = frozenset(name for name in AGENTS if name != "web_search" or services.web_tools is not None)
    bounds = RemainingBudget(services.limits, services.seconds_left(), available, spent)
    if should_open_round(state, bounds):
        state = state.model_copy(update={"round": state.round + 1})
    recorder = StepRecorder("supervisor", services, state.round, state.iterations + 1)
    decision = await decide(state, bounds, recorder)
    services.progress.detail(decision.log_line)
    return {
        "round": state.round,
        "iterations": state.iterations + 1,
        "current_node": ", ".join(decision.selected),
        "planner_decisions": [decision],
        "steps": recorder.records,
    }


def make_agent_node(name: AgentName) -> Node:
    agent = AGENTS[name]

    async def run(state: BugTriageState, runtime: Runtime[Services]) -> Update:
        services = runtime.context
        level = state.planner_decisions[-1].rung
        recorder = StepRecorder(name, services, state.round, state.iterations, level)
        answer, engine = await run_agent(agent, build_agent_input(state), recorder, by_rules=name in state.by_rules)
        update: Update = {"steps": recorder.records}
        if answer is not None and answer.error is not None:
            return update | {"by_rules": [name]}
        update["answered_in_round"] = {name: state.round}
        if name == "critic":
            update["rounds"] = [_summarize_round(state, answer)]
        if answer is not None:
            return update | _update_from_answer(name, answer, engine, state, services)
        # An earlier rejection says nothing about what was found since.
        return update | ({"critic_feedback": None, "gaps": []} if name == "critic" else {})

    return run


def _summarize_round(state: BugTriageState, critique: AgentFindingBase | None) -> Round:
    searches = [finding.relevant_files for finding in state.findings if finding.agent_name == "codebase_search"]
    if state.answered_in_round.get("codebase_search") == state.round:
        searches = searches[:-1]
    earlier = {path for paths in searches for path in paths}
    found = [file.path for file in state.codebase.relevant_files] if state.codebase else []
    return Round(
        number=state.round,
        searched_for=state.gaps,
        added=[path for path in dict.fromkeys(found) if path not in earlier],
        verdict=critique.verdict if isinstance(critique, CritiqueFinding) else None,
    )


def _update_from_answer(
    name: AgentName, answer: AgentFindingBase, engine: Engine, state: BugTriageState, services: Services
) -> Update:
    update: Update = {}
    if isinstance(answer, CodebaseFinding):
        files, update["citations"] = verify_files(
            answer.relevant_files, services.codebase.read_lines, services.codebase.list_paths()
        )
        answer = answer.model_copy(update={"relevant_files": files})
    if isinstance(answer, CritiqueFinding):
        answer = require_verified_citation(answer, state.citations.verified)
        update["critic_feedback"] = map_critique_to_verdict(answer)
        update["gaps"] = _find_new_search_terms(answer, engine, state)
    return update | {"findings": [AGENTS[name].to_finding(answer)], ANSWER_FIELDS[name]: answer}


def require_verified_citation(critique: CritiqueFinding, verified: int) -> CritiqueFinding:
    """Return the critique, whose `CONFIRMED` becomes `UNCERTAIN` when no reference into the code was verified."""
    if critique.verdict != "CONFIRMED" or verified:
        return critique
    gap = "No reference into the code could be verified."
    update = {"verdict": "UNCERTAIN", "ready_for_report": False, "gaps": [gap, *critique.gaps]}
    return critique.model_copy(update=update)


def _find_new_search_terms(critique: CritiqueFinding, engine: Engine, state: BugTriageState) -> list[str]:
    # Names in the gaps. A gap without any is searched for whole when a model wrote it; rules write fixed sentences.
    terms = extract_search_terms(critique.gaps) or (critique.gaps if engine == "model" else [])
    keywords = state.investigation.keywords_for_search if state.investigation else []
    searched = " ".join([state.reading.text, *keywords, *state.gaps]).lower()
    return [term for term in terms if term.lower() not in searched]


async def finish(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    return {"report": build_report(state, runtime.context)}
