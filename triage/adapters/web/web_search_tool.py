"""The search tool: Tavily's, made careful. Only a short query of plain words leaves, once; errors are errors."""

import json
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from langchain_tavily import TavilySearch
from pydantic import BaseModel, Field, PrivateAttr, SecretStr

from triage import __version__
from triage.adapters.web.search_results import parse_results
from triage.adapters.web.tavily_client import SearchFailed, TavilyClient
from triage.network import DIRECT, Network
from triage.ports import ResponseCache
from triage.secrets.web_query import sanitize_query

MAX_RESULTS = 5


class SearchQuery(BaseModel):
    """All that a model may say to the search: no domains, no raw content, no images."""

    query: str = Field(description="What to search for, at most 200 characters")


class WebSearchTool(TavilySearch):
    """Tavily's tool with a query as its only argument, for one run, which may ask one thing: a second one is not sent.

    A failure is a tool error with a short name, because a message from outside has no place in a prompt or a report.
    """

    name: str = "tavily_search"
    description: str = "Searches the web for pages on software bugs. Input: a short query in plain words."
    args_schema: type[BaseModel] = SearchQuery
    api_wrapper: TavilyClient
    _response_cache: ResponseCache | None = PrivateAttr(None)
    _redact: Callable[[str], str] = PrivateAttr(str)
    _was_sent: bool = PrivateAttr(False)
    _results: dict[str, Any] | None = PrivateAttr(None)

    async def _arun(self, query: str, **_: Any) -> dict[str, Any]:  # type: ignore[override]  # fewer arguments: the point
        asked = sanitize_query(self._redact(sanitize_query(query)))
        if not asked:
            return {"results": []}
        given = {"query": asked, "max_results": self.max_results, "search_depth": self.search_depth}
        key = _cache_key(self.api_wrapper.base_url, given)
        known = _parse_cached(self._response_cache.get(key)) if self._response_cache else None
        if known is not None:
            return known
        if self._was_sent:
            # A twin that stands in for the model gets what the model got.
            if self._results is None:
                raise SearchFailed("one search was made already, and a run makes one")
            return self._results
        self._was_sent = True
        answer = await self.api_wrapper.raw_results_async(**given)
        self._results = pages = {"results": parse_results(answer["results"], MAX_RESULTS)}
        if self._response_cache:
            self._response_cache.put(key, json.dumps(pages))
        return pages


def _cache_key(address: str, given: dict[str, Any]) -> str:
    """Digest of all that shapes the answer."""
    return blake2b(json.dumps([__version__, address, given]).encode(), digest_size=16).hexdigest()


def _parse_cached(answer: str | None) -> dict[str, Any] | None:
    """Pages that an interrupted run had found; what cannot be read is none."""
    try:
        return {"results": parse_results(list(json.loads(answer)["results"]), MAX_RESULTS)} if answer else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def build_search_tool(
    api_key: SecretStr,
    base_url: str | None = None,
    replies: ResponseCache | None = None,
    network: Network = DIRECT,
    screened: Callable[[str], str] = str,
) -> WebSearchTool:
    """The tool, for one run.

    Args:
        api_key: Tavily's key.
        base_url: Another address for the service; none means Tavily's own.
        replies: Where answers are kept; none means nowhere.
        network: Proxies and certificates.
        screened: Takes our own secrets out of what is about to leave.
    """
    tool = WebSearchTool(
        max_results=MAX_RESULTS,
        search_depth="advanced",
        handle_tool_error=False,  # else an error comes back as if it were an answer
        api_wrapper=TavilyClient.model_validate(
            {"tavily_api_key": api_key.get_secret_value(), "api_base_url": base_url, "network": network}
        ),
    )
    tool._response_cache = replies
    tool._redact = screened
    return tool
