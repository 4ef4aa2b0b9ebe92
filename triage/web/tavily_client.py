"""Asks the Tavily API.

The client of `langchain-tavily` ignores proxies, reads responses of any size, and repeats what the server says.
"""

import json
from dataclasses import dataclass
from typing import Any

import aiohttp
import requests
from langchain_core.tools import ToolException
from pydantic import SecretStr

from triage.base.errors import AnswerTooLarge, TriageError
from triage.base.http_sessions import configure_session
from triage.base.network import DIRECT, PROXY_LOGIN_REFUSED, Network, describe_connection_problem

TAVILY_URL = "https://api.tavily.com"
MAX_RESPONSE_BYTES = 1_000_000
"""Five results without their raw text have about ten kilobytes."""
TIMEOUT = aiohttp.ClientTimeout(total=60.0, connect=10.0)
"""Seconds. The step's own time limit, from the settings, usually ends earlier."""
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
    network: Network = DIRECT

    async def search(self, parameters: dict[str, Any]) -> list[Any]:
        """Returns the results of Tavily's `/search` endpoint, unchecked. Raises SearchFailed if none came back."""
        try:
            async with (
                aiohttp.ClientSession(timeout=TIMEOUT) as session,
                session.post(
                    f"{self.base_url}/search",
                    json=parameters,
                    headers={
                        "Authorization": f"Bearer {self.api_key.get_secret_value()}",
                        "Accept-Encoding": "identity",
                    },
                    allow_redirects=False,
                    proxy=self.network.proxy_for(self.base_url),
                    ssl=self.network.ssl_context(self.base_url),
                ) as response,
            ):
                if response.status != 200:
                    raise SearchFailed(_STATUS_REASONS.get(response.status, f"search failed ({response.status})"))
                return _parse_results(await _read_bounded(response.content))
        except TimeoutError:
            raise SearchFailed("timed out") from None
        except (aiohttp.ClientError, OSError) as error:
            raise SearchFailed(describe_connection_problem(error) or "connection failed") from None


async def _read_bounded(stream: aiohttp.StreamReader) -> bytes:
    data = bytearray()
    async for chunk in stream.iter_any():
        data += chunk
        if len(data) > MAX_RESPONSE_BYTES:
            raise SearchFailed(str(AnswerTooLarge(MAX_RESPONSE_BYTES)))
    return bytes(data)


def _parse_results(data: bytes) -> list[Any]:
    try:
        results = json.loads(data)["results"]
    except (ValueError, TypeError, LookupError, RecursionError):
        results = None
    if not isinstance(results, list):
        raise SearchFailed("unreadable answer")
    return results


def check_search(api_key: SecretStr, base_url: str | None, network: Network = DIRECT) -> str:
    """Returns how far the search can be used, by the account's usage, which costs nothing.

    Raises:
        SearchUnavailable: It cannot be reached, or refuses the key.
    """
    headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"}
    url = f"{base_url or TAVILY_URL}/usage"
    try:
        with requests.Session() as session:
            configure_session(session, network, url)
            response = session.get(url, headers=headers, timeout=CHECK_SECONDS, allow_redirects=False, stream=True)
    except (requests.RequestException, OSError) as error:
        reason = describe_connection_problem(error)
        raise SearchUnavailable(f"cannot be reached{reason and f': {reason}'}") from None
    if response.status_code == 407:
        raise SearchUnavailable(f"cannot be reached: {PROXY_LOGIN_REFUSED}")
    if response.is_redirect:
        raise SearchUnavailable(f"redirects to another address ({response.status_code}), which is not followed")
    if response.status_code in (401, 403):
        raise SearchUnavailable(f"the key is refused ({response.status_code})")
    return "reachable, accepts the key" if response.ok else "reachable; the key was not checked"
