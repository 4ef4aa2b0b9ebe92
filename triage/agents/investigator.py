"""Investigator: what the issue itself says, before anybody looks at the code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from triage.agents.agent import Agent, AgentResult
from triage.agents.prompts import add_pictures, format_bullets, format_task, is_question
from triage.agents.report_templates import summarize
from triage.agents.services import Services
from triage.agents.skill_prompts import SkillPrompts
from triage.base.threads import in_thread
from triage.domain.agent_input import AgentInput
from triage.domain.code import SearchQuery
from triage.domain.findings import InvestigatorFinding, MissingInformation
from triage.domain.issue import ParsedIssue
from triage.read.issue_forms import find_form_kind, find_used_forms, parse_forms
from triage.read.questions import (
    MAX_QUESTIONS,
    RUST_MANIFEST,
    ask_rust_version,
    asks_for_help,
    find_missing_information,
    speaks_of_failure,
)
from triage.read.reporter_language import get_phrases

if TYPE_CHECKING:
    from triage.find.codebase import Codebase
    from triage.outside.model.chat_model import ChatModel


MAX_TOKENS = 1_500
MAX_KEYWORDS = 12
MAX_PATHS = 25
"""Of ten bugs of six projects with their file at rank 2 to 19, keywords that a person chose without paths put it first
in four (mean reciprocal rank 0.60), and with the 25 likeliest paths in five (0.68)."""
_LIBRARY_PATH = re.compile(r"[/\\](?:lib[/\\]python[\d.]*|node_modules|\.cargo)[/\\]((?:site|dist)-packages[/\\])?")


async def answer_with_model(
    agent_input: AgentInput, services: Services, model: ChatModel
) -> AgentResult[InvestigatorFinding]:
    """Ask the fast model for what rules cannot read: a hypothesis, words that the code may have, questions."""
    hits = await in_thread(services.codebase.search, SearchQuery(parsed=agent_input.parsed), MAX_PATHS)
    likeliest = {"likeliest files": format_bullets([hit.path for hit in hits])}
    skills = await in_thread(SkillPrompts, agent_input, services)
    chain = model.structured_output(InvestigatorFinding, "fast", MAX_TOKENS)
    messages = skills.build_messages("investigator", format_task(agent_input, services) | likeliest)
    messages = add_pictures(messages, [one.picture for one in agent_input.issue.attachments if one.picture])
    answer = await skills.ask(chain.ainvoke, messages)
    by_rules = await answer_with_rules(agent_input, services)
    corrected = by_rules.model_copy(
        update={
            "summary": answer.summary or by_rules.summary,
            "confidence": answer.confidence,
            "reasoning": answer.reasoning,
            "error": answer.error,
            "hypothesis": answer.hypothesis,
            "keywords_for_search": answer.keywords_for_search[:MAX_KEYWORDS],
            "kind": by_rules.kind or answer.kind,
            "missing_information": [one for one in answer.missing_information if is_question(one.question)],
        }
    )
    return AgentResult(corrected, skills.shortfalls, skills=skills.tiers)


async def answer_with_rules(agent_input: AgentInput, services: Services) -> InvestigatorFinding:
    """Return what stands in the issue: the error as the hypothesis, names as keywords, and what is missing."""
    parsed = agent_input.parsed
    questions = await in_thread(list_questions, agent_input, services.codebase)
    names = _list_names(parsed, services.codebase)
    areas = names[:6]
    exceptions = [trace.exception for trace in parsed.traces if trace.exception]
    return InvestigatorFinding(
        agent_name="investigator",
        summary=summarize(parsed),
        confidence=_estimate_confidence(parsed),
        reasoning="Read off the text by rules: stack traces, error lines, names that look like code.",
        error=None,
        hypothesis=summarize(parsed) if parsed.error_messages else f"What is reported is: {parsed.title}",
        affected_areas=areas,
        keywords_for_search=list(dict.fromkeys([*areas, *exceptions, *names]))[:MAX_KEYWORDS],
        error_messages=parsed.error_messages,
        kind=agent_input.kind_by_rules,
        missing_information=questions,
    )


def _list_names(parsed: ParsedIssue, codebase: Codebase) -> list[str]:
    """Return names of own functions in stack traces, then of other code in the issue, but of no library."""
    own: list[str] = []
    foreign: set[str] = set()
    for frame in (frame for trace in parsed.traces for frame in reversed(trace.frames)):
        library = _LIBRARY_PATH.search(frame.path)
        # The project may be an installed package.
        if codebase.resolve_path(frame.path) and (library is None or library[1]):
            own.append(frame.function or "")
        elif library:
            foreign |= {frame.function or "", *re.split(r"[/\\]|\.\w+$", frame.path)}
    return list(dict.fromkeys([*filter(None, own), *(name for name in parsed.identifiers if name not in foreign)]))


def list_questions(agent_input: AgentInput, codebase: Codebase) -> list[MissingInformation]:
    """Return what rules ask the reporter; who belongs to the project knows what it needs."""
    if agent_input.issue.by_member:
        return []
    parsed, kind, forms = agent_input.parsed, agent_input.kind_by_rules, codebase.project.forms
    if kind == "not_actionable":
        # Who sends an empty form has begun to report something; an advertisement has not.
        used, phrases = find_used_forms(parse_forms(forms), parsed), get_phrases(parsed.language)
        if not used and not asks_for_help(parsed, forms):
            return []
        question = phrases.ask_wish if find_form_kind(used) == "feature_request" else phrases.ask_everything
        return [MissingInformation(kind="actual", question=question, reason="The report is too short to act on.")]
    if kind != "bug" and not (kind is None and speaks_of_failure(parsed, forms)):
        return []
    manifest = "\n".join(codebase.read_lines(RUST_MANIFEST) or ())
    asked = find_missing_information(parsed, forms, agent_input.repository.slug)
    return [*ask_rust_version(parsed, manifest), *asked][:MAX_QUESTIONS]


def _estimate_confidence(parsed: ParsedIssue) -> float:
    # These values are a judgement, not measured. The codebase search replaces them.
    if any(trace.frames for trace in parsed.traces):
        return 0.6
    if parsed.error_messages:
        return 0.45
    return 0.35 if parsed.identifiers or parsed.paths else 0.2


AGENT = Agent(
    name="investigator",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    get_details=lambda answer: answer.hypothesis,
    list_references=lambda answer: answer.affected_areas,
    check_answer=lambda answer, _: None if answer.hypothesis.strip() else "the hypothesis is empty",
)
