"""Writer: the report, a model's explanation of the cause, and a ticket, from what the agents found.

A model is asked for the ticket alone, where there are labels: no model rewrites what another one has written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage.agents.agent import Agent, AgentResult
from triage.agents.cited_places import build_model_explanation
from triage.agents.prompts import format_bullets, format_task
from triage.agents.report_templates import fill_report_template, fill_ticket_template, normalize_ticket
from triage.agents.services import Services
from triage.agents.skill_prompts import SkillPrompts
from triage.base.errors import InvalidAnswer
from triage.base.threads import in_thread
from triage.domain.agent_input import AgentInput
from triage.domain.findings import TicketDraft
from triage.domain.report import TriageReport, WriterOutput

if TYPE_CHECKING:
    from triage.outside.model.chat_model import ChatModel


ANSWER_TOKENS = 600
MAX_BODY_CHARS = 3_000


async def answer_with_model(agent_input: AgentInput, services: Services, model: ChatModel) -> AgentResult[WriterOutput]:
    """Ask the fast model for the ticket."""
    owners = await in_thread(_list_owners, agent_input, services)
    skills = await in_thread(SkillPrompts, agent_input, services)
    messages = skills.build_messages("ticket", _build_prompt_sections(agent_input, services, owners))
    chain = model.structured_output(TicketDraft, "fast", ANSWER_TOKENS)
    draft = await chain.ainvoke(messages)
    if not draft.labels and not draft.title:
        raise InvalidAnswer("the ticket is empty")
    ticket = normalize_ticket(draft, agent_input, owners)
    return AgentResult(_build_output(agent_input, ticket), skills.shortfalls, skills=skills.tiers)


async def answer_with_rules(agent_input: AgentInput, services: Services) -> WriterOutput:
    """Return the report and the ticket from templates, without a model's explanation of the cause."""
    return _build_output(agent_input, fill_ticket_template(agent_input, _list_owners(agent_input, services)))


def has_labels_to_choose(agent_input: AgentInput) -> bool:
    """Return whether a model has anything to choose for the ticket: labels of the repository."""
    return bool(agent_input.repository.labels)


def _build_output(agent_input: AgentInput, ticket: dict[str, Any]) -> WriterOutput:
    explanation = build_model_explanation(agent_input)
    comment = explanation.as_text() if explanation else ""
    return merge_writer_outputs({"report": fill_report_template(agent_input), "comment": comment, "ticket": ticket})


def _list_owners(agent_input: AgentInput, services: Services) -> list[str]:
    suspects = agent_input.relevant_files
    owners = services.codebase.project.owners.find_owners(suspects[0].path) if suspects else []
    return list(dict.fromkeys(map(services.config.resolve_assignee, owners)))


def _build_prompt_sections(agent_input: AgentInput, services: Services, owners: list[str]) -> dict[str, str]:
    latest = {finding.agent_name: finding.summary for finding in agent_input.findings}
    return format_task(agent_input, services, MAX_BODY_CHARS) | {
        "kind of issue": (agent_input.kind or "uncertain").replace("_", " "),
        "findings": format_bullets([f"{name}: {summary}" for name, summary in latest.items()]),
        "suspects": format_bullets([file.path for file in agent_input.relevant_files]),
        "labels of the project": format_bullets(agent_input.repository.labels),
        "labels that may fit": format_bullets([f"{one.name}: {one.reason}" for one in agent_input.area_labels]),
        "owners of the first suspect": ", ".join(owners),
    }


def merge_writer_outputs(parallel_output: dict[str, Any]) -> WriterOutput:
    """Return the drafts as one output.

    Args:
        parallel_output: `report` (TriageReport), `comment` (str) and `ticket` (dict with `title`, `labels`,
            `assignee` and `effort`, already normalised).
    """
    report: TriageReport = parallel_output["report"]
    ticket: dict[str, Any] = parallel_output["ticket"]
    return WriterOutput(
        agent_name="writer",
        summary=f"Triage complete: {report.severity} severity" if report.severity else "Triage complete",
        confidence=report.confidence,
        reasoning="Merged from the report, comment and ticket drafts.",
        error=None,
        report=report,
        github_comment_markdown=parallel_output["comment"],
        ticket_title=ticket["title"],
        ticket_labels=ticket["labels"],
        ticket_assignee_suggestion=ticket.get("assignee") or "",
        ticket_effort_estimate=ticket.get("effort", "M"),
    )


AGENT = Agent(
    name="writer",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    get_details=lambda answer: answer.summary,
    list_references=lambda _: [],
)
