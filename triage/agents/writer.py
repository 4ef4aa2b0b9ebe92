"""Writer: three drafts side by side (report, comment, ticket), merged into one output."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableLambda

from triage.agents.agent import Agent, AgentAnswer, to_agent_finding
from triage.agents.prompt_sections import format_findings, format_instructions, format_issue
from triage.agents.prompts import build_messages, format_bullets
from triage.agents.report_templates import fill_report_template, fill_ticket_template, normalize_ticket
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFinding, TriageReport, WriterOutput
from triage.errors import CostLimitExceeded, TriageError
from triage.ports import Model, Services

T = TypeVar("T")

REPORT_TOKENS = 3_000
COMMENT_TOKENS = 800
TICKET_TOKENS = 300
DRAFT_COUNT = 3


async def answer_with_model(case: AgentInput, services: Services, model: Model) -> AgentAnswer[WriterOutput]:
    """Three sub-chains in parallel, each with its own retry, fallback and twin: one that fails costs only itself.

    Raises:
        TriageError: All three failed; this is the first one's reason.
    """
    shortfalls: list[str] = []
    failures: list[TriageError] = []
    owners = _list_owners(case, services)
    parts = _build_sections(case, services, owners)

    async def draft(name: str, chain: Callable[[Model], Runnable[Any, T]], twin: Callable[[], T]) -> T:
        try:
            try:
                return await chain(model).ainvoke(build_messages(name, parts))
            except CostLimitExceeded as error:
                answer = await chain(model.with_fast_model()).ainvoke(build_messages(name, parts))
                shortfalls.append(f"{name}: {error}; the fast model wrote it")
                return answer
        except TriageError as error:
            failures.append(error)
            shortfalls.append(f"{name}: {error}; written by rules")
            return twin()

    def ticket_chain(view: Model) -> Runnable[Any, dict[str, Any]]:
        return view.json_output("main", TICKET_TOKENS) | RunnableLambda(lambda raw: normalize_ticket(raw, case, owners))

    report, comment, ticket = await asyncio.gather(
        draft(
            "report",
            lambda view: view.structured_output(TriageReport, "main", REPORT_TOKENS),
            partial(fill_report_template, case),
        ),
        draft("comment", lambda view: view.text_output("main", COMMENT_TOKENS), str),
        draft("ticket", ticket_chain, lambda: fill_ticket_template(case, owners)),
    )
    if len(failures) == DRAFT_COUNT:
        raise failures[0]
    merged = merge_writer_outputs({"report": report, "comment": comment, "ticket": ticket})
    return AgentAnswer(merged, shortfalls)


async def answer_with_rules(case: AgentInput, services: Services) -> WriterOutput:
    """Templates over the findings; there is no prose of a model to show."""
    ticket = fill_ticket_template(case, _list_owners(case, services))
    return merge_writer_outputs({"report": fill_report_template(case), "comment": "", "ticket": ticket})


def _list_owners(case: AgentInput, services: Services) -> list[str]:
    """Who CODEOWNERS names for the first suspect, or whom the project's own settings name instead."""
    files = case.codebase.relevant_files if case.codebase else []
    owners = services.codebase.find_owners(files[0].path) if files else []
    return list(dict.fromkeys(map(services.config.resolve_assignee, owners)))


def _build_sections(case: AgentInput, services: Services, owners: list[str]) -> dict[str, str]:
    suspects = case.codebase.relevant_files if case.codebase else []
    told = {label: services.config.label_description(label) for label in case.repository.labels}
    return format_issue(case) | {
        **format_instructions(services),
        "repository": case.repository.slug,
        "all findings": format_findings(case.findings),
        "suspects": format_bullets([file.model_dump_json() for file in suspects]),
        "missing information": format_bullets(
            [
                asked.model_dump_json()
                for asked in (case.investigation.missing_information if case.investigation else [])
            ]
        ),
        "critic's verdict": case.critique.model_dump_json() if case.critique else "",
        "citation check": f"{case.citations.verified} of {case.citations.total} references verified",
        "confidence": f"{case.confidence:.2f}",
        "labels of the project": format_bullets(case.repository.labels),
        "when a label fits": format_bullets([f"{label}: {said}" for label, said in told.items() if said]),
        "owners of the first suspect": ", ".join(owners),
    }


def merge_writer_outputs(parallel_output: dict[str, Any]) -> WriterOutput:
    """Merge the three drafts.

    Args:
        parallel_output: `report` (TriageReport), `comment` (str) and `ticket` (dict with `title`, `labels`,
            `assignee` and `effort`, already normalised).
    """
    report: TriageReport = parallel_output["report"]
    ticket: dict[str, Any] = parallel_output["ticket"]
    return WriterOutput(
        agent_name="writer",
        summary=f"Triage complete: {report.severity} severity",
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


def to_finding(answer: WriterOutput) -> AgentFinding:
    """The summary; a writer points at no file of its own."""
    return to_agent_finding(answer, answer.summary, [])


def check_answer(answer: WriterOutput, case: AgentInput, services: Services) -> str | None:
    """A report without a summary or a cause is none."""
    if not answer.report.summary.strip() or not answer.report.root_cause.strip():
        return "the report lacks its summary or root cause"
    return None


AGENT = Agent(
    name="writer",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    to_finding=to_finding,
    check_answer=check_answer,
)
