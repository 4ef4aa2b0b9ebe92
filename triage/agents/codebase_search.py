"""Codebase search: which files and lines are at fault."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from triage.agents.agent import CONFIDENT_FROM, Agent, AgentAnswer
from triage.agents.code_lookup import ANSWER_TOKENS, CodeLookup
from triage.agents.earlier_rounds import build_followup_sections
from triage.agents.prompts import (
    MAX_BODY_CHARS,
    MAX_JUDGED_BODY_CHARS,
    build_system_message,
    fence,
    find_traceback_lines,
    format_instructions,
    format_issue,
    format_languages,
)
from triage.citations.citation_lookup import CitationLookup
from triage.domain.agent_input import AgentInput
from triage.domain.code import Hit, MatchSource, Passage, SearchQuery, Span
from triage.domain.findings import CodebaseFinding, RelevantFile
from triage.domain.issue import Trace
from triage.domain.value import Value
from triage.ports import Codebase, Model, Services
from triage.reading.code_names import find_identifiers
from triage.threads import run_in_daemon_thread

_COMMENT_LINE = re.compile(r"#|//|/?\*|--|@|\"\"\"|'''|<!--")
MAX_FILES = 10
MIN_QUOTE_CHARS = 10
"""A shorter line may be in an issue by chance."""
MIN_SUSPECT_CHANCE = 0.04
"""A hit with a lower probability is no suspect."""
MAX_VAGUE_CONFIDENCE, MAX_CONFIDENCE = 0.5, 0.95
_LIBRARY = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages|node_modules|vendor|\.cargo|lib[/\\]python[\d.]*)[/\\]"
)
CONTEXT_CHARS = 48_000
"""Code in the prompt: about 16,000 tokens, a sixth of the default budget of a run."""
CONTEXT_CHARS_WITH_TOOLS = 24_000
"""Less code where the model can look up more, because each turn sends it again."""
MAX_PATH_CHARS = 200
MAX_LINES, LINES_BEFORE_QUOTE = 15, 3
NO_REASON = "shares words with the issue"
_SIGN_REASONS: dict[MatchSource, str] = {
    "trace": "the stack trace ends here",
    "message": "has the text of the message",
    "name": "defines what the issue names",
}


class CodebaseSearchInput(Value):
    repository: str
    keywords: list[str]
    hypothesis: str
    affected_areas: list[str]
    issue: str
    """Visible text of the issue. Keywords alone find only half of the right files."""


def build_search_input(agent_input: AgentInput) -> CodebaseSearchInput:
    """Return what the search starts with. In later rounds the keywords include the names in the critic's gaps."""
    investigation = agent_input.investigation
    return CodebaseSearchInput(
        repository=agent_input.repository.slug,
        keywords=[*(investigation.keywords_for_search if investigation else []), *agent_input.search_terms],
        hypothesis=agent_input.hypothesis,
        affected_areas=investigation.affected_areas if investigation else [],
        issue=agent_input.reading.text,
    )


def build_query(agent_input: AgentInput) -> SearchQuery:
    """Return the query of the ranking: the issue, with words that only the agents use.

    These words are the investigator's keywords, and the names in gaps, hypothesis and affected areas.
    """
    search_input = build_search_input(agent_input)
    keywords = agent_input.investigation.keywords_for_search if agent_input.investigation else []
    names = find_identifiers(
        "", "\n".join([*agent_input.search_terms, search_input.hypothesis, *search_input.affected_areas]), []
    )
    issue = search_input.issue.lower()
    new = [word for word in dict.fromkeys([*keywords, *names]) if word.lower() not in issue]
    return SearchQuery(reading=agent_input.reading, keywords=new)


def build_codebase_chain(
    retriever: BaseRetriever, llm: Runnable[Any, CodebaseFinding], sections: dict[str, str] | None = None
) -> Runnable[dict[str, Any], CodebaseFinding]:
    """Return the chain `RunnableParallel | prompt | structured model`.

    It takes `issue`, `hypothesis` and `keywords`. `sections` stand in the prompt too.
    """

    def build_data(inputs: dict[str, Any]) -> dict[str, Any]:
        data = {
            **(sections or {}),
            "hypothesis": inputs["hypothesis"],
            "keywords": inputs["keywords"],
            "passages": inputs["context"],
        }
        return {"data": [fence(data)]}

    query = RunnableLambda[dict[str, Any], str](
        # In backticks a word counts as a name of the code.
        lambda inputs: "\n".join(
            [inputs["issue"], inputs["hypothesis"], *(f"`{keyword}`" for keyword in inputs["keywords"])]
        )
    )
    gather: Runnable[dict[str, Any], dict[str, Any]] = RunnableParallel(
        context=query | retriever | RunnableLambda(format_passages),
        hypothesis=RunnableLambda(lambda inputs: inputs["hypothesis"]),
        keywords=RunnableLambda(lambda inputs: ", ".join(inputs["keywords"])),
    )
    return gather | RunnableLambda(build_data) | _build_prompt() | llm


