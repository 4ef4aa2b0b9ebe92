"""Web search: what is known outside about the symptom. It sees the issue, never the code: what it sends leaves."""

import json
import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from triage.agents.agent import Agent, AgentAnswer, to_agent_finding
from triage.agents.prompt_sections import format_issue
from triage.agents.prompts import build_messages, build_system_message, fence
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFinding, WebResult, WebSearchFinding
from triage.errors import InvalidAnswer
from triage.ports import Model, Services, Toolset
from triage.secrets.web_query import restrict_query, sanitize_query

MAX_TOKENS = 1_200
QUERY_TOKENS = 200
MAX_RESULTS = 3
MAX_SEARCHES = 1


async def answer_with_model(case: AgentInput, services: Services, model: Model) -> AgentAnswer[WebSearchFinding]:
    """Two calls, never one with both: a model with the tool chooses the query, a structured one reads the results."""
    tools = _require_tools(services)
    chooser = model.with_tools(list(tools.tools), "fast", QUERY_TOKENS)
    choice = await chooser.ainvoke(build_messages("web_search", format_issue(case)))
    if not choice.tool_calls and not choice.invalid_tool_calls:
        return AgentAnswer(_build_finding([], "The model saw nothing to search for."))
    usable = _rewrite_queries(choice.tool_calls[:MAX_SEARCHES], tools.tools[0].name, case)
    if not usable:
        raise InvalidAnswer("no usable search was asked for")
    results = await tools.run(choice.model_copy(update={"tool_calls": usable, "invalid_tool_calls": []}))
    pages = parse_results(results)
    if not pages:
        return AgentAnswer(_build_finding([], _explain_no_pages(results)))
    reader = model.structured_output(WebSearchFinding, "fast", MAX_TOKENS)
    answer = await reader.ainvoke(_build_reader_prompt(case, pages))
    return AgentAnswer(_correct_answer(answer, pages))


def _rewrite_queries(calls: Sequence[ToolCall], name: str, case: AgentInput) -> list[ToolCall]:
    """The calls of the tool, each with a query of the issue's words; with the rules' query where none is left."""
    shown = list(format_issue(case).values())
    asked = [(call, call["args"].get("query")) for call in calls if call["name"] == name]
    by_rules = choose_query(case) or sanitize_query(case.reading.title)
    composed = [(call, restrict_query(query, shown) or by_rules) for call, query in asked if isinstance(query, str)]
    return [ToolCall(name=name, args={"query": query}, id=call["id"]) for call, query in composed if query]


def _build_reader_prompt(case: AgentInput, pages: Sequence[dict[str, str]]) -> list[BaseMessage]:
    shown = "\n\n".join(f"{page['title']}\n{page['url']}\n{page['content']}" for page in pages)
    return [build_system_message("web_result"), fence(format_issue(case) | {"search results": shown})]


def _correct_answer(answer: WebSearchFinding, pages: Sequence[dict[str, str]]) -> WebSearchFinding:
    """Only pages that the tool really returned survive, under the title that it returned."""
    titles = {page["url"]: page["title"] for page in pages}
    kept = [
        result.model_copy(update={"title": titles[result.url]})
        for result in answer.relevant_results
        if result.url in titles
    ]
    return answer.model_copy(update={"agent_name": "web_search", "relevant_results": kept[:MAX_RESULTS]})


async def answer_with_rules(case: AgentInput, services: Services) -> WebSearchFinding:
    """Search for the error message and keep the pages that share its words."""
    query = choose_query(case)
    if not query:
        return _build_finding([], "The issue shows no error message to search for.")
    tools = _require_tools(services)
    call = {"name": tools.tools[0].name, "args": {"query": query}, "id": "by-rules", "type": "tool_call"}
    results = await tools.run(AIMessage(content="", tool_calls=[call]))
    pages = parse_results(results)
    if not pages:
        return _build_finding([], _explain_no_pages(results))
    wanted = _split_words(query)
    shared = [(len(wanted & _split_words(page["title"] + " " + page["content"])), page) for page in pages]
    kept = [
        WebResult(
            title=page["title"],
            url=page["url"],
            relevance_reason=f"shares {count} of {len(wanted)} words with the error message",
        )
        for count, page in sorted(shared, key=lambda pair: -pair[0])
        if count * 2 >= len(wanted)
    ]
    return _build_finding(kept[:MAX_RESULTS], f"{len(kept)} of {len(pages)} pages share the error message's words.")


def _explain_no_pages(results: Sequence[ToolMessage]) -> str:
    """Why there is no page: other agents must not take a search that failed for one that found nothing."""
    failed = any(message.status == "error" for message in results)
    return "The search failed: what is known outside was not seen." if failed else "The search returned nothing."


def choose_query(case: AgentInput) -> str:
    """The first error message that leaves three words without what belongs to the reporter alone."""
    queries = (sanitize_query(message) for message in case.reading.error_messages)
    return next((query for query in queries if len(query.split()) >= 3), "")


def parse_results(messages: Sequence[ToolMessage]) -> list[dict[str, str]]:
    """Pages in the search tool's answers; an answer that is an error or of another form has none."""
    pages: dict[str, dict[str, str]] = {}
    for message in messages:
        try:
            told = json.loads(message.text) if message.status != "error" else {}
        except (ValueError, RecursionError):
            continue
        for result in told.get("results", []) if isinstance(told, dict) else []:
            if isinstance(result, dict) and isinstance(result.get("url"), str):
                url = result["url"]
                pages[url] = {
                    "url": url,
                    "title": str(result.get("title") or url),
                    "content": str(result.get("content") or "")[:4_000],
                }
    return list(pages.values())


def _split_words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Za-z_]{3,}", text)}


def _build_finding(results: list[WebResult], summary: str) -> WebSearchFinding:
    return WebSearchFinding(
        agent_name="web_search",
        summary=summary,
        confidence=0.4 if results else 0.1,
        reasoning="Pages are compared with the error message by their words.",
        error=None,
        relevant_results=results,
        external_root_cause=None,
    )


def _require_tools(services: Services) -> Toolset:
    assert services.web_tools is not None, "the law selects web search only where it is available"
    return services.web_tools


def to_finding(answer: WebSearchFinding) -> AgentFinding:
    """External cause and URLs."""
    details = answer.external_root_cause or "No external root cause identified."
    return to_agent_finding(answer, details, [result.url for result in answer.relevant_results])


AGENT = Agent(
    name="web_search",
    capabilities=frozenset({"untrusted input", "outbound requests"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    to_finding=to_finding,
)
