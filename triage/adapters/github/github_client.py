"""Requests to GitHub, through PyGithub's requester: authentication, spacing of writes, addresses of any server."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from github import Auth
from github.GithubException import GithubException
from github.Requester import HTTPSRequestsConnectionClass, Requester, RequestsResponse

import triage
from triage.adapters.github.github_errors import ErrorKind, GitHubError, error_from_response
from triage.adapters.github.github_retry import GitHubRetry, WaitBudget, parse_http_date
from triage.errors import GitHubUnavailable
from triage.http_sessions import configure_session
from triage.network import DIRECT, PROXY_LOGIN_REFUSED, Network, describe_connection_problem
from triage.threads import raise_if_abandoned

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
PAGE_SIZE = 100
"""The most that GitHub puts on a page."""
MAX_PAGES = 100


class GitHubClient:
    """JSON in, JSON out. Every failure is a `Fault`."""

    def __init__(
        self,
        token: str,
        api_url: str,
        *,
        waits: WaitBudget,
        seconds_between_writes: float = 1.0,
        timeouts_seconds: tuple[float, float] = (CONNECT_SECONDS, READ_SECONDS),
        backoff_seconds: float = 0.5,
        network: Network = DIRECT,
    ) -> None:
        self.server_time: datetime | None = None
        """The server's, when it last answered; none while it has not told."""
        self._requester = Requester(
            auth=Auth.Token(token) if token else None,
            base_url=api_url,
            # requests takes the pair (connect, read); PyGithub's annotation knows the single number only.
            timeout=cast("int", timeouts_seconds),
            user_agent=f"bug-triage/{triage.__version__}",
            per_page=PAGE_SIZE,
            verify=True,
            retry=GitHubRetry(waits=waits, backoff_factor=backoff_seconds, backoff_max=10.0),
            pool_size=None,
            seconds_between_requests=None,
            seconds_between_writes=seconds_between_writes,
        )
        # PyGithub takes a class of connections for all its requesters together, and opens them anew for each request.
        vars(self._requester)["_Requester__connectionClass"] = partial(_Connection, network, api_url)

    def get(self, path: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Read one thing."""
        return self._request("GET", path, parameters=dict(parameters or {}))

    def fetch_list(self, path: str, parameters: Mapping[str, Any] | None = None) -> list[Any]:
        """Read a list to its end, at most 10,000 items."""
        return [item for page in self.iterate_pages(path, parameters) for item in page]

    def iterate_pages(self, path: str, parameters: Mapping[str, Any] | None = None) -> Iterator[list[Any]]:
        """Read a list, page by page."""
        for number in range(1, MAX_PAGES + 1):
            page = self.get(path, {**(parameters or {}), "per_page": PAGE_SIZE, "page": number})
            if not isinstance(page, list):
                raise GitHubError(ErrorKind.UNKNOWN_OUTCOME)
            yield page
            if len(page) < PAGE_SIZE:
                break

    def write(self, verb: str, path: str, body: Mapping[str, Any]) -> Any:
        """Write one thing, once."""
        return self._request(verb, path, body=dict(body))

    def delete(self, path: str) -> None:
        """Delete one thing, once."""
        self._request("DELETE", path)

    def fetch_viewer_login(self) -> str | None:
        """Login that the token acts as; none when GitHub does not tell. `GET /user` is refused to a job's token."""
        try:
            answer = self._request("POST", self._requester.graphql_url, body={"query": "{ viewer { login } }"})
        except GitHubError:
            return None
        data = answer.get("data") if isinstance(answer, dict) else None
        viewer = data.get("viewer") if isinstance(data, dict) else None
        login = viewer.get("login") if isinstance(viewer, dict) else None
        return login if isinstance(login, str) and login else None

    def close(self) -> None:
        """Give the connections back."""
        self._requester.close()

    def _request(
        self, verb: str, path: str, parameters: dict[str, Any] | None = None, body: dict[str, Any] | None = None
    ) -> Any:
        raise_if_abandoned()
        try:
            headers, answer = self._requester.requestJsonAndCheck(verb, path, parameters, None, body)
        except GithubException as error:
            if error.status == 407:
                raise GitHubUnavailable(f"GitHub cannot be reached: {PROXY_LOGIN_REFUSED}.") from None
            message = error.data.get("message") if isinstance(error.data, dict) else None
            raise error_from_response(error.status, str(message or ""), error.headers or {}) from None
        except (requests.RequestException, OSError) as error:
            if reason := describe_connection_problem(error):
                raise GitHubUnavailable(f"GitHub cannot be reached: {reason}.") from None
            raise GitHubError(ErrorKind.UNKNOWN_OUTCOME) from None
        except (ValueError, TypeError, AttributeError, AssertionError):
            # PyGithub reads fields of an answer before it knows that they are there.
            raise GitHubError(ErrorKind.UNKNOWN_OUTCOME) from None
        self.server_time = parse_http_date(headers.get("date", "")) or self.server_time
        return answer


class _Connection(HTTPSRequestsConnectionClass):
    """PyGithub's, by the network's rules, and to addresses of IPv6 too."""

    def __init__(self, network: Network, api_url: str, host: str, port: int | None = None, **settings: Any) -> None:
        super().__init__(host, port, **settings)
        self._server = "{0.scheme}://{0.netloc}".format(urlsplit(api_url))
        configure_session(self.session, network, api_url, self.retry)

    def getresponse(self) -> RequestsResponse:
        """Ask, and follow nothing."""
        return RequestsResponse(
            self.session.request(
                self.verb,
                f"{self._server}{self.url}",
                headers=self.headers,
                data=self.input,
                timeout=self.timeout,
                allow_redirects=False,
            )
        )
