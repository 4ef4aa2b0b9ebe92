"""Codebase search: which files and lines are at fault."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from triage.agents.agent import Agent, Consulted, _to_agent_finding
from triage.agents.code_lookup import LookUp
from triage.agents.prompt_sections import guidance, hypothesis, issue_parts, shown_in_traces
from triage.agents.prompts import cut, fenced, system
from triage.citations.indexed_code import Checkout
from triage.domain.agent_input import Case
from triage.domain.code import Hit, Passage, SearchQuery
from triage.domain.findings import AgentFinding, CodebaseFinding, RelevantFile
from triage.domain.issue import Reading
from triage.domain.value import Value
from triage.ports import Model, Services
from triage.reading.code_names import identifiers
from triage.threads import in_daemon_thread

_REMARK = re.compile(r"#|//|/?\*|--|@|\"\"\"|'''|<!--")
MAX_TOKENS = 2_000
MAX_FILES = 10
QUOTED_CHARS = 10
"""A shorter line may stand in an issue by chance."""
STANDS_OUT = 0.04
"""Chance below which a hit is not shown as a suspect."""
UNSURE, VAGUE, SURE = 0.05, 0.5, 0.95
CONTEXT_CHARS = 48_000
"""Of code in the prompt: about 16,000 tokens, a sixth of the default budget of a run."""
FIRST_CHARS = 24_000
"""The same where more can be looked up; each turn sends it again."""
MAX_PLACE_CHARS = 200


class CodebaseSearchInput(Value):
    """What the search starts from."""

    repository: str
    keywords: list[str]
    hypothesis: str
    affected_areas: list[str]
    issue: str
    """The issue's visible text: keywords alone lose half of the culprits."""


def search_input(case: Case) -> CodebaseSearchInput:
    """Gather it from the case; in later rounds the critic's gaps are keywords too."""
    found = case.investigation
    return CodebaseSearchInput(
        repository=case.repository.slug,
        keywords=[*(found.keywords_for_search if found else []), *case.gaps],
        hypothesis=hypothesis(case),
        affected_areas=found.affected_areas if found else [],
        issue=case.reading.text,
    )


def query_of(case: Case) -> SearchQuery:
    """The same for the ranker: the issue, and what only the agents said. What the issue says counts once.

    Of their keywords all, of their sentences (gaps, hypothesis) the names.
    """
    asked = search_input(case)
    keywords = case.investigation.keywords_for_search if case.investigation else []
    names = identifiers("", "\n".join([*case.gaps, asked.hypothesis, *asked.affected_areas]), [])
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
        return {"case": [fenced(shown)]}

    gather: Runnable[dict[str, Any], dict[str, Any]] = RunnableParallel(
        context=RunnableLambda(_query_text) | retriever | RunnableLambda(partial(passages_text, chars=chars)),
        hypothesis=RunnableLambda(lambda asked: asked["hypothesis"]),
        keywords=RunnableLambda(lambda asked: ", ".join(asked["keywords"])),
    )
    prompt = ChatPromptTemplate.from_messages([system("codebase_search"), MessagesPlaceholder("case")])
    return gather | RunnableLambda(data) | prompt | llm


def _query_text(asked: dict[str, Any]) -> str:
    return "\n".join([asked["issue"], asked["hypothesis"], " ".join(asked["keywords"])])


def passages_text(documents: Sequence[Document], chars: int = CONTEXT_CHARS) -> str:
    """Passages under their places, best first, as many as fit; of the others the places."""
    shown: list[str] = []
    room = chars
    for document in documents:
        passage = f"## {_place(document)}\n{cut(document.page_content, 6_000)}"
        if len(passage) > room:
            break
        room -= len(passage)
        shown.append(passage)
    places = [_place(document)[:MAX_PLACE_CHARS] for document in documents[len(shown) :]]
    left_out = [f"({len(places)} further passages did not fit: {', '.join(places)})"] if places else []
    return "\n\n".join([*shown, *left_out])


def _place(document: Document) -> str:
    place = document.metadata
    symbol = f" ({place['symbol']})" if place.get("symbol") else ""
    return f"{place['path']}:{place['start']}-{place['end']}{symbol}"


