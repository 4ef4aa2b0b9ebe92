"""Writer: three drafts side by side (report, comment, ticket), merged into one output."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableLambda

from triage.agents.agent import Agent, Consulted, _to_agent_finding
from triage.agents.prompt_sections import findings_text, guidance, issue_parts
from triage.agents.prompts import bullets, conversation
from triage.agents.report_templates import report_by_rules, ticket_by_rules, ticket_of
from triage.domain.agent_input import Case
from triage.domain.findings import AgentFinding, TriageReport, WriterOutput
from triage.errors import DollarsSpent, TriageError
from triage.ports import Model, Services

T = TypeVar("T")

REPORT_TOKENS = 3_000
COMMENT_TOKENS = 800
TICKET_TOKENS = 300
DRAFTS = 3


async def by_model(case: Case, services: Services, model: Model) -> Consulted[WriterOutput]:
    """Three sub-chains in parallel, each with its own retry, fallback and twin: one that fails costs only itself.

    Raises:
        TriageError: All three failed; this is the first one's reason.
    """
    shortfalls: list[str] = []
    failures: list[TriageError] = []
    owners = _owners(case, services)
    parts = _parts(case, services, owners)

    async def draft(name: str, chain: Callable[[Model], Runnable[Any, T]], twin: Callable[[], T]) -> T:
        try:
            try:
                return await chain(model).ainvoke(conversation(name, parts))
            except DollarsSpent as error:
                answer = await chain(model.frugal()).ainvoke(conversation(name, parts))
                shortfalls.append(f"{name}: {error}; the fast model wrote it")
                return answer
        except TriageError as error:
            failures.append(error)
            shortfalls.append(f"{name}: {error}; written by rules")
            return twin()

    def ticket_chain(view: Model) -> Runnable[Any, dict[str, Any]]:
        return view.json_object("main", TICKET_TOKENS) | RunnableLambda(lambda raw: ticket_of(raw, case, owners))

    report, comment, ticket = await asyncio.gather(
        draft(
            "report", lambda view: view.structured(TriageReport, "main", REPORT_TOKENS), partial(report_by_rules, case)
        ),
        draft("comment", lambda view: view.text("main", COMMENT_TOKENS), str),
        draft("ticket", ticket_chain, lambda: ticket_by_rules(case, owners)),
    )
    if len(failures) == DRAFTS:
        raise failures[0]
    merged = merge_writer_outputs({"report": report, "comment": comment, "ticket": ticket})
    return Consulted(merged, shortfalls)


async def by_rules(case: Case, services: Services) -> WriterOutput:
    """Templates over the findings; there is no prose of a model to show."""
    ticket = ticket_by_rules(case, _owners(case, services))
    return merge_writer_outputs({"report": report_by_rules(case), "comment": "", "ticket": ticket})


def _owners(case: Case, services: Services) -> list[str]:
    """Who CODEOWNERS names for the first suspect, or whom the project's own settings name instead."""
    files = case.codebase.relevant_files if case.codebase else []
    owners = services.codebase.owners(files[0].path) if files else []
    return list(dict.fromkeys(map(services.config.stands_in, owners)))


def _parts(case: Case, services: Services, owners: list[str]) -> dict[str, str]:
    suspects = case.codebase.relevant_files if case.codebase else []
    told = {label: services.config.described(label) for label in case.repository.labels}
    return issue_parts(case) | {
        **guidance(services),
        "repository": case.repository.slug,
        "all findings": findings_text(case.findings),
        "suspects": bullets([file.model_dump_json() for file in suspects]),
        "missing information": bullets(
            [
                asked.model_dump_json()
                for asked in (case.investigation.missing_information if case.investigation else [])
            ]
        ),
        "critic's verdict": case.critique.model_dump_json() if case.critique else "",
        "citation check": f"{case.citations.verified} of {case.citations.total} references verified",
        "confidence": f"{case.confidence:.2f}",
        "labels of the project": bullets(case.repository.labels),
        "when a label fits": bullets([f"{label}: {said}" for label, said in told.items() if said]),
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


def finding(answer: WriterOutput) -> AgentFinding:
    """The summary; a writer points at no file of its own."""
    return _to_agent_finding(answer, answer.summary, [])


def objection(answer: WriterOutput, case: Case, services: Services) -> str | None:
    """A report without a summary or a cause is none."""
    if not answer.report.summary.strip() or not answer.report.root_cause.strip():
        return "the report lacks its summary or root cause"
    return None


AGENT = Agent(
    name="writer",
    powers=frozenset({"reads strangers", "sees code"}),
    by_model=by_model,
    by_rules=by_rules,
    finding=finding,
    objection=objection,
)
