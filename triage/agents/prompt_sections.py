"""The case as parts of a prompt."""

from itertools import pairwise

from triage.agents.prompts import cut, format_bullets
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFinding
from triage.ports import Services

MAX_BODY_CHARS = 16_000
"""Of the issue's text: about 5,000 tokens; nine of ten issues have less than 4,000 characters (measured)."""
MAX_THREAD_CHARS = 8_000


def format_issue(case: AgentInput) -> dict[str, str]:
    """Title and visible body with the author's further comments, and what others said in the thread."""
    thread = "\n\n".join(f"{said.author}: {said.body}" for said in case.issue.thread)
    return {
        "issue title": cut(case.reading.title, 500),
        "issue body": cut(case.reading.body, MAX_BODY_CHARS),
        "issue thread": cut(thread, MAX_THREAD_CHARS),
    }


def format_instructions(services: Services) -> dict[str, str]:
    """The maintainers' instructions. Not for a prompt whose answer is sent out: they may be as private as the code."""
    return {"project's instructions": services.config.instructions.strip()}


def format_findings(findings: list[AgentFinding]) -> str:
    """What the agents found so far, a paragraph each."""
    return "\n\n".join(
        f"{finding.agent_name} (confidence {finding.confidence:.2f}): {finding.summary}\n{finding.details}"
        + (f"\nPoints at:\n{format_bullets(finding.relevant_files)}" if finding.relevant_files else "")
        for finding in findings
    )


def choose_hypothesis(case: AgentInput) -> str:
    """The best one so far: the critic's revision, else the investigator's."""
    if case.critique and case.critique.revised_hypothesis:
        return case.critique.revised_hypothesis
    return case.investigation.hypothesis if case.investigation else ""


def find_traceback_lines(case: AgentInput, path: str) -> list[str]:
    """Lines of code that the issue shows right below a line with the file's name, as Python's stack traces do."""
    name = path.rpartition("/")[2]
    return [below.strip() for above, below in pairwise(case.reading.body.splitlines()) if name in above]
