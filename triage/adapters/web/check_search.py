"""Checks that the web search can be reached and accepts the key, by the account's usage, which costs nothing."""

import requests
from pydantic import SecretStr

from triage.adapters.web.tavily_client import TAVILY_URL
from triage.errors import TriageError
from triage.http_sessions import configure_session
from triage.network import DIRECT, PROXY_LOGIN_REFUSED, Network, describe_connection_problem

TIMEOUT_SECONDS = 10.0


class SearchUnavailable(TriageError):
    pass


def check_search(api_key: SecretStr, base_url: str | None, network: Network = DIRECT) -> str:
    """Returns how far the search can be used, in a few words.

    Raises:
        SearchUnavailable: It cannot be reached, or refuses the key.
    """
    headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"}
    url = f"{base_url or TAVILY_URL}/usage"
    try:
        with requests.Session() as session:
            configure_session(session, network, url)
            response = session.get(url, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=False)
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
