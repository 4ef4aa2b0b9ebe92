"""Critic: does the evidence support the findings?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.agents.agent import CONFIDENT_FROM, Agent, AgentResult
from triage.agents.cited_places import link_marks
from triage.agents.prompts import MAX_JUDGED_BODY_CHARS, format_bullets, format_findings, format_task, is_question
from triage.agents.services import Services
from triage.agents.shown_code import format_file, render_cited_code
from triage.agents.skill_prompts import SkillPrompts
from triage.base.threads import in_thread
from triage.domain.agent_input import AgentInput
from triage.domain.code import Excerpt, Place
from triage.domain.findings import AgentFinding, CodebaseFinding, CriticVerdict, CritiqueFinding, RelevantFile, Verdict
from triage.domain.value import Value
from triage.say.wording import LOW_CONFIDENCE

if TYPE_CHECKING:
    from triage.find.codebase import Codebase
    from triage.outside.model.chat_model import ChatModel


MAX_TOKENS = 1_200
MAX_GAPS, MAX_QUESTIONS = 4, 2
FOLLOWED_FROM = 0.7
"""From it on, the search says that it can follow the symptom to these lines: see its prompt."""
UNVERIFIED_PENALTY = -0.1
"""Added to the confidence when a cited location could not be verified."""


class CriticInput(Value):
    all_findings: list[AgentFinding]
    current_hypothesis: str
    codebase_evidence: list[str]
    """Each suspect with its location, and what the citation check said about it."""
    cited_code: str
    """The suspects' lines and what stands around them."""


def build_critic_input(agent_input: AgentInput, codebase: Codebase) -> CriticInput:
    """Return what the critic judges: the suspects, what the citation check refused, and what is left out."""
    verified = [f"{format_file(file)}: {file.relevance_reason}" for file in agent_input.relevant_files]
    refused = [f"REFUSED by the citation check: {reason}" for reason in agent_input.citations.refused]
    place = _find_left_out(agent_input)
    left_out = [f"The issue leads to {place.span.path} ({place.sign}), which is not named."] if place else []
    return CriticInput(
        all_findings=agent_input.findings,
        current_hypothesis=agent_input.hypothesis,
        codebase_evidence=[*verified, *refused, *left_out],
        cited_code=render_cited_code(agent_input.relevant_files, codebase),
    )


async def answer_with_model(
    agent_input: AgentInput, services: Services, model: ChatModel
) -> AgentResult[CritiqueFinding]:
    """Ask the main model whether the evidence supports the explanation."""
    critic_input = await in_thread(build_critic_input, agent_input, services.codebase)
    search = agent_input.code_finding  # which has a section of its own
    others = [one for one in critic_input.all_findings if one.agent_name != "codebase_search"]
    sections = format_task(agent_input, services, MAX_JUDGED_BODY_CHARS) | {
        # Before a critique it is the investigator's, which stands in the findings.
        "current hypothesis": critic_input.current_hypothesis if agent_input.critique else "",
        "other findings": format_findings(others),
        "explanation": _format_explanation(search, agent_input.excerpts) if search else "",
        "codebase evidence": format_bullets(critic_input.codebase_evidence),
        "cited code": critic_input.cited_code,
        "looked up": format_bullets([one.call for one in agent_input.looked_up]),
    }
    skills = await in_thread(SkillPrompts, agent_input, services)
    chain = model.structured_output(CritiqueFinding, "main", MAX_TOKENS)
    answer = await skills.ask(chain.ainvoke, skills.build_messages("critic", sections))
    return AgentResult(_correct_answer(answer), skills.shortfalls, skills=skills.tiers)


def _format_explanation(search: CodebaseFinding, excerpts: Sequence[Excerpt]) -> str:
    text = f"{search.summary}\n{search.why}\nIdea for a fix: {search.fix_idea}"
    return f"Confidence {search.confidence:.2f}: {link_marks(text, excerpts)[0]}\nReasoning: {search.reasoning}"


def _correct_answer(answer: CritiqueFinding) -> CritiqueFinding:
    """Return the answer with the fields that code sets, and at most as many gaps and questions as are used."""
    is_confirmed = answer.verdict == "CONFIRMED"
    questions = [one for one in answer.questions_for_reporter if is_question(one)]
    return answer.model_copy(
        update={
            "agent_name": "critic",
            "ready_for_report": is_confirmed,
            "gaps": answer.gaps[:MAX_GAPS],
            "questions_for_reporter": [] if is_confirmed else questions[:MAX_QUESTIONS],
            "confidence_adjustment": 0.0,
        }
    )


