"""Codebase search: which files and lines are at fault."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from triage.agents.agent import Agent, AgentAnswer, to_agent_finding
from triage.agents.code_lookup import CodeLookup
from triage.agents.prompt_sections import choose_hypothesis, find_traceback_lines, format_instructions, format_issue
from triage.agents.prompts import build_system_message, cut, fence
from triage.citations.indexed_code import IndexedCode
from triage.domain.agent_input import AgentInput
from triage.domain.code import Hit, Passage, SearchQuery
from triage.domain.findings import AgentFinding, CodebaseFinding, RelevantFile
from triage.domain.issue import Reading
from triage.domain.value import Value
from triage.ports import Model, Services
from triage.reading.code_names import find_identifiers
from triage.threads import run_in_daemon_thread

_COMMENT_LINE = re.compile(r"#|//|/?\*|--|@|\"\"\"|'''|<!--")
MAX_TOKENS = 2_000
MAX_FILES = 10
MIN_QUOTE_CHARS = 10
"""A shorter line may stand in an issue by chance."""
MIN_SUSPECT_CHANCE = 0.04
"""Chance below which a hit is not shown as a suspect."""
MIN_CONFIDENCE, MAX_VAGUE_CONFIDENCE, MAX_CONFIDENCE = 0.05, 0.5, 0.95
CONTEXT_CHARS = 48_000
"""Of code in the prompt: about 16,000 tokens, a sixth of the default budget of a run."""
CONTEXT_CHARS_WITH_TOOLS = 24_000
"""The same where more can be looked up; each turn sends it again."""
MAX_LOCATION_CHARS = 200


class CodebaseSearchInput(Value):
    """What the search starts from."""

    repository: str
    keywords: list[str]
    hypothesis: str
    affected_areas: list[str]
    issue: str
    """The issue's visible text: keywords alone lose half of the culprits."""


def build_search_input(case: AgentInput) -> CodebaseSearchInput:
    """Gather it from the case; in later rounds the critic's gaps are keywords too."""
    found = case.investigation
    return CodebaseSearchInput(
        repository=case.repository.slug,
        keywords=[*(found.keywords_for_search if found else []), *case.gaps],
        hypothesis=choose_hypothesis(case),
        affected_areas=found.affected_areas if found else [],
        issue=case.reading.text,
    )


def build_query(case: AgentInput) -> SearchQuery:
    """The same for the ranker: the issue, and what only the agents said. What the issue says counts once.

    Of their keywords all, of their sentences (gaps, hypothesis) the names.
    """
    asked = build_search_input(case)
    keywords = case.investigation.keywords_for_search if case.investigation else []
    names = find_identifiers("", "\n".join([*case.gaps, asked.hypothesis, *asked.affected_areas]), [])
    said = asked.issue.lower()
    fresh = [word for word in dict.fromkeys([*keywords, *names]) if word.lower() not in said]
    return SearchQuery(reading=case.reading, keywords=fresh)


def build_codebase_chain(
    retriever: BaseRetriever,
    llm: Runnable[Any, CodebaseFinding],
    parts: dict[str, str] | None = None,
    chars: int = CONTEXT_CHARS,
) -> Runnable[dict[str, Any], CodebaseFinding]:
    """Retrieve, show, ask: `RunnableParallel | prompt | structured model`.

    Args:
        retriever: Passages for a query string.
        llm: The structured model; what may be looked up first stands before it.
        parts: Further parts of the prompt, such as the issue.
        chars: Of code in the prompt.

    Returns:
        A runnable that takes `issue`, `hypothesis` and `keywords`.
    """

    def data(found: dict[str, Any]) -> dict[str, Any]:
        shown = {
            **(parts or {}),
            "hypothesis": found["hypothesis"],
            "keywords": found["keywords"],
            "passages": found["context"],
        }
        return {"case": [fence(shown)]}

    gather: Runnable[dict[str, Any], dict[str, Any]] = RunnableParallel(
        context=RunnableLambda(_format_query) | retriever | RunnableLambda(partial(format_passages, chars=chars)),
        hypothesis=RunnableLambda(lambda asked: asked["hypothesis"]),
        keywords=RunnableLambda(lambda asked: ", ".join(asked["keywords"])),
    )
    prompt = ChatPromptTemplate.from_messages([build_system_message("codebase_search"), MessagesPlaceholder("case")])
    return gather | RunnableLambda(data) | prompt | llm


def _format_query(asked: dict[str, Any]) -> str:
    return "\n".join([asked["issue"], asked["hypothesis"], " ".join(asked["keywords"])])


def format_passages(documents: Sequence[Document], chars: int = CONTEXT_CHARS) -> str:
    """Passages under their places, best first, as many as fit; of the others the places."""
    shown: list[str] = []
    room = chars
    for document in documents:
        passage = f"## {_format_location(document)}\n{cut(document.page_content, 6_000)}"
        if len(passage) > room:
            break
        room -= len(passage)
        shown.append(passage)
    places = [_format_location(document)[:MAX_LOCATION_CHARS] for document in documents[len(shown) :]]
    left_out = [f"({len(places)} further passages did not fit: {', '.join(places)})"] if places else []
    return "\n\n".join([*shown, *left_out])