def build_followup_chain(
    llm: Runnable[Any, CodebaseFinding], sections: dict[str, str]
) -> Runnable[dict[str, Any], CodebaseFinding]:
    """Return the chain of a further round, which searches for nothing: `sections` have what is known."""

    def build_data(inputs: dict[str, Any]) -> dict[str, Any]:
        data = {"hypothesis": inputs["hypothesis"], "keywords": ", ".join(inputs["keywords"])}
        return {"data": [fence(sections | data)]}

    return RunnableLambda(build_data) | _build_prompt() | llm


def _build_prompt() -> ChatPromptTemplate:
    return ChatPromptTemplate.from_messages([build_system_message("codebase_search"), MessagesPlaceholder("data")])


def format_passages(documents: Sequence[Document]) -> str:
    """Return the passages, each under its location, and the paths of the files of which nothing is shown."""
    shown = [f"{_format_heading(document)}\n{document.page_content}" for document in documents if document.page_content]
    paths = [document.metadata["path"][:MAX_PATH_CHARS] for document in documents if not document.page_content]
    others = [f"(Further files, likeliest first, not shown: {', '.join(paths)})"] if paths else []
    return "\n\n".join([*shown, *others])


def _format_heading(document: Document) -> str:
    data = document.metadata
    symbol = f" ({data['symbol']})" if data.get("symbol") else ""
    return f"## {data['path']}:{data['start']}-{data['end']}{symbol}"


async def answer_with_model(agent_input: AgentInput, services: Services, model: Model) -> AgentAnswer[CodebaseFinding]:
    """Ask the main model, after it has looked up what it asks for.

    The first round shows the best passages; a further one what the earlier rounds have found.
    """
    lookup = _open_lookup(agent_input, services, model)
    llm = RunnableLambda(lookup.answer) if lookup else model.structured_output(CodebaseFinding, "main", ANSWER_TOKENS)
    continues = agent_input.round > 1 and agent_input.searched_by_model
    sections = format_issue(agent_input, MAX_JUDGED_BODY_CHARS if continues else MAX_BODY_CHARS)
    sections |= format_instructions(services) | format_languages(agent_input)
    sections["kind of issue"] = "feature request" if agent_input.kind == "feature_request" else ""
    if continues:
        known = await run_in_daemon_thread(lambda: build_followup_sections(agent_input, services.codebase))
        chain = build_followup_chain(llm, sections | known)
    else:
        chars = CONTEXT_CHARS_WITH_TOOLS if lookup else CONTEXT_CHARS
        chain = build_codebase_chain(services.codebase.get_retriever(agent_input.repository.slug, chars), llm, sections)
    answer = await chain.ainvoke(build_search_input(agent_input).model_dump())
    answer = answer.model_copy(update={"agent_name": "codebase_search"})
    return AgentAnswer(answer, lookup.shortfalls if lookup else [], lookup.answers if lookup else [])


def _open_lookup(agent_input: AgentInput, services: Services, model: Model) -> CodeLookup | None:
    if services.code_tools is None:
        return None
    return CodeLookup(
        services, model, services.code_tools, is_first_round=agent_input.round == 1, earlier=agent_input.looked_up
    )


async def answer_with_rules(agent_input: AgentInput, services: Services) -> CodebaseFinding:
    """Return the ranked hits, each with its best passage and the reasons for its rank."""
    query, found = build_query(agent_input), agent_input.found
    hits = await run_in_daemon_thread(lambda: services.codebase.search(query, MAX_FILES))
    if found:  # with the agents' words another file may be first
        hits = sorted(hits, key=lambda hit: hit.path != found.span.path)
    confidence = estimate_confidence(hits, agent_input, services.codebase)
    first = hits[0] if hits else None
    return CodebaseFinding(
        agent_name="codebase_search",
        summary=_summarize(first),
        confidence=confidence,
        reasoning="Ranked by words, names, paths and stack frames that the issue and the code share.",
        error=None,
        relevant_files=[_to_relevant_file(hit, agent_input) for hit in select_suspects(hits)],
        root_cause_location=_format_root_cause(first) if first and confidence >= CONFIDENT_FROM else None,
    )


def _summarize(first: Hit | None) -> str:
    if first is None:
        return "Nothing in the repository fits the issue's words."
    return f"{first.path} fits best: {first.reasons[0]}." if first.reasons else f"{first.path} fits best."


def select_suspects(hits: Sequence[Hit]) -> list[Hit]:
    """Return the first hit and every other that is likely enough."""
    return [hit for rank, hit in enumerate(hits) if rank == 0 or hit.probability >= MIN_SUSPECT_CHANCE]


