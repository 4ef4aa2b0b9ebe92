"""Critic: does the evidence support the findings?"""

import re
from collections.abc import Sequence

from triage.agents.agent import CONFIDENT_FROM, Agent, AgentAnswer
from triage.agents.prompts import MAX_JUDGED_BODY_CHARS, format_bullets, format_findings, format_task, is_question
from triage.agents.shown_code import ReadLines, render_cited_code
from triage.agents.skill_prompts import SkillPrompts
from triage.base.threads import in_thread
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFinding, CriticVerdict, CritiqueFinding, RelevantFile, Verdict
from triage.domain.issue import Trace
from triage.domain.value import Value
from triage.ports import Codebase, Model, Services

MAX_TOKENS = 1_200
MAX_GAPS, MAX_QUESTIONS, MAX_OUTSIDE = 4, 2, 2
MAX_ADJUSTMENT = 0.5
"""As the prompt says; a larger adjustment, or one without a reason, changes nothing."""
FOLLOWED_FROM = 0.7
"""Above it, the search says that it can follow the symptom to these lines: see its prompt."""
UNVERIFIED_PENALTY = -0.1
"""Added to the confidence when a cited location could not be verified."""


class CriticInput(Value):
    all_findings: list[AgentFinding]
    current_hypothesis: str
    codebase_evidence: list[str]
    """Each suspect with its location, and what the citation check said about it."""
    cited_code: str
    """The suspects' lines and what stands around them."""


def build_critic_input(agent_input: AgentInput, read_lines: ReadLines) -> CriticInput:
    verified = [f"{_format_location(file)}: {file.relevance_reason}" for file in agent_input.suspects]
    refused = [f"REFUSED by the citation check: {reason}" for reason in agent_input.citations.refused]
    return CriticInput(
        all_findings=agent_input.findings,
        current_hypothesis=agent_input.hypothesis,
        codebase_evidence=[*verified, *refused],
        cited_code=render_cited_code(agent_input.suspects, read_lines),
    )


def _format_location(file: RelevantFile) -> str:
    lines = f":{file.start_line}-{file.end_line}" if file.start_line and file.end_line else ""
    return f"{file.path}{lines}" + (f" `{file.quote}`" if file.quote else "")


async def answer_with_model(agent_input: AgentInput, services: Services, model: Model) -> AgentAnswer[CritiqueFinding]:
    codebase = services.codebase
    critic_input = await in_thread(build_critic_input, agent_input, codebase.read_lines)
    sections = format_task(agent_input, services, MAX_JUDGED_BODY_CHARS) | {
        # Before a critique it is the investigator's, which stands in the findings.
        "current hypothesis": critic_input.current_hypothesis if agent_input.critique else "",
        "all findings": format_findings(critic_input.all_findings),
        "codebase evidence": format_bullets(critic_input.codebase_evidence),
        "cited code": critic_input.cited_code,
        "looked up": format_bullets([one.call for one in agent_input.looked_up]),
        "citation check": f"{agent_input.citations.verified} of {agent_input.citations.total} references verified",
        "confidence so far": f"{agent_input.confidence:.2f}",
    }
    skills = await in_thread(SkillPrompts, agent_input, services)
    chain = model.structured_output(CritiqueFinding, "main", MAX_TOKENS)
    answer = await skills.ask(chain.ainvoke, skills.build_messages("critic", sections))
    return AgentAnswer(_correct_answer(answer), skills.shortfalls, skills=skills.tiers)


def _correct_answer(answer: CritiqueFinding) -> CritiqueFinding:
    is_confirmed = answer.verdict == "CONFIRMED" and answer.ready_for_report
    is_reasoned = bool(answer.reasoning.strip()) and abs(answer.confidence_adjustment) <= MAX_ADJUSTMENT
    return answer.model_copy(
        update={
            "agent_name": "critic",
            # Who is not ready to report it has not confirmed it.
            "verdict": "UNCERTAIN" if answer.verdict == "CONFIRMED" and not is_confirmed else answer.verdict,
            "ready_for_report": is_confirmed,
            "gaps": answer.gaps[:MAX_GAPS],
            "questions_for_reporter": []
            if is_confirmed
            else [one for one in answer.questions_for_reporter if is_question(one)][:MAX_QUESTIONS],
            "gaps_outside": answer.gaps_outside[:MAX_OUTSIDE],
            "confidence_adjustment": answer.confidence_adjustment if is_reasoned else 0.0,
        }
    )


