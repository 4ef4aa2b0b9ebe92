"""The web search that agents may use: LangChain's Tavily tool, restricted to one short query in plain words a run.

`langchain-tavily` makes the request. Its own client ignores proxies, reads responses of any size, and repeats what the
server says, so the request is sent by a client of ours.
"""

import json
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import ToolException
from langchain_tavily import TavilySearch
from langchain_tavily._utilities import TavilySearchAPIWrapper
from pydantic import BaseModel, Field, PrivateAttr, SecretStr

from triage.base.errors import AnswerTooLarge, TriageError
from triage.base.http_client import HttpResponse, RequestFailed, send_request
from triage.base.network import PROXY_LOGIN_REFUSED
from triage.base.threads import in_thread
from triage.safety.secrets.redactor import Redact
from triage.safety.secrets.web_query import sanitize_query
from triage.web.search_results import parse_results

MAX_RESULTS = 5
MAX_SEARCHES = 3
"""Of a run: one for each round. An advanced search costs two of Tavily's credits."""
TAVILY_URL = "https://api.tavily.com"
MAX_RESPONSE_BYTES = 1_000_000
"""Five results without their raw text have about ten kilobytes."""
SEARCH_SECONDS = 60.0
"""The step's own time limit, from the settings, usually ends earlier."""
CHECK_SECONDS = 10.0

_STATUS_REASONS = {
    401: "unauthorized (401)",
    403: "forbidden (403)",
    407: PROXY_LOGIN_REFUSED,
    429: "rate limited (429)",
    432: "plan's limit reached (432)",
    433: "pay-as-you-go limit reached (433)",
}


class SearchFailed(ToolException):
    """The search gave no usable answer. The message is our own name for the reason."""


class SearchUnavailable(TriageError):
    """The search cannot be used."""


@dataclass(frozen=True)
class TavilyClient:
    api_key: SecretStr
    base_url: str = TAVILY_URL

    async def search(self, parameters: dict[str, Any]) -> list[Any]:
        """Return the results of Tavily's `/search` endpoint, unchecked. Raises SearchFailed if it did not answer."""
        try:
            response = await in_thread(lambda: self._send("POST", "/search", SEARCH_SECONDS, json=parameters))
        except (RequestFailed, AnswerTooLarge) as error:
            raise SearchFailed(str(error)) from None
        if response.status != 200:
            raise SearchFailed(_STATUS_REASONS.get(response.status, f"search failed ({response.status})"))
        return _read_results(response.body)

    def check(self) -> str:
        """Return how far the search can be used, by the account's usage, which costs nothing.

        Raises:
            SearchUnavailable: It cannot be reached, or refuses the key.
        """
        try:
            status = self._send("GET", "/usage", CHECK_SECONDS).status
        except RequestFailed as error:
            raise SearchUnavailable(f"cannot be reached{error.problem and f': {error.problem}'}") from None
        except AnswerTooLarge as error:
            raise SearchUnavailable(f"cannot be used: {error}") from None
        if status == 407:
            raise SearchUnavailable(f"cannot be reached: {PROXY_LOGIN_REFUSED}")
        if 300 <= status < 400:
            raise SearchUnavailable(f"redirects to another address ({status}), which is not followed")
        if status in (401, 403):
            raise SearchUnavailable(f"the key is refused ({status})")
        return "reachable, accepts the key" if status < 400 else "reachable; the key was not checked"

    def _send(self, method: str, path: str, seconds: float, **arguments: Any) -> HttpResponse:
        headers = {"Authorization": f"Bearer {self.api_key.get_secret_value()}"}
        limits: dict[str, Any] = {"seconds": seconds, "max_bytes": MAX_RESPONSE_BYTES}
        return send_request(method, f"{self.base_url}{path}", headers=headers, **limits, **arguments)


def _read_results(data: bytes) -> list[Any]:
    try:
        results = json.loads(data)["results"]
    except (ValueError, TypeError, LookupError, RecursionError):
        results = None
    if not isinstance(results, list):
        raise SearchFailed("unreadable answer")
    return results


class SearchQuery(BaseModel):
    """Arguments of the tool: a model can set no domains, and ask for no raw content or images."""

    query: str = Field(description="What to search for, at most 200 characters")


class _Requests(TavilySearchAPIWrapper):
    """Sends what the library asks for by our client."""

    _client: TavilyClient = PrivateAttr()

    async def raw_results_async(self, **parameters: Any) -> dict[str, Any]:  # type: ignore[override]  # all by name
        asked = {name: value for name, value in parameters.items() if value not in (None, False)}
        return {"results": await self._client.search(asked)}


class WebSearchTool(TavilySearch):
    """Sends each query of a run once, at most `MAX_SEARCHES`: one a round.

    The results never come from a cache, which somebody may have forged: their addresses become links. A failure
    raises `SearchFailed` with a short name, because a message from outside has no place in a prompt.
    """

    name: str = "tavily_search"
    description: str = "Searches the web for pages on software bugs. Input: a short query in plain words."
    args_schema: type[BaseModel] = SearchQuery
    _redact: Redact = PrivateAttr(default_factory=lambda: lambda tree: tree)
    _answers: dict[str, dict[str, Any] | None] = PrivateAttr(default_factory=dict)
    """By query; None for a search that has failed, or that still runs."""

    def _run(self, *_: Any, **__: Any) -> dict[str, Any]:
        # The inherited one would send the query unchecked, by langchain-tavily's own client.
        raise NotImplementedError("the web search is asynchronous")

    async def _arun(self, query: str, **_: Any) -> dict[str, Any]:  # type: ignore[override]  # fewer arguments: the point
        text = sanitize_query(self._redact(sanitize_query(query)))
        if not text:
            return {"results": []}
        if text in self._answers:  # the rules fallback searches again after the model failed
            if (known := self._answers[text]) is None:
                raise SearchFailed("this search was made already")
            return known
        if len(self._answers) == MAX_SEARCHES:
            raise SearchFailed(f"{MAX_SEARCHES} searches were made already, and a run makes no more")
        self._answers[text] = None
        answer = {"results": parse_results(self._redact(await self._search(text)), MAX_RESULTS)}
        self._answers[text] = answer
        return answer

    async def _search(self, text: str) -> list[Any]:
        try:
            results: list[Any] = (await super()._arun(text))["results"]
        except SearchFailed:
            raise
        except ToolException:  # the library's word for no results
            return []
        return results


def build_search_tool(
    api_key: SecretStr,
    base_url: str | None = None,
    redact: Redact = lambda tree: tree,
) -> WebSearchTool:
    """Return the tool for one run. `redact` masks our own secrets in what is sent and in what comes back."""
    # An error must not come back as if it were an answer, hence `handle_tool_error`.
    requests = _Requests(tavily_api_key=api_key)
    requests._client = TavilyClient(api_key, base_url or TAVILY_URL)
    tool = WebSearchTool(
        api_wrapper=requests, max_results=MAX_RESULTS, search_depth="advanced", topic=None, handle_tool_error=False
    )
    tool._redact = redact
    return tool