def _to_relevant_file(hit: Hit, agent_input: AgentInput) -> RelevantFile:
    found = agent_input.found
    if found and found.span.path == hit.path and found.line:
        span, symbol, quote, reason = found.span, found.symbol, found.quote, _SIGN_REASONS[found.sign]
    elif hit.passages:
        best = hit.passages[0]
        quote = _choose_quote(best, agent_input)
        span, symbol, reason = _narrow_span(best, quote), best.symbol, next(iter(hit.reasons), NO_REASON)
    else:  # of a file beyond the limits of the index only the path is known
        return _make_relevant_file(hit.path, next(iter(hit.reasons), NO_REASON))
    return _make_relevant_file(hit.path, reason, span, symbol, quote)


def _make_relevant_file(
    path: str, reason: str, span: Span | None = None, symbol: str | None = None, quote: str | None = None
) -> RelevantFile:
    return RelevantFile(
        path=path,
        relevance_reason=reason,
        start_line=span.start if span else None,
        end_line=span.end if span else None,
        symbol=symbol,
        quote=quote,
    )


def _narrow_span(passage: Passage, quote: str | None) -> Span:
    """Return the lines around the quote, as many as a reader takes in at a glance."""
    lines = [line.strip() for line in passage.text.splitlines()]
    at = passage.span.start + (lines.index(quote) if quote in lines else 0)
    start = max(passage.span.start, at - LINES_BEFORE_QUOTE)
    return passage.span.model_copy(update={"start": start, "end": min(passage.span.end, start + MAX_LINES - 1)})


def _choose_quote(passage: Passage, agent_input: AgentInput) -> str | None:
    """Return the line of the passage that a trace or the issue shows; else its first line of code.

    A quote finds the place also when the reporter's version has other line numbers.
    """
    lines = [line.strip() for line in passage.text.splitlines() if len(line.strip()) > 3]
    issue = (
        find_traceback_lines(agent_input, passage.span.path) if agent_input.reading.traces else agent_input.reading.body
    )
    quoted = [line for line in lines if len(line) >= MIN_QUOTE_CHARS and line in issue]
    code = [line for line in lines if not _COMMENT_LINE.match(line)]
    return max(quoted, key=len) if quoted else next(iter([*code, *lines]), None)


def _format_root_cause(hit: Hit) -> str:
    if not hit.passages:  # of a file beyond the limits of the index only the path is known
        return hit.path
    best = hit.passages[0]
    location = f"{hit.path}:{best.span.start}-{best.span.end}"
    return f"{location} ({best.symbol})" if best.symbol else location


def estimate_confidence(hits: Sequence[Hit], agent_input: AgentInput, codebase: Codebase) -> float:
    """Return the probability that the first hit is right, rounded down, since a promise is worse than a doubt.

    At most 0.95, because the fault may be outside of the repository. At most 0.5 for an issue without names, messages,
    paths and traces, because the probabilities were learned from issues that have some; and for one whose traces do not
    pass through the repository, or end in a file of the project that the checkout does not have.
    """
    reading = agent_input.reading
    traces = [trace for trace in reading.traces if trace.frames]
    has_evidence = reading.identifiers or reading.error_messages or reading.paths or reading.traces
    is_foreign = bool(traces) and not any(
        codebase.resolve_path(frame.path) for trace in traces for frame in trace.frames
    )
    paths = {path.lower() for path in codebase.list_paths()} if traces else set()
    folders = {path.rpartition("/")[0] for path in paths} - {""}
    is_incomplete = any(_ends_in_missing_file(trace, paths, folders, codebase) for trace in traces)
    is_sure = has_evidence and not is_foreign and not is_incomplete
    probability = min(MAX_CONFIDENCE if is_sure else MAX_VAGUE_CONFIDENCE, hits[0].probability if hits else 0.0)
    return round(probability * 10_000) // 100 / 100


def _ends_in_missing_file(trace: Trace, paths: AbstractSet[str], folders: AbstractSet[str], codebase: Codebase) -> bool:
    """Whether the last frame of the project is in one of its folders, but in none of its files.

    `paths` and `folders` are in small letters.
    """
    for frame in reversed(trace.frames):
        if _LIBRARY.search(frame.path):
            continue
        if codebase.resolve_path(frame.path):
            return False
        *parts, name = frame.path.lower().replace("\\", "/").split("/")
        known = [folder for start in range(len(parts)) if (folder := "/".join(parts[start:])) in folders]
        if known:
            return not any(f"{folder}/{name}" in paths for folder in known)
    return False


def check_answer(answer: CodebaseFinding, services: Services) -> str | None:
    citation_lookup = CitationLookup(services.codebase)
    if answer.relevant_files and not any(citation_lookup.resolve(file.path) for file in answer.relevant_files):
        return "none of the cited files exists"
    return None


AGENT = Agent(
    name="codebase_search",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    get_details=lambda answer: answer.root_cause_location or "Root cause location not identified.",
    list_references=lambda answer: [file.path for file in answer.relevant_files],
    check_answer=check_answer,
)
