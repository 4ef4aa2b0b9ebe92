"""Is the search there, and does it take the key? Asks for the account's usage, which costs nothing."""

import requests
from pydantic import SecretStr

from triage.errors import TriageError

TAVILY = "https://api.tavily.com"
PROBE_SECONDS = 10.0


class SearchUnavailable(TriageError):
    """The search cannot be used."""


def reach(api_key: SecretStr, base_url: str | None) -> str:
    """What the search says.

    Raises:
        SearchUnavailable: It cannot be reached, or refuses the key.
    """
    headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"}
    try:
        answer = requests.get(f"{base_url or TAVILY}/usage", headers=headers, timeout=PROBE_SECONDS)
    except requests.RequestException:
        raise SearchUnavailable("cannot be reached") from None
    if answer.status_code in (401, 403):
        raise SearchUnavailable(f"the key is refused ({answer.status_code})")
    return "reachable, and takes the key" if answer.ok else "reachable; the key was not checked"
