"""The search tool: Tavily's, made careful. Only a short query of plain words leaves; errors are errors."""

import json
import re
from hashlib import blake2b
from typing import Any

from langchain_tavily import TavilySearch
from pydantic import BaseModel, Field, PrivateAttr, SecretStr

from triage import __version__
from triage.ports import Replies
from triage.web.wire import CarefulWire

MAX_QUERY_CHARS = 200
MAX_RESULTS = 5
MAX_CONTENT_CHARS = 4_000


class SearchQuery(BaseModel):
    """All that a model may say to the search: no domains, no raw content, no images."""

    query: str = Field(description="What to search for, at most 200 characters")


class CarefulSearch(TavilySearch):
    """Tavily's tool with a query as its only argument.

    A failure is a tool error with a short name, because a message from outside has no place in a prompt or a report.
    """

    name: str = "tavily_search"
    description: str = "Searches the web for pages on software bugs. Input: a short query in plain words."
    args_schema: type[BaseModel] = SearchQuery
    api_wrapper: CarefulWire
    _replies: Replies | None = PrivateAttr(None)

    async def _arun(self, query: str, **_: Any) -> dict[str, Any]:  # type: ignore[override]  # fewer arguments: the point
        asked = plain_query(query)
        if not asked:
            return {"results": []}
        given = {"query": asked, "max_results": self.max_results, "search_depth": self.search_depth}
        key = _key(self.api_wrapper.address, given)
        known = _kept(self._replies.known(key)) if self._replies else None
        if known is not None:
            return known
        answer = await self.api_wrapper.raw_results_async(**given)
        pages = _pages(answer["results"])
        if self._replies:
            self._replies.keep(key, json.dumps(pages))
        return pages


def _key(address: str, given: dict[str, Any]) -> str:
    """Digest of all that shapes the answer."""
    return blake2b(json.dumps([__version__, address, given]).encode(), digest_size=16).hexdigest()


def _kept(answer: str | None) -> dict[str, Any] | None:
    """Pages that an interrupted run had found; what cannot be read is none."""
    try:
        return _pages(list(json.loads(answer)["results"])) if answer else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def plain_query(query: str) -> str:
    """The query as it leaves: one line, printable, without addresses, at most 200 characters."""
    words = re.sub(r"https?://\S*|\S+@\S+", " ", query)
    printable = "".join(c if c.isprintable() else " " for c in words)
    return " ".join(printable.split())[:MAX_QUERY_CHARS]


def _pages(results: list[Any]) -> dict[str, Any]:
    """Title, address and text of each page; anything else that was sent is dropped."""
    return {
        "results": [
            {
                "title": str(page.get("title") or "")[:300],
                "url": str(page["url"]),
                "content": str(page.get("content") or "")[:MAX_CONTENT_CHARS],
            }
            for page in results[:MAX_RESULTS]
            if isinstance(page, dict) and str(page.get("url", "")).startswith(("https://", "http://"))
        ]
    }


def search_tool(api_key: SecretStr, base_url: str | None = None, replies: Replies | None = None) -> CarefulSearch:
    """The tool.

    Args:
        api_key: Tavily's key.
        base_url: Another address for the service; none means Tavily's own.
        replies: Where answers are kept; none means nowhere.
    """
    tool = CarefulSearch(
        max_results=MAX_RESULTS,
        search_depth="advanced",
        handle_tool_error=False,  # else an error comes back as if it were an answer
        api_wrapper=CarefulWire.model_validate(
            {"tavily_api_key": api_key.get_secret_value(), "api_base_url": base_url}
        ),
    )
    tool._replies = replies
    return tool
