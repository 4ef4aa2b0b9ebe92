"""What an agent reads, as sections of a prompt."""

from itertools import pairwise

from triage.agents.prompts import cut, format_bullets
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFinding
from triage.ports import Services

MAX_BODY_CHARS = 16_000
"""About 5,000 tokens. Nine of ten issues have less than 4,000 characters (measured)."""
MAX_THREAD_CHARS = 8_000


def format_issue(agent_input: AgentInput) -> dict[str, str]:
    """Return title, visible body with the author's own comments, and the comments of others."""
    thread = "\n\n".join(f"{comment.author}: {comment.body}" for comment in agent_input.issue.thread)
    return {
        "issue title": cut(agent_input.reading.title, 500),
        "issue body": cut(agent_input.reading.body, MAX_BODY_CHARS),
        "issue thread": cut(thread, MAX_THREAD_CHARS),
    }


def format_instructions(services: Services) -> dict[str, str]:
    """Return the maintainers' instructions. They may be private: not for a prompt whose answer is sent out."""
    return {"project's instructions": services.config.instructions.strip()}


def format_findings(findings: list[AgentFinding]) -> str:
    return "\n\n".join(
        f"{finding.agent_name} (confidence {finding.confidence:.2f}): {finding.summary}\n{finding.details}"
        + (f"\nPoints at:\n{format_bullets(finding.relevant_files)}" if finding.relevant_files else "")
        for finding in findings
    )


def choose_hypothesis(agent_input: AgentInput) -> str:
    """Return the critic's revised hypothesis, else the investigator's."""
    if agent_input.critique and agent_input.critique.revised_hypothesis:
        return agent_input.critique.revised_hypothesis
    return agent_input.investigation.hypothesis if agent_input.investigation else ""


def find_traceback_lines(agent_input: AgentInput, path: str) -> list[str]:
    """Return lines that stand right below a line with the file's name, as in Python's stack traces."""
    name = path.rpartition("/")[2]
    return [below.strip() for above, below in pairwise(agent_input.reading.body.splitlines()) if name in above]
