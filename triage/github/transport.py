"""Requests to GitHub, through PyGithub's requester: authentication, spacing of writes, addresses of any server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import requests
from github import Auth
from github.GithubException import GithubException
from github.Requester import Requester

import triage
from triage.github.faults import Fault, Refusal, fault_of
from triage.github.patience import Patience, Waits
from triage.threads import stop_if_abandoned

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
PAGE_ITEMS = 100
"""The most that GitHub puts on a page."""
MOST_PAGES = 100


class Transport:
    """JSON in, JSON out. Every failure is a `Fault`."""

    def __init__(
        self,
        token: str,
        api_url: str,
        *,
        waits: Waits,
        seconds_between_writes: float = 1.0,
        timeouts_seconds: tuple[float, float] = (CONNECT_SECONDS, READ_SECONDS),
        backoff_seconds: float = 0.5,
        ca_file: Path | None = None,
    ) -> None:
        self._requester = Requester(
            auth=Auth.Token(token) if token else None,
            base_url=api_url,
            # requests takes the pair (connect, read); PyGithub's annotation knows the single number only.
            timeout=cast("int", timeouts_seconds),
            user_agent=f"bug-triage/{triage.__version__}",
            per_page=PAGE_ITEMS,
            verify=str(ca_file) if ca_file else True,
            retry=Patience(waits=waits, backoff_factor=backoff_seconds, backoff_max=10.0),
            pool_size=None,
            seconds_between_requests=None,
            seconds_between_writes=seconds_between_writes,
        )

    def get(self, path: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Read one thing."""
        return self._ask("GET", path, parameters=dict(parameters or {}))

    def pages(self, path: str) -> list[Any]:
        """Read a list to its end, at most 10,000 items."""
        items: list[Any] = []
        for page in range(1, MOST_PAGES + 1):
            answer = self.get(path, {"per_page": PAGE_ITEMS, "page": page})
            if not isinstance(answer, list):
                raise Fault(Refusal.UNCLEAR)
            items += answer
            if len(answer) < PAGE_ITEMS:
                break
        return items

    def write(self, verb: str, path: str, body: Mapping[str, Any]) -> Any:
        """Write one thing, once."""
        return self._ask(verb, path, body=dict(body))

    def viewer(self) -> str | None:
        """Login that the token acts as; none when GitHub does not tell. `GET /user` is refused to a job's token."""
        try:
            answer = self._ask("POST", self._requester.graphql_url, body={"query": "{ viewer { login } }"})
        except Fault:
            return None
        data = answer.get("data") if isinstance(answer, dict) else None
        viewer = data.get("viewer") if isinstance(data, dict) else None
        login = viewer.get("login") if isinstance(viewer, dict) else None
        return login if isinstance(login, str) and login else None

    def close(self) -> None:
        """Give the connections back."""
        self._requester.close()

    def _ask(
        self, verb: str, path: str, parameters: dict[str, Any] | None = None, body: dict[str, Any] | None = None
    ) -> Any:
        stop_if_abandoned()
        try:
            return self._requester.requestJsonAndCheck(verb, path, parameters, None, body)[1]
        except GithubException as error:
            message = error.data.get("message") if isinstance(error.data, dict) else None
            raise fault_of(error.status, str(message or ""), error.headers or {}) from None
        except requests.RequestException:
            raise Fault(Refusal.UNCLEAR) from None
        except (ValueError, TypeError, AttributeError, AssertionError):
            # PyGithub reads fields of an answer before it knows that they are there.
            raise Fault(Refusal.UNCLEAR) from None
