"""The first nodes of the fix flow: what is asked for, which modules may change, and which code is shown."""

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, ParsedIssue
from triage.domain.proposal import AffectedModule, ModuleSummary
from triage.fix.fix_answers import TicketClass
from triage.fix.graph.ask_model import (
    MAX_CRITERIA,
    MAX_FILES,
    check_choice,
    choose_by_rules,
    choose_with_model,
    classify_by_rules,
    classify_with_model,
    select_modules,
)
from triage.fix.graph.fix_state import FixContext, FixState, RetrievedPassage
from triage.fix.patch.path_rules import is_below
from triage.graph.step_runner import Step
from triage.issue.read_issue import read_issue_and_thread

Update = dict[str, Any]

PASSAGES_PER_MODULE = 4
MAX_PASSAGES = 10
SEARCHED_FILES = 60
NO_MODEL = "A fix needs a model: set model-api-key, or model-base-url for an endpoint of your own."
SECURITY = "The issue may report a vulnerability. A fix is not proposed in public; use a private advisory."
NO_COMMIT = "There is no commit to start from: check out the repository with git."


async def fetch_ticket(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Read the issue, and triage it if nobody has."""
    context = runtime.context
    if context.services.model is None:
        return {"error": NO_MODEL}
    try:
        report = state.report
        if report is None and context.triage is not None:
            report = await context.triage(state.issue, state.repository)
        parsed, thread = await in_thread(read_issue_and_thread, state.issue)
    except TriageError as error:
        return {"error": f"Failed to fetch ticket: {error}"}
    if report is not None and report.security:
        return {"error": SECURITY, "report": report}
    if not context.base_files.commit:
        return {"error": NO_COMMIT, "report": report}
    return {
        "report": report,
        "parsed": parsed,
        "issue": state.issue.model_copy(update={"thread": thread}),
        "repository": state.repository.model_copy(update={"commit": context.base_files.commit}),
        **_describe_ticket(state.issue, parsed),
        "messages": [f"Read issue {_name(state.issue)}."],
    }


def _describe_ticket(issue: Issue, parsed: ParsedIssue) -> Update:
    return {
        "ticket_key": _name(issue),
        "ticket_summary": parsed.title,
    }


def _name(issue: Issue) -> str:
    return f"#{issue.number}" if issue.number else "from a file"


async def classify_ticket(state: FixState, runtime: Runtime[FixContext]) -> Update:
    services = runtime.context.restricted_services
    step = Step("classify_ticket", services)
    model = services.model
    found: TicketClass | None = None
    if model is not None:
        attempt = await step.attempt(
            "model",
            lambda: classify_with_model(state, services, model),
            services.agent_seconds(),
            lambda answer: answer.error,
        )
        found = attempt.result if not attempt.error else None
    found = found or classify_by_rules(state)
    return {
        "ticket_type": found.confirmed_type,
        "technical_summary": found.technical_summary or state.ticket_summary,
        "acceptance_criteria": found.acceptance_criteria[:MAX_CRITERIA],
        "steps": step.records,
        "messages": [f"Classified as {found.confirmed_type}."],
    }


async def identify_modules(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Decide which modules may change. The patch checks enforce it."""
    context = runtime.context
    services = context.restricted_services
    step = Step("identify_modules", services)
    modules = await in_thread(context.list_modules)
    model, choice = services.model, None
    if model is not None and len(modules) > 1:
        attempt = await step.attempt(
            "model",
            lambda: choose_with_model(state, services, model, modules),
            services.agent_seconds(),
            lambda answer: answer.error or check_choice(answer, modules),
        )
        choice = attempt.result if not attempt.error else None
    choice = choice or choose_by_rules(state, modules)
    chosen = select_modules(choice, modules) or _only_module(modules)
    if not chosen:
        return {
            "steps": step.records,
            "error": "No module that the change belongs to could be named.",
        }
    known = [path for file in choice.files_likely_to_change if (path := services.codebase.resolve_path(file))]
    return {
        "affected_modules": chosen,
        "affected_files": list(dict.fromkeys(known))[:MAX_FILES],
        "steps": step.records,
        "messages": [f"Modules that may change: {', '.join(module.name for module in chosen)}."],
    }


def _only_module(modules: Sequence[ModuleSummary]) -> list[AffectedModule]:
    return [AffectedModule(name=modules[0].name, reason="It is the only module.")] if len(modules) == 1 else []


async def retrieve_context(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Find the passages of the modules that share most with the issue."""
    context = runtime.context
    query = SearchQuery(parsed=state.parsed, keywords=[state.technical_summary])
    found = await in_thread(_find_passages, context, query, state.affected_modules)
    return {
        "retrieved_chunks": found,
        "messages": [
            f"{one.passage.span.path}:{one.passage.span.start} (similarity: {one.similarity:.2f})" for one in found
        ],
    }


def _find_passages(context: FixContext, query: SearchQuery, chosen: Sequence[AffectedModule]) -> list[RetrievedPassage]:
    by_name = {module.name: module for module in context.list_modules()}
    hits = context.services.codebase.search(query, SEARCHED_FILES)
    found: list[RetrievedPassage] = []
    for one in chosen:
        inside = [hit for hit in hits if any(is_below(hit.path, place) for place in by_name[one.name].paths)]
        passages = [
            RetrievedPassage(passage=passage, similarity=hit.score) for hit in inside for passage in hit.passages
        ]
        found += passages[:PASSAGES_PER_MODULE]
    return sorted(found, key=lambda one: -one.similarity)[:MAX_PASSAGES]
