"""The search tool: Tavily's, made careful. Only a short query of plain words leaves; errors are errors."""

import re
from typing import Any

from langchain_core.tools import ToolException
from langchain_tavily import TavilySearch
from pydantic import BaseModel, Field, SecretStr

MAX_QUERY_CHARS = 200
MAX_RESULTS = 5
MAX_CONTENT_CHARS = 4_000


class SearchQuery(BaseModel):
    """All that a model may say to the search: no domains, no raw content, no images."""

    query: str = Field(description="What to search for, at most 200 characters")


class CarefulSearch(TavilySearch):
    """Tavily's tool with a query as its only argument.

    The package returns failures as values that are no JSON (`{"error": ValueError(...)}`); here they are tool errors
    with a short name, because a message from outside has no place in a prompt or a report.
    """

    name: str = "tavily_search"
    description: str = "Searches the web for pages on software bugs. Input: a short query in plain words."
    args_schema: type[BaseModel] = SearchQuery

    async def _arun(self, query: str, **_: Any) -> dict[str, Any]:  # type: ignore[override]  # fewer arguments: the point
        asked = plain_query(query)
        if not asked:
            return {"results": []}
        try:
            answer = await super()._arun(query=asked)
        except ToolException:
            return {"results": []}  # the package's way to say that nothing was found; its failures are values
        return _pages(answer)


def plain_query(query: str) -> str:
    """The query as it leaves: one line, printable, without addresses, at most 200 characters."""
    words = re.sub(r"https?://\S*|\S+@\S+", " ", query)
    printable = "".join(c if c.isprintable() else " " for c in words)
    return " ".join(printable.split())[:MAX_QUERY_CHARS]


def _pages(answer: Any) -> dict[str, Any]:
    """Title, address and text of each page; anything else that was sent is dropped."""
    if not isinstance(answer, dict) or "error" in answer:
        raise ToolException(_named(answer.get("error") if isinstance(answer, dict) else None))
    results = answer.get("results")
    if not isinstance(results, list):
        raise ToolException("unreadable answer")
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


def _named(error: object) -> str:
    """Our own name for a failure, by the status that Tavily's package puts into its message."""
    status = re.search(r"Error (\d{3})", str(error))
    known = {"401": "unauthorized (401)", "429": "rate limited (429)", "432": "plan's limit reached (432)"}
    if status:
        return known.get(status[1], f"search failed ({status[1]})")
    return f"search failed ({type(error).__name__})"


def search_tool(api_key: SecretStr, base_url: str | None = None) -> CarefulSearch:
    """The tool.

    Args:
        api_key: Tavily's key.
        base_url: Another address for the service; none means Tavily's own.
    """
    address = {"api_base_url": base_url} if base_url else {}
    return CarefulSearch(
        max_results=MAX_RESULTS,
        search_depth="advanced",
        handle_tool_error=False,  # else an error comes back as if it were an answer
        tavily_api_key=api_key.get_secret_value(),
        **address,
    )
