"""All agents by name. A new agent needs a module, a line here, and its place in `graph/routing.py`."""

from typing import Any

from triage.agents import codebase_search, critic, investigator, web_search, writer
from triage.agents.agent import Agent
from triage.domain.findings import AgentName

AGENTS: dict[AgentName, Agent[Any]] = {
    agent.name: agent
    for agent in (investigator.AGENT, codebase_search.AGENT, web_search.AGENT, critic.AGENT, writer.AGENT)
}
