"""The web search that agents may use: LangChain's Tavily tool, restricted to one short query in plain words a run."""

from collections.abc import Callable
from typing import Any

from langchain_tavily import TavilySearch
from pydantic import BaseModel, Field, PrivateAttr, SecretStr

from triage.base.network import DIRECT, Network
from triage.safety.secrets.web_query import sanitize_query
from triage.web.search_results import parse_results
from triage.web.tavily_client import TAVILY_URL, SearchFailed, TavilyClient

MAX_RESULTS = 5


class SearchQuery(BaseModel):
    """Arguments of the tool: a model can set no domains, and ask for no raw content or images."""

    query: str = Field(description="What to search for, at most 200 characters")


class WebSearchTool(TavilySearch):
    """Searches once per run; a second query gets the results of the first.

    The results never come from a cache, which somebody may have forged: their addresses become links. A failure
    raises `SearchFailed` with a short name, because a message from outside has no place in a prompt.
    """

    name: str = "tavily_search"
    description: str = "Searches the web for pages on software bugs. Input: a short query in plain words."
    args_schema: type[BaseModel] = SearchQuery
    _client: TavilyClient = PrivateAttr()
    _redact: Callable[[str], str] = PrivateAttr(str)
    _was_sent: bool = PrivateAttr(False)
    _results: dict[str, Any] | None = PrivateAttr(None)

    def _run(self, *_: Any, **__: Any) -> dict[str, Any]:
        # The inherited one would send the query unchecked, by langchain-tavily's own client.
        raise NotImplementedError("the web search is asynchronous")

    async def _arun(self, query: str, **_: Any) -> dict[str, Any]:  # type: ignore[override]  # fewer arguments: the point
        text = sanitize_query(self._redact(sanitize_query(query)))
        if not text:
            return {"results": []}
        parameters = {"query": text, "max_results": MAX_RESULTS, "search_depth": "advanced"}
        if self._was_sent:
            # The rules fallback searches again after the model failed.
            if self._results is None:
                raise SearchFailed("one search was made already, and a run makes one")
            return self._results
        self._was_sent = True
        self._results = {"results": parse_results(await self._client.search(parameters), MAX_RESULTS)}
        return self._results


def build_search_tool(
    api_key: SecretStr,
    base_url: str | None = None,
    network: Network = DIRECT,
    redact: Callable[[str], str] = str,
) -> WebSearchTool:
    """Returns the tool for one run. `redact` removes our own secrets from its query."""
    # An error must not come back as if it were an answer, hence `handle_tool_error`.
    tool = WebSearchTool(tavily_api_key=api_key.get_secret_value(), handle_tool_error=False)
    tool._client = TavilyClient(api_key, base_url or TAVILY_URL, network)
    tool._redact = redact
    return tool
