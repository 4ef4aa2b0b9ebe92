"""Sends requests to GitHub through PyGithub, which authenticates them and waits between writes."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import requests
from github import Auth, Github
from github.GithubException import GithubException
from github.Requester import HTTPSRequestsConnectionClass, Requester, RequestsResponse
from tenacity import RetryCallState, Retrying, retry_if_exception_type
from urllib3.exceptions import NewConnectionError

import triage
from triage.base.errors import AnswerTooLarge, CannotPublish, GitHubUnavailable
from triage.base.http_client import parse_http_date, read_bounded
from triage.base.network import PROXY_LOGIN_REFUSED, describe_connection_problem
from triage.base.threads import raise_if_abandoned, seconds_left, sleep_unless_abandoned
from triage.github.github_errors import (
    MAX_ATTEMPTS,
    ErrorKind,
    GitHubError,
    error_from_response,
    unreadable_response,
)
from triage.safety.secrets.redactor import SecretRedactor

PAGE_SIZE = 100
"""The largest page that GitHub sends."""
MAX_PAGES = 100
MAX_RESPONSE_BYTES = 20_000_000
PARSE_ERRORS = (ValueError, TypeError, AttributeError, AssertionError, RecursionError)
"""PyGithub reads fields of a response before it knows that they are there."""
PREVIEWS = {"GraphQL-Features": "update_issue_suggestions"}
"""Shows the types for suggestions on servers that still hide them (github/github-mcp-server, pkg/github)."""
MAX_BACKOFF_SECONDS = 10.0
REFUSED_TO_STORE = (
    "A secret of this job is in what was about to be stored, and it was not written. Somebody has written the secret "
    "where others can read it: replace it."
)
_connection_classes = threading.Lock()


@dataclass
class WaitBudget:
    """The seconds that all requests of one client together may spend waiting."""

    seconds: float
    sleep: Callable[[float], None] = sleep_unless_abandoned

    @property
    def max_next_wait(self) -> float:
        """Returns the seconds of the next wait at most: no longer than the caller waits for the answer."""
        return min(self.seconds, seconds_left())

    def wait(self, seconds: float) -> None:
        if seconds > 0:
            self.seconds -= seconds
            self.sleep(seconds)


def retrying(budget: WaitBudget, backoff_seconds: float) -> Retrying:
    """Returns the attempts of one request, which fails with the last `GitHubError`.

    A request is sent again as often as its error allows (`GitHubError.max_attempts`), unless GitHub asks to wait for
    longer than the budget has.
    """

    def seconds_to_wait(state: RetryCallState) -> float:
        # The first repetition does not wait on its own account, as urllib3 has it.
        backoff = backoff_seconds * 2 ** (state.attempt_number - 1) if state.attempt_number > 1 else 0.0
        return max(_error(state).retry_after, min(backoff, MAX_BACKOFF_SECONDS, budget.max_next_wait))

    def is_last(state: RetryCallState) -> bool:
        return state.attempt_number >= _error(state).max_attempts or state.upcoming_sleep > budget.max_next_wait

    return Retrying(
        retry=retry_if_exception_type(GitHubError),
        wait=seconds_to_wait,
        stop=is_last,
        sleep=budget.wait,
        reraise=True,
    )


def _error(state: RetryCallState) -> GitHubError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, GitHubError)
    return error


class GitHubClient:
    """Sends and returns JSON. Every failure is a `GitHubError`, or `GitHubUnavailable` with its reason.

    Reads and idempotent writes are sent again after any error, other writes only when GitHub cannot have taken them.
    Redirects are not followed: they lead to another repository, and would take the token there.

    Every request body passes through `mask_secrets`, and so does every response: a text that is cut, split or escaped
    later must not hold a part of a secret.

    Args are those of `RepositoryConnection`; `timeouts_seconds` are `connect_seconds` and `read_seconds`.
    """

    def __init__(
        self,
        token: str,
        api_url: str,
        *,
        wait_budget: WaitBudget,
        seconds_between_writes: float,
        timeouts_seconds: tuple[float, float],
        backoff_seconds: float,
        redactor: SecretRedactor | None = None,
        refuses_secrets: bool = False,
    ) -> None:
        self._redactor = redactor or SecretRedactor([])
        self._refuses_secrets = refuses_secrets
        self.server_time: datetime | None = None
        """The server's clock at its last response; None before it."""
        self._wait_budget = wait_budget
        self.backoff_seconds = backoff_seconds
        # An attribute of a class: from Python 3.14 on, a bare partial there gets the instance as an argument.
        connection: Any = staticmethod(partial(_Connection, api_url, timeouts_seconds))
        # PyGithub sets its connection classes for all clients together, and a client takes them when it is created.
        with _connection_classes:
            Requester.injectConnectionClasses(connection, connection)
            try:
                self._github = Github(
                    auth=Auth.Token(token) if token else None,
                    base_url=api_url,
                    user_agent=f"bug-triage/{triage.__version__}",
                    retry=None,
                    seconds_between_requests=None,
                    seconds_between_writes=seconds_between_writes,
                )
            finally:
                Requester.resetConnectionClasses()

    def get(self, path: str, parameters: Mapping[str, Any] | None = None) -> Any:
        return self._request("GET", path, dict(parameters or {}), idempotent=True)

    def fetch_list(self, path: str, parameters: Mapping[str, Any] | None = None) -> list[Any]:
        """Reads all pages of a list, at most 10,000 items."""
        return [item for page in self.iterate_pages(path, parameters) for item in page]

    def iterate_pages(
        self, path: str, parameters: Mapping[str, Any] | None = None, size: int = PAGE_SIZE
    ) -> Iterator[list[Any]]:
        """Yields the pages of a list, each with `size` items, at most `MAX_PAGES`."""
        for number in range(1, MAX_PAGES + 1):
            page = self.get(path, {**(parameters or {}), "per_page": size, "page": number})
            if not isinstance(page, list):
                raise unreadable_response()
            yield page
            if len(page) < size:
                break

    def write(self, verb: str, path: str, body: Mapping[str, Any], *, idempotent: bool) -> Any:
        """Writes one object. A idempotent write has the same effect when GitHub gets it twice."""
        return self._request(verb, path, body=dict(body), idempotent=idempotent)

    def delete(self, path: str) -> None:
        """Deletes something that may be gone already."""
        try:
            self._request("DELETE", path, idempotent=True)
        except GitHubError as error:
            if error.kind is not ErrorKind.GONE:
                raise

    def query(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Reads with GraphQL. Parts that GitHub refuses to show are null. Raises GitHubError if nothing is shown."""
        data, _ = self._ask_graphql(document, variables, idempotent=True)
        return data

    def mutate(self, document: str, variables: Mapping[str, Any]) -> None:
        """Writes with GraphQL, once. Raises GitHubError if GitHub refuses any part of it.

        A server that lacks a field or a type refuses the whole document before it acts.
        """
        _, is_refused = self._ask_graphql(document, variables, idempotent=False)
        if is_refused:
            raise GitHubError(ErrorKind.INVALID, 200)

    def _ask_graphql(
        self, document: str, variables: Mapping[str, Any], *, idempotent: bool
    ) -> tuple[dict[str, Any], bool]:
        body = {"query": document, "variables": dict(variables)}
        url = self._github.requester.graphql_url
        response = self._request("POST", url, body=body, headers=PREVIEWS, idempotent=idempotent)
        if not isinstance(response, dict):
            raise unreadable_response()
        data, errors = response.get("data"), bool(response.get("errors"))
        if isinstance(data, dict):
            return data, errors
        # GraphQL says this in an answer like any other, and asking for less would not help.
        kind = ErrorKind.RATE_LIMITED if _is_rate_limit(response.get("errors")) else ErrorKind.INVALID
        raise GitHubError(kind, 200) if errors else unreadable_response()

    def fetch_viewer_login(self) -> str | None:
        """Returns the login of the token, or None. `GET /user` is refused to a job's token, so this asks GraphQL."""
        query = {"query": "{ viewer { login } }"}
        try:
            response = self._request("POST", self._github.requester.graphql_url, body=query, idempotent=False)
            login = response["data"]["viewer"]["login"]
        except (GitHubError, TypeError, LookupError):
            return None
        return login if isinstance(login, str) and login else None

    def mask_secrets(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns the body of a request without any secret of ours.

        Raises:
            CannotPublish: There is one, and the client refuses secrets.
        """
        if not self._refuses_secrets:
            masked: dict[str, Any] = self._redactor.redactor_for("text for GitHub")(body)
            return masked
        if self._redactor.has_match(json.dumps(body)):
            raise CannotPublish(REFUSED_TO_STORE)
        return body

    def close(self) -> None:
        self._github.close()

    def _request(
        self,
        verb: str,
        path: str,
        parameters: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        *,
        idempotent: bool,
    ) -> Any:
        body = body and self.mask_secrets(body)
        request = partial(self._github.requester.requestJsonAndCheck, verb, path, parameters, headers, body)
        response = retrying(self._wait_budget, self.backoff_seconds)(self._send, request, idempotent)
        return response if self._refuses_secrets else self._redactor.redactor_for("text from GitHub")(response)

    def _send(self, request: Callable[[], tuple[dict[str, Any], Any]], idempotent: bool) -> Any:
        raise_if_abandoned()
        try:
            headers, response = request()
        except GithubException as error:
            if error.status == 407:
                raise GitHubUnavailable(f"GitHub cannot be reached: {PROXY_LOGIN_REFUSED}.") from None
            text = _collect_messages(error.data)
            raise error_from_response(error.status, text, error.headers or {}, idempotent=idempotent) from None
        except AnswerTooLarge as error:
            raise GitHubError(ErrorKind.UNKNOWN_OUTCOME, problem=f"sent an {error}", is_too_large=True) from None
        except (requests.RequestException, OSError) as error:
            if reason := describe_connection_problem(error):
                raise GitHubUnavailable(f"GitHub cannot be reached: {reason}.") from None
            raise _lost_connection(error, idempotent) from None
        except PARSE_ERRORS:
            raise unreadable_response() from None
        self.server_time = parse_http_date(headers.get("date", "")) or self.server_time
        return response


def _is_rate_limit(errors: object) -> bool:
    listed = errors if isinstance(errors, list) else []
    return any(isinstance(error, dict) and error.get("type") == "RATE_LIMITED" for error in listed)


def _collect_messages(data: object) -> str:
    """Returns the message of an error, and those of its details: a 422 has its reason only there."""
    if not isinstance(data, dict):
        return ""
    details = data.get("errors")
    parts = [data, *(details if isinstance(details, list) else [])]
    messages = [part.get("message") if isinstance(part, dict) else part for part in parts]
    return "\n".join(message for message in messages if isinstance(message, str))


def _lost_connection(error: Exception, idempotent: bool) -> GitHubError:
    cause = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(error, requests.ConnectTimeout) or isinstance(cause, NewConnectionError):
        return GitHubError(ErrorKind.UNKNOWN_OUTCOME, max_attempts=MAX_ATTEMPTS)  # the request never left
    return GitHubError(ErrorKind.UNKNOWN_OUTCOME, max_attempts=2 if idempotent else 1)


class _BoundedResponse(RequestsResponse):
    """PyGithub's response, with a body that was read already."""

    def __init__(self, response: requests.Response, body: bytearray) -> None:
        super().__init__(response)
        self._body = body

    def read(self) -> str:
        return self._body.decode("utf-8", "replace")


class _Connection(HTTPSRequestsConnectionClass):
    """PyGithub's connection, to IPv6 addresses too, without redirects.

    At most `MAX_RESPONSE_BYTES` of a response are read.
    """

    def __init__(
        self,
        api_url: str,
        timeouts_seconds: tuple[float, float],
        host: str,
        port: int | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(host, port, **settings)
        self._server = "{0.scheme}://{0.netloc}".format(urlsplit(api_url))
        self._timeouts_seconds = timeouts_seconds
        self.session.headers["Accept-Encoding"] = "identity"

    def getresponse(self) -> RequestsResponse:
        """Sends the request that PyGithub prepared. Raises AnswerTooLarge, and GitHubError for a redirect."""
        response = self.session.request(
            self.verb,
            f"{self._server}{self.url}",
            headers=self.headers,
            data=self.input,
            timeout=self._timeouts_seconds,
            allow_redirects=False,
            stream=True,
        )
        if response.status_code in (301, 302, 303, 307, 308):
            response.close()
            raise GitHubError(ErrorKind.MOVED, response.status_code)
        return _BoundedResponse(response, read_bounded(response, MAX_RESPONSE_BYTES))
