"""The case as parts of a prompt."""

from triage.agents.prompts import bullets
from triage.domain.case import Case
from triage.domain.findings import AgentFinding


def issue_parts(case: Case) -> dict[str, str]:
    """Title, visible body and thread."""
    thread = [f"{said.author}: {said.body}" for said in case.issue.thread if not said.ours]
    return {"issue title": case.reading.title, "issue body": case.reading.body, "issue thread": "\n\n".join(thread)}


def findings_text(findings: list[AgentFinding]) -> str:
    """What the agents found so far, a paragraph each."""
    return "\n\n".join(
        f"{finding.agent_name} (confidence {finding.confidence:.2f}): {finding.summary}\n{finding.details}"
        + (f"\nPoints at:\n{bullets(finding.relevant_files)}" if finding.relevant_files else "")
        for finding in findings
    )


def hypothesis(case: Case) -> str:
    """The best one so far: the critic's revision, else the investigator's."""
    if case.critique and case.critique.revised_hypothesis:
        return case.critique.revised_hypothesis
    return case.investigation.hypothesis if case.investigation else ""
