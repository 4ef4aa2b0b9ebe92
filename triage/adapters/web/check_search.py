"""Is the search there, and does it take the key? Asks for the account's usage, which costs nothing."""

import requests
from pydantic import SecretStr

from triage.errors import TriageError
from triage.http_sessions import configure_session
from triage.network import DIRECT, PROXY_LOGIN_REFUSED, Network, describe_connection_problem

TAVILY = "https://api.tavily.com"
PROBE_SECONDS = 10.0


class SearchUnavailable(TriageError):
    """The search cannot be used."""


def check_search(api_key: SecretStr, base_url: str | None, network: Network = DIRECT) -> str:
    """What the search says.

    Raises:
        SearchUnavailable: It cannot be reached, or refuses the key.
    """
    headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"}
    address = f"{base_url or TAVILY}/usage"
    try:
        with requests.Session() as session:
            configure_session(session, network, address)
            answer = session.get(address, headers=headers, timeout=PROBE_SECONDS, allow_redirects=False)
    except (requests.RequestException, OSError) as error:
        reason = describe_connection_problem(error)
        raise SearchUnavailable(f"cannot be reached{reason and f': {reason}'}") from None
    if answer.status_code == 407:
        raise SearchUnavailable(f"cannot be reached: {PROXY_LOGIN_REFUSED}")
    if answer.is_redirect:
        raise SearchUnavailable(f"sends everybody elsewhere ({answer.status_code}), and is not followed")
    if answer.status_code in (401, 403):
        raise SearchUnavailable(f"the key is refused ({answer.status_code})")
    return "reachable, and takes the key" if answer.ok else "reachable; the key was not checked"