def _format_location(document: Document) -> str:
    place = document.metadata
    symbol = f" ({place['symbol']})" if place.get("symbol") else ""
    return f"{place['path']}:{place['start']}-{place['end']}{symbol}"


async def answer_with_model(case: AgentInput, services: Services, model: Model) -> AgentAnswer[CodebaseFinding]:
    """Ask the main model with the best passages in view, after it has looked up what it asked for."""
    retriever = services.codebase.get_retriever(case.repository.slug)
    llm = model.structured_output(CodebaseFinding, "main", MAX_TOKENS)
    shortfalls: list[str] = []
    chars = CONTEXT_CHARS
    if services.code_tools is not None:
        looking = CodeLookup(services, model, services.code_tools)
        llm = RunnableLambda(looking.extend_prompt) | llm
        shortfalls, chars = looking.shortfalls, CONTEXT_CHARS_WITH_TOOLS
    chain = build_codebase_chain(retriever, llm, format_issue(case) | format_instructions(services), chars)
    answer = await chain.ainvoke(build_search_input(case).model_dump())
    return AgentAnswer(answer.model_copy(update={"agent_name": "codebase_search"}), shortfalls)


async def answer_with_rules(case: AgentInput, services: Services) -> CodebaseFinding:
    """The ranked hits, each with its best passage and why it ranked."""
    query = build_query(case)
    hits = await run_in_daemon_thread(lambda: services.codebase.search(query, MAX_FILES))
    confidence = estimate_confidence(hits, case.reading)
    first = hits[0] if hits else None
    return CodebaseFinding(
        agent_name="codebase_search",
        summary=f"{first.path} fits best: {first.reasons[0]}."
        if first and first.reasons
        else _describe_first_hit(first),
        confidence=confidence,
        reasoning="Ranked by words, names, paths and stack frames that the issue and the code share.",
        error=None,
        relevant_files=[_to_relevant_file(hit, case) for hit in select_suspects(hits)],
        root_cause_location=_format_root_cause(first) if first and confidence >= 0.6 else None,
    )


def _describe_first_hit(first: Hit | None) -> str:
    return f"{first.path} fits best." if first else "Nothing in the repository fits the issue's words."


def select_suspects(hits: Sequence[Hit]) -> list[Hit]:
    """The first hit and those with a chance: a file that merely shares a word is no suspect."""
    return [hit for rank, hit in enumerate(hits) if rank == 0 or hit.probability >= MIN_SUSPECT_CHANCE]


def _to_relevant_file(hit: Hit, case: AgentInput) -> RelevantFile:
    best = hit.passages[0] if hit.passages else None
    return RelevantFile(
        path=hit.path,
        relevance_reason="; ".join(hit.reasons[:3]) or "shares words with the issue",
        start_line=best.span.start if best else None,
        end_line=best.span.end if best else None,
        symbol=best.symbol if best else None,
        quote=_choose_quote(best, case) if best else None,
    )


def _choose_quote(passage: Passage, case: AgentInput) -> str | None:
    """The line that a stack trace shows of the file, or the longest that the issue quotes; else the first of code.

    Line numbers alone go stale: the reporter's version may differ.
    """
    lines = [line.strip() for line in passage.text.splitlines() if len(line.strip()) > 3]
    shown = find_traceback_lines(case, passage.span.path) if case.reading.traces else case.reading.body
    quoted = [line for line in lines if len(line) >= MIN_QUOTE_CHARS and line in shown]
    code = [line for line in lines if not _COMMENT_LINE.match(line)]
    return max(quoted, key=len) if quoted else next(iter([*code, *lines]), None)


def _format_root_cause(hit: Hit) -> str:
    if not hit.passages:  # a file beyond the index's budget is known by its path alone
        return hit.path
    best = hit.passages[0]
    place = f"{hit.path}:{best.span.start}-{best.span.end}"
    return f"{place} ({best.symbol})" if best.symbol else place


def estimate_confidence(hits: Sequence[Hit], reading: Reading) -> float:
    """The chance that the first hit is right. Never quite sure: the fault may lie outside of the repository.

    The chances were learned from issues with something to go by; where there is nothing, half is the most.
    """
    telling = reading.identifiers or reading.error_messages or reading.paths or reading.traces
    most = MAX_CONFIDENCE if telling else MAX_VAGUE_CONFIDENCE
    return round(max(MIN_CONFIDENCE, min(most, hits[0].probability if hits else 0.0)), 2)


def to_finding(answer: CodebaseFinding) -> AgentFinding:
    """Root cause location and paths."""
    details = answer.root_cause_location or "Root cause location not identified."
    return to_agent_finding(answer, details, [found.path for found in answer.relevant_files])


def check_answer(answer: CodebaseFinding, case: AgentInput, services: Services) -> str | None:
    """An answer whose files are all invented cannot be trusted in anything else."""
    checkout = IndexedCode(services.codebase.read_lines, services.codebase.list_paths())
    if answer.relevant_files and not any(checkout.resolve(file.path) for file in answer.relevant_files):
        return "none of the cited files exists"
    return None


AGENT = Agent(
    name="codebase_search",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    to_finding=to_finding,
    check_answer=check_answer,
)
