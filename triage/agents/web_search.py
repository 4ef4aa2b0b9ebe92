"""Web search: what others know about the symptom. It sees the issue and never the code, because its queries leave."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from triage.agents.agent import Agent, AgentResult
from triage.agents.prompts import build_messages, format_issue, format_languages, make_mark
from triage.agents.services import Services
from triage.base.errors import InvalidAnswer
from triage.domain.agent_input import AgentInput
from triage.domain.findings import WebResult, WebSearchFinding
from triage.domain.run import ISSUE_SEARCH
from triage.safety.secrets.web_query import restrict_query, sanitize_query

if TYPE_CHECKING:
    from triage.agents.tool_runner import ToolRunner
    from triage.outside.model.chat_model import ChatModel


MAX_TOKENS = 1_200
QUERY_TOKENS = 200
MAX_RESULTS = 3
MIN_SHARE = 0.8
"""Of a message's words, for it to be the same message: values differ."""


async def answer_with_model(
    agent_input: AgentInput, services: Services, model: ChatModel
) -> AgentResult[WebSearchFinding]:
    """Ask a model with the search tool for a query, then a model with the schema about the results.

    Raises InvalidAnswer if no usable search was asked for.
    """
    tools = _require_tools(services)
    if tools.tools[0].name == ISSUE_SEARCH:  # there is nothing to choose
        return AgentResult(await _search_issues(agent_input, tools))
    chooser = model.with_tools(list(tools.tools), "fast", QUERY_TOKENS)
    choice = await chooser.ainvoke(build_messages("web_search", format_issue(agent_input), mark=make_mark(agent_input)))
    if not choice.tool_calls and not choice.invalid_tool_calls:
        return AgentResult(_build_finding([], "The model saw nothing to search for."))
    query = _restrict_query(choice.tool_calls[0], tools.tools[0].name, agent_input) if choice.tool_calls else ""
    if not query:
        raise InvalidAnswer("no usable search was asked for")
    results = await _search(query, tools)
    pages = _read_pages(results)
    if not pages:
        return AgentResult(_build_finding([], _explain_no_pages(results)))
    reader = model.structured_output(WebSearchFinding, "fast", MAX_TOKENS)
    found = "\n\n".join(f"{page['title']}\n{page['url']}\n{page['content']}" for page in pages)
    parts = format_issue(agent_input) | format_languages(agent_input) | {"search results": found}
    answer = await reader.ainvoke(build_messages("web_result", parts, mark=make_mark(agent_input)))
    return AgentResult(_correct_answer(answer, pages))


def _restrict_query(call: ToolCall, name: str, agent_input: AgentInput) -> str:
    """Return the words of a query that the issue or the project's manifests have, else the query that rules would use.

    Empty for another call.
    """
    query = call["args"].get("query")
    if call["name"] != name or not isinstance(query, str):
        return ""
    allowed = restrict_query(query, [*format_issue(agent_input).values(), *agent_input.dependencies])
    return allowed or choose_query(agent_input) or sanitize_query(agent_input.parsed.title)


async def _search(query: str, tools: ToolRunner) -> list[ToolMessage]:
    call = ToolCall(name=tools.tools[0].name, args={"query": query}, id="search", type="tool_call")
    return await tools.run(AIMessage("", tool_calls=[call]))


def _correct_answer(answer: WebSearchFinding, pages: Sequence[dict[str, str]]) -> WebSearchFinding:
    """Return the answer with the pages that the tool returned: a model may invent pages and titles."""
    titles = {page["url"]: page["title"] for page in pages}
    returned = [
        result.model_copy(update={"title": titles[result.url]})
        for result in answer.relevant_results
        if result.url in titles
    ]
    return answer.model_copy(update={"agent_name": "web_search", "relevant_results": returned[:MAX_RESULTS]})


async def answer_with_rules(agent_input: AgentInput, services: Services) -> WebSearchFinding:
    """Search for the error message, and keep the pages that share half of its words."""
    tools = _require_tools(services)
    if tools.tools[0].name == ISSUE_SEARCH:
        return await _search_issues(agent_input, tools)
    query = choose_query(agent_input)
    if not query:
        return _build_finding([], "The issue shows no error message to search for.")
    answers = await _search(query, tools)
    pages = _read_pages(answers)
    if not pages:
        return _build_finding([], _explain_no_pages(answers))
    results = _list_alike(pages, query, 0.5, "shares {count} of {total} words with the error message")
    summary = f"{len(results)} of {len(pages)} pages share the error message's words."
    return _build_finding(results[:MAX_RESULTS], summary)


def _list_alike(pages: Sequence[dict[str, str]], text: str, share: float, reason: str) -> list[WebResult]:
    """Return the pages that have this share of the words of a text, those with most of them first."""
    wanted = _split_words(text)
    shared = [(len(wanted & _split_words(page["title"] + " " + page["content"])), page) for page in pages]
    return [
        WebResult(title=page["title"], url=page["url"], relevance_reason=reason.format(count=count, total=len(wanted)))
        for count, page in sorted(shared, key=lambda pair: -pair[0])
        if count >= share * len(wanted)
    ]


async def _search_issues(agent_input: AgentInput, tools: ToolRunner) -> WebSearchFinding:
    """Search the issues of the package that raised the error, and keep those that have most of its message's words."""
    package = agent_input.failing_package
    assert package is not None, "the routing rules select this search only where a package raised the error"
    call = ToolCall(name=ISSUE_SEARCH, args=package.model_dump(exclude={"is_declared"}), id="search", type="tool_call")
    answers = await tools.run(AIMessage("", tool_calls=[call]))
    pages = _read_pages(answers)
    if not pages:
        return _build_finding([], _explain_no_pages(answers))
    reason = f"the error is raised by {package.name}, and this issue has the same message"
    results = _list_alike(pages, sanitize_query(package.error), MIN_SHARE, reason)
    which = results[0].title if results else "None of the issues found there"
    summary = f"The error is raised by {package.name}. {which} has the same message."
    return _build_finding(results[:MAX_RESULTS], summary)


def _explain_no_pages(results: Sequence[ToolMessage]) -> str:
    # Other agents must not take a search that failed for one that found nothing.
    failed = any(message.status == "error" for message in results)
    return "The search failed: what is known outside was not seen." if failed else "The search returned nothing."


def choose_query(agent_input: AgentInput) -> str:
    """Return an error message without private details; empty if none has three words."""
    queries = (sanitize_query(text) for text in agent_input.parsed.error_messages)
    return next((query for query in queries if len(query.split()) >= 3), "")


def _read_pages(messages: Sequence[ToolMessage]) -> list[dict[str, str]]:
    """Return title, url and content of each page in the tool's answers, which `outside.web.search_results` checked."""
    answers = [json.loads(message.text) for message in messages if message.status != "error"]
    pages: list[dict[str, str]] = [page for answer in answers for page in answer["results"]]
    return [page | {"title": page["title"] or page["url"]} for page in pages]


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


def _require_tools(services: Services) -> ToolRunner:
    assert services.web_tools is not None, "the routing rules select web search only where it is available"
    return services.web_tools


AGENT = Agent(
    name="web_search",
    capabilities=frozenset({"untrusted input", "outbound requests"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    get_details=lambda answer: answer.external_root_cause or "No external root cause identified.",
    list_references=lambda answer: [result.url for result in answer.relevant_results],
)
