"""Tavily's client, made careful: through the job's proxy, bounded, every failure under a name of ours.

The package's own opens a connection past the proxy, reads whatever comes, and says what the other side said.
"""

import json
from typing import Any

import aiohttp
from langchain_core.tools import ToolException
from langchain_tavily._utilities import TavilySearchAPIWrapper

from triage.network import DIRECT, PROXY_LOGIN_REFUSED, Network, describe_connection_problem

TAVILY = "https://api.tavily.com"
MAX_ANSWER_BYTES = 1_000_000
"""Five pages without their raw text are some ten kilobytes."""
TIMEOUT = aiohttp.ClientTimeout(total=60.0, connect=10.0)
"""Seconds. The tool's own time, which ends a search that hangs, is the workflow's to set."""

_STATUS_REASONS = {
    401: "unauthorized (401)",
    403: "forbidden (403)",
    407: PROXY_LOGIN_REFUSED,
    429: "rate limited (429)",
    432: "plan's limit reached (432)",
    433: "pay-as-you-go limit reached (433)",
}


class SearchFailed(ToolException):
    """The search gave no answer that can be used. The message is our own name for why."""


class TavilyClient(TavilySearchAPIWrapper):
    """What the tool speaks through."""

    network: Network = DIRECT

    @property
    def base_url(self) -> str:
        """Of the service."""
        return self.api_base_url or TAVILY

    async def raw_results_async(self, **asked: Any) -> dict[str, Any]:  # type: ignore[override]  # handed on as they are
        """Ask, and read what is answered. Raises SearchFailed."""
        headers = {"Authorization": f"Bearer {self.tavily_api_key.get_secret_value()}"}
        given = {name: value for name, value in asked.items() if value is not None}
        try:
            async with (
                aiohttp.ClientSession(timeout=TIMEOUT) as session,
                session.post(
                    f"{self.base_url}/search",
                    json=given,
                    headers=headers,
                    allow_redirects=False,
                    proxy=self.network.proxy_for(self.base_url),
                    ssl=self.network.ssl_context(self.base_url),
                ) as answer,
            ):
                if answer.status != 200:
                    raise SearchFailed(_STATUS_REASONS.get(answer.status, f"search failed ({answer.status})"))
                return _parse_answer(await _read_bounded(answer.content))
        except TimeoutError:
            raise SearchFailed("timed out") from None
        except (aiohttp.ClientError, OSError) as error:
            raise SearchFailed(describe_connection_problem(error) or "connection failed") from None


async def _read_bounded(stream: aiohttp.StreamReader) -> bytes:
    data = bytearray()
    async for chunk in stream.iter_any():
        data += chunk
        if len(data) > MAX_ANSWER_BYTES:
            raise SearchFailed(f"answer larger than {MAX_ANSWER_BYTES // 1_000_000} MB")
    return bytes(data)


def _parse_answer(data: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
        raise SearchFailed("unreadable answer")
    return answer
