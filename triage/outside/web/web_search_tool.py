"""The web search that agents may use: LangChain's Tavily tool, restricted to a short query in plain words."""

import re
from typing import Any

import requests
from langchain_core.tools import BaseTool, ToolException, tool
from langchain_tavily import TavilySearch
from pydantic import SecretStr

from triage.base.threads import in_thread
from triage.outside.http_client import RequestFailed
from triage.outside.web.search_results import MAX_RESULTS, parse_results
from triage.safety.secrets.redactor import Redact
from triage.safety.secrets.web_query import sanitize_query

_STATUS = re.compile(r"Error (\d{3}):")
_STATUS_REASONS = {
    401: "unauthorized (401)",
    403: "forbidden (403)",
    429: "rate limited (429)",
    432: "plan's limit reached (432)",
    433: "pay-as-you-go limit reached (433)",
}


def _name_failure(error: Exception) -> str:
    """Return our own name for what the library has caught: its message repeats what the server says."""
    if status := _STATUS.match(str(error)):
        return _STATUS_REASONS.get(int(status[1]), f"search failed ({status[1]})")
    is_answered = isinstance(error, requests.JSONDecodeError) or not isinstance(error, requests.RequestException)
    return "unreadable answer" if is_answered else str(RequestFailed(error))


def build_search_tool(api_key: SecretStr, base_url: str | None = None, redact: Redact = lambda tree: tree) -> BaseTool:
    """Return the tool for one run. `redact` masks our own secrets in what is sent and in what comes back.

    The results never come from a cache, which somebody may have forged: their addresses become links. A failure raises
    `ToolException` with a short name, because a message from outside has no place in a prompt. A search costs two of
    Tavily's credits: the agent makes one, and its rules one more if the model failed.
    """
    tavily = TavilySearch(
        tavily_api_key=api_key.get_secret_value(),
        api_base_url=base_url,
        max_results=MAX_RESULTS,
        search_depth="advanced",
        handle_tool_error=False,  # no results must not come back as a text
    )

    # Its only argument: a model can set no domains, and ask for no raw content or images.
    @tool("tavily_search", parse_docstring=True)
    async def search(query: str) -> dict[str, Any]:
        """Searches the web for pages on software bugs. Input: a short query in plain words.

        Args:
            query: What to search for, at most 200 characters
        """
        text = sanitize_query(redact(sanitize_query(query)))
        if not text:
            return {"results": []}
        return {"results": parse_results(redact(await _search(tavily, text)))}

    return search


async def _search(tavily: TavilySearch, text: str) -> list[Any]:
    """Return Tavily's results. Raises ToolException with a name of ours."""
    try:
        # Tavily's asynchronous client takes no proxies from the environment.
        found = await in_thread(tavily.invoke, {"query": text})
    except ToolException:  # the library's word for no results
        return []
    if "error" in found:
        raise ToolException(_name_failure(found["error"]))
    if not isinstance(found["results"], list):
        raise ToolException("unreadable answer")
    results: list[Any] = found["results"]
    return results