def is_settled(agent_input: AgentInput) -> bool:
    """Return whether no critic could change where the report leads.

    The issue itself leads to the file in which a model, which has read the code, can follow the symptom, and every
    citation holds. Where they name different files, the critic decides which is named first.
    """
    place, files, search = agent_input.best_place, agent_input.suspects, agent_input.codebase
    citations = agent_input.citations
    agrees = bool(place and files) and place is not None and place.span.path == files[0].path
    is_followed = agent_input.searched_by_model and search is not None and search.confidence > FOLLOWED_FROM
    return agent_input.round == 1 and agrees and is_followed and 0 < citations.total == citations.verified


async def answer_with_rules(agent_input: AgentInput, services: Services) -> CritiqueFinding:
    """Judge whether a trace ends in the first suspect, every citation is verified, and the first suspect stands out."""
    files = agent_input.suspects
    in_trace = bool(files) and files[0].path in find_innermost_files(agent_input.parsed.traces, services.codebase)
    confident = agent_input.codebase is not None and agent_input.codebase.confidence >= CONFIDENT_FROM
    refused = agent_input.citations.total - agent_input.citations.verified
    is_confirmed = is_settled(agent_input) or (in_trace and confident and not refused)
    verdict: Verdict = "CONFIRMED" if is_confirmed else "UNCERTAIN"
    if not files:
        verdict = "CHALLENGED"
    facts = {"has_suspects": bool(files), "in_trace": in_trace, "confident": confident}
    gaps = _list_gaps(agent_input, **facts, refused=refused) if verdict != "CONFIRMED" else []
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
        gaps=gaps,
        questions_for_reporter=[],
        gaps_outside=[],
        revised_hypothesis=None,
        ready_for_report=verdict == "CONFIRMED",
    )


def find_innermost_files(traces: Sequence[Trace], codebase: Codebase) -> set[str]:
    """Return, for each stack trace, the file of its innermost frame inside the repository."""
    resolved = [[codebase.resolve_path(frame.path) for frame in reversed(trace.frames)] for trace in traces]
    return {next((path for path in paths if path), "") for paths in resolved} - {""}


def _summarize(verdict: Verdict, files: Sequence[RelevantFile], *, in_trace: bool) -> str:
    if verdict == "CONFIRMED" and not in_trace:
        return f"The issue leads to {files[0].path}, and so does the code that the search has read."
    if verdict == "CONFIRMED":
        return f"Inside this repository the stack trace ends in {files[0].path}, and every citation holds."
    if verdict == "CHALLENGED":
        return "No file of the repository could be tied to what the issue describes."
    if in_trace:
        return f"Inside this repository the stack trace ends in {files[0].path}, but not everything fits."
    return f"{files[0].path} fits the issue best, but no stack trace ends in it."


def _list_gaps(
    agent_input: AgentInput, *, has_suspects: bool, in_trace: bool, confident: bool, refused: int
) -> list[str]:
    candidates = [
        (not has_suspects, "No file of the repository shares enough with the issue to be named."),
        (not agent_input.parsed.stack_traces, "The issue shows no stack trace that would name the failing line."),
        (
            bool(agent_input.parsed.stack_traces) and has_suspects and not in_trace,
            "No stack trace ends in the first suspect: it may only show where the fault surfaces.",
        ),
        (bool(refused), f"{refused} of the cited places could not be found in the indexed commit."),
        (has_suspects and not confident, "The first suspect hardly stands out from the next."),
        (
            not agent_input.parsed.identifiers and not agent_input.parsed.error_messages,
            "The issue names no function, option or message that could be searched for.",
        ),
    ]
    return [gap for applies, gap in candidates if applies][:MAX_GAPS]


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