def can_change_something(agent_input: AgentInput) -> bool:
    """Return whether a model's verdict can change what is said where nobody asked for the run.

    It cannot if the cause is too unsure to be said, or if the symptom can be followed without a critic.
    """
    search = agent_input.code_finding
    speaks = search is not None and bool(search.why.strip()) and search.confidence >= LOW_CONFIDENCE
    can_speak = agent_input.searched_by_model and bool(agent_input.relevant_files) and speaks
    return can_speak and not _is_sure_without_critic(agent_input)


def _is_sure_without_critic(agent_input: AgentInput) -> bool:
    """Return whether a model can follow the symptom to its lines at once.

    All of its citations hold, and it names the file to which the issue itself leads.
    """
    search = agent_input.code_finding
    if not agent_input.searched_by_model or search is None or not agent_input.relevant_files or agent_input.round > 1:
        return False
    holds = 0 < agent_input.citations.total == agent_input.citations.verified
    return search.confidence >= FOLLOWED_FROM and holds and _find_left_out(agent_input) is None


def _find_left_out(agent_input: AgentInput) -> Place | None:
    """Return the place to which the issue itself leads, if neither the suspects nor the explanation name its file."""
    place, search = agent_input.best_place, agent_input.code_finding
    named = link_marks(search.why, agent_input.excerpts)[1] if search else []
    paths = {file.path for file in agent_input.relevant_files} | {one.path for one in named}
    return None if place is None or place.span.path in paths else place


async def answer_with_rules(agent_input: AgentInput, _: Services) -> CritiqueFinding:
    """Judge whether a trace ends in the first suspect, every citation is verified, and the first suspect stands out."""
    files = agent_input.relevant_files
    ends = {place.span.path for place in agent_input.places if place.sign == "trace"}
    in_trace = bool(files) and files[0].path in ends
    confident = agent_input.code_finding is not None and agent_input.code_finding.confidence >= CONFIDENT_FROM
    refused = agent_input.citations.total - agent_input.citations.verified
    is_confirmed = _is_sure_without_critic(agent_input) or (in_trace and confident and not refused)
    verdict: Verdict = "CONFIRMED" if is_confirmed else "UNCERTAIN"
    if not files:
        verdict = "CHALLENGED"
    return CritiqueFinding(
        agent_name="critic",
        summary=_summarize(verdict, files, in_trace=in_trace),
        confidence=0.7,
        reasoning="Judged by rules: does a stack trace end in the first suspect, does every citation hold, how far "
        "does the first suspect stand out.",
        error=None,
        verdict=verdict,
        # The search's confidence includes traces, names and the distance to the next file already.
        confidence_adjustment=UNVERIFIED_PENALTY if refused else 0.0,
        gaps=[],
        questions_for_reporter=[],
        revised_hypothesis=None,
        ready_for_report=verdict == "CONFIRMED",
    )


def _summarize(verdict: Verdict, files: Sequence[RelevantFile], *, in_trace: bool) -> str:
    if not files:
        return "No file of the repository could be tied to what the issue describes."
    trace = ", and the stack trace ends in it" if in_trace else ""
    holds = "every citation holds" if verdict == "CONFIRMED" else "not everything fits"
    return f"{files[0].path} fits the issue best{trace}: {holds}."


def map_critique_to_verdict(raw: CritiqueFinding) -> CriticVerdict:
    """Return the verdict that the supervisor routes on: approved only when confirmed and ready for the report."""
    approved = raw.verdict == "CONFIRMED" and raw.ready_for_report
    gaps = [] if approved else raw.gaps
    return CriticVerdict(
        verdict="APPROVED" if approved else "REJECTED",
        gaps=gaps,
        required_evidence=gaps,
        confidence=max(0.0, min(1.0, 0.5 + raw.confidence_adjustment)),
    )


_CODE_LIKE = re.compile(r"`([^`\n]{2,80})`|\b([A-Za-z]\w*(?:[_.]\w+)+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)\b")


def extract_search_terms(gaps: Sequence[str]) -> list[str]:
    """Return names in the critic's gaps that a code search can use, in order, without repeats."""
    names = [match[1] or match[2] for gap in gaps for match in _CODE_LIKE.finditer(gap)]
    return list(dict.fromkeys(names))


AGENT = Agent(
    name="critic",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    get_details=lambda answer: (
        answer.revised_hypothesis or f"Verdict: {answer.verdict}. Gaps: {'; '.join(answer.gaps) or 'none'}"
    ),
    list_references=lambda answer: answer.gaps,
)