async def by_model(case: Case, services: Services, model: Model) -> Consulted[CodebaseFinding]:
    """Ask the main model with the best passages in view, after it has looked up what it asked for."""
    retriever = services.codebase.retriever(case.repository.slug)
    llm = model.structured(CodebaseFinding, "main", MAX_TOKENS)
    shortfalls: list[str] = []
    chars = CONTEXT_CHARS
    if services.code_tools is not None:
        looking = LookUp(services, model, services.code_tools)
        llm = RunnableLambda(looking.ahead) | llm
        shortfalls, chars = looking.shortfalls, FIRST_CHARS
    chain = build_codebase_chain(retriever, llm, issue_parts(case) | guidance(services), chars)
    answer = await chain.ainvoke(search_input(case).model_dump())
    return Consulted(answer.model_copy(update={"agent_name": "codebase_search"}), shortfalls)


async def by_rules(case: Case, services: Services) -> CodebaseFinding:
    """The ranked hits, each with its best passage and why it ranked."""
    query = query_of(case)
    hits = await in_daemon_thread(lambda: services.codebase.search(query, MAX_FILES))
    confidence = confidence_of(hits, case.reading)
    first = hits[0] if hits else None
    return CodebaseFinding(
        agent_name="codebase_search",
        summary=f"{first.path} fits best: {first.reasons[0]}." if first and first.reasons else _nothing(first),
        confidence=confidence,
        reasoning="Ranked by words, names, paths and stack frames that the issue and the code share.",
        error=None,
        relevant_files=[_relevant(hit, case) for hit in standing_out(hits)],
        root_cause_location=_location(first) if first and confidence >= 0.6 else None,
    )


def _nothing(first: Hit | None) -> str:
    return f"{first.path} fits best." if first else "Nothing in the repository fits the issue's words."


def standing_out(hits: Sequence[Hit]) -> list[Hit]:
    """The first hit and those with a chance: a file that merely shares a word is no suspect."""
    return [hit for rank, hit in enumerate(hits) if rank == 0 or hit.chance >= STANDS_OUT]


def _relevant(hit: Hit, case: Case) -> RelevantFile:
    best = hit.passages[0] if hit.passages else None
    return RelevantFile(
        path=hit.path,
        relevance_reason="; ".join(hit.reasons[:3]) or "shares words with the issue",
        start_line=best.span.start if best else None,
        end_line=best.span.end if best else None,
        symbol=best.symbol if best else None,
        quote=_telling_line(best, case) if best else None,
    )


def _telling_line(passage: Passage, case: Case) -> str | None:
    """The line that a stack trace shows of the file, or the longest that the issue quotes; else the first of code.

    Line numbers alone go stale: the reporter's version may differ.
    """
    lines = [line.strip() for line in passage.text.splitlines() if len(line.strip()) > 3]
    shown = shown_in_traces(case, passage.span.path) if case.reading.traces else case.reading.body
    quoted = [line for line in lines if len(line) >= QUOTED_CHARS and line in shown]
    code = [line for line in lines if not _REMARK.match(line)]
    return max(quoted, key=len) if quoted else next(iter([*code, *lines]), None)


def _location(hit: Hit) -> str:
    if not hit.passages:  # a file beyond the index's budget is known by its path alone
        return hit.path
    best = hit.passages[0]
    place = f"{hit.path}:{best.span.start}-{best.span.end}"
    return f"{place} ({best.symbol})" if best.symbol else place


def confidence_of(hits: Sequence[Hit], reading: Reading) -> float:
    """The chance that the first hit is right. Never quite sure: the fault may lie outside of the repository.

    The chances were learned from issues with something to go by; where there is nothing, half is the most.
    """
    telling = reading.identifiers or reading.error_messages or reading.paths or reading.traces
    most = SURE if telling else VAGUE
    return round(max(UNSURE, min(most, hits[0].chance if hits else 0.0)), 2)


def finding(answer: CodebaseFinding) -> AgentFinding:
    """Root cause location and paths."""
    details = answer.root_cause_location or "Root cause location not identified."
    return _to_agent_finding(answer, details, [found.path for found in answer.relevant_files])


def objection(answer: CodebaseFinding, case: Case, services: Services) -> str | None:
    """An answer whose files are all invented cannot be trusted in anything else."""
    checkout = Checkout(services.codebase.lines, services.codebase.paths())
    if answer.relevant_files and not any(checkout.resolve(file.path) for file in answer.relevant_files):
        return "none of the cited files exists"
    return None


AGENT = Agent(
    name="codebase_search",
    powers=frozenset({"reads strangers", "sees code"}),
    by_model=by_model,
    by_rules=by_rules,
    finding=finding,
    objection=objection,
)
