"""What every client of one GitHub repository needs: PyGithub's clients, GraphQL, and our secrets masked.

A read is sent again as long as the run has time. A write is sent again only after a rate limit, so it has a client of
its own: PyGithub's retry repeats a POST after any error of the server.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import triage
from triage.base.errors import CannotPublish, GitHubUnavailable, WrongUsage
from triage.base.threads import raise_if_abandoned
from triage.outside.github.github_errors import ErrorKind, GitHubError, NotOnGitHub, github_errors, unreadable_response
from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from github import Github
    from github.GithubObject import CompletableGithubObject
    from github.PaginatedList import PaginatedList
    from github.Repository import Repository
    from urllib3.util.retry import Retry

PAGE_SIZE = 100
"""The largest page that GitHub sends."""
MAX_PAGES = 100
PREVIEWS = {"GraphQL-Features": "update_issue_suggestions"}
"""Shows the types for suggestions on servers that still hide them (github/github-mcp-server, pkg/github)."""
REFUSED_TO_STORE = (
    "A secret of this job is in what was about to be stored, and it was not written. Somebody has written the secret "
    "where others can read it: replace it."
)
SLUG_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
T = TypeVar("T")


@dataclass
class RepositoryConnection:
    """One repository on GitHub. Nothing is imported or sent before the first call.

    Raises WrongUsage if the slug is malformed.
    """

    token: str = field(repr=False)
    """A job's token, an app's, or a person's; empty to read what is public."""
    slug: str
    """`owner/name`."""
    api_url: str = "https://api.github.com"
    _: KW_ONLY
    seconds_between_writes: float = 1.0
    """GitHub asks for one (docs, best practices for the REST API)."""
    max_wait_seconds: float = 60.0
    """The longest wait for a rate limit: a minute where GitHub does not say how long it lasts."""
    timeout_seconds: int = 60
    """Time limit of connecting, and between two pieces of a response. The caller limits the whole."""
    backoff_seconds: float = 0.5
    """Base of the waits between failed reads."""
    reread_seconds: float = 1.0
    """Wait before something is read again that does not show yet what was written."""
    redactor: SecretRedactor = field(default_factory=lambda: SecretRedactor([]), repr=False)
    """Masks our own secrets in everything that is read and written."""
    page_size: ClassVar[int] = PAGE_SIZE
    """Items on a page of a list."""
    refuses_secrets: ClassVar[bool] = False
    """Whether text is read as it is, and nothing with a secret is written: what is stored must be what was approved."""

    def __post_init__(self) -> None:
        if not SLUG_PATTERN.fullmatch(self.slug) or {".", ".."} & set(self.slug.split("/")):
            raise WrongUsage("The repository must be given as owner/name, at a terminal with --github.")

    # PyGithub costs a quarter of a second of start-up, and a skipped event never gets here.

    @cached_property
    def _reader(self) -> "Github":
        from triage.outside.github.run_retry import retry_reads

        return self._open_client(retry_reads(self.max_wait_seconds, self.backoff_seconds), None)

    @cached_property
    def _writer(self) -> "Github":
        from triage.outside.github.run_retry import retry_writes

        return self._open_client(retry_writes(self.max_wait_seconds), self.seconds_between_writes)

    def _open_client(self, retry: "Retry", seconds_between_writes: float | None) -> "Github":
        from github import Auth, Github

        logging.getLogger("github").setLevel(logging.CRITICAL + 1)  # PyGithub gives it a handler of its own
        return Github(
            auth=Auth.Token(self.token) if self.token else None,
            base_url=self.api_url,
            user_agent=f"bug-triage/{triage.__version__}",
            timeout=self.timeout_seconds,
            per_page=self.page_size,
            retry=retry,
            seconds_between_requests=None,
            seconds_between_writes=seconds_between_writes,
            lazy=True,
        )

    @property
    def repository(self) -> "Repository":
        """The repository to read from. Its fields are requested when they are read."""
        return self._reader.get_repo(self.slug)

    @property
    def writable(self) -> "Repository":
        """The same to write to. Raises Abandoned if nobody waits for the write any more."""
        raise_if_abandoned()
        return self._writer.get_repo(self.slug)

    def query(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Read with GraphQL. Parts that GitHub refuses to show are null.

        Raises GitHubError if nothing is shown, and GitHubUnavailable if the server has no GraphQL.
        """
        try:
            answer = self._ask_graphql(self._reader, document, variables)
        except NotOnGitHub:
            raise GitHubUnavailable("GitHub's GraphQL API was not found here.") from None
        if isinstance(answer.get("data"), dict):
            data: dict[str, Any] = self.redact(answer["data"])
            return data
        # GraphQL says this in an answer like any other, and asking for less would not help.
        errors = answer.get("errors") or []
        listed = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
        is_rate_limit = any(one.get("type") == "RATE_LIMITED" for one in listed)
        kind = ErrorKind.RATE_LIMITED if is_rate_limit else ErrorKind.INVALID
        raise GitHubError(kind, 200) if errors else unreadable_response()

    def mutate(self, document: str, variables: Mapping[str, Any]) -> None:
        """Write with GraphQL, once. Raises GitHubError if GitHub refuses any part of it.

        A server that lacks a field or a type refuses the whole document before it acts.
        """
        answer = self._ask_graphql(self._writer, document, variables)
        if answer.get("errors"):
            raise GitHubError(ErrorKind.INVALID, 200)

    def _ask_graphql(self, client: "Github", document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Send a document. PyGithub's `graphql_query` takes no headers, and drops what an answer with errors shows."""
        asked = self.mask_secrets({"query": document, "variables": dict(variables)})
        requester = client.requester
        with github_errors():
            _, answer = requester.requestJsonAndCheck("POST", requester.graphql_url, None, PREVIEWS, asked)
        if not isinstance(answer, dict):
            raise unreadable_response()
        return answer

    @cached_property
    def viewer_login(self) -> str | None:
        """The login of the token; None if GitHub does not say. `GET /user` is refused to a job's token."""
        try:
            login = self.query("{ viewer { login } }", {})["viewer"]["login"]
        except (GitHubError, GitHubUnavailable, TypeError, LookupError):
            return None
        return login if isinstance(login, str) and login else None

    def redact(self, tree: Any) -> Any:
        """Return what was read without any secret of ours: a text that is cut later must not hold a part of one."""
        return tree if self.refuses_secrets else self.redactor.redactor_for("text from GitHub")(tree)

    def mask_secrets(self, tree: T) -> T:
        """Return what is written without a secret of ours. Raises CannotPublish if the client refuses secrets."""
        if not self.refuses_secrets:
            masked: T = self.redactor.redactor_for("text for GitHub")(tree)
            return masked
        if self.redactor.has_match(json.dumps(tree)):
            raise CannotPublish(REFUSED_TO_STORE)
        return tree


def iterate_pages(elements: "PaginatedList[Any]") -> Iterator[list[Any]]:
    """Yield the pages of a list, at most `MAX_PAGES`. Iterating over PyGithub's list itself keeps them all.

    A page is emptied before the next one is read: a hundred comments may have a hundred megabytes.
    """
    for number in range(MAX_PAGES):
        with github_errors():
            page = elements.get_page(number)
        is_last = len(page) < PAGE_SIZE
        yield page
        if is_last:
            break
        page.clear()


def delete_path(repository: "Repository", path: str) -> None:
    """Delete what is at a quoted path below the repository.

    PyGithub deletes a ref at the address in an answer, and leaves a slash in the name of a label as it is.
    """
    repository.requester.requestJsonAndCheck("DELETE", f"{repository.url}/{path}")


def write_once(write: Callable[[], object], is_written: Callable[[], bool], *, deletes: bool = False) -> None:
    """Write, and after an unclear failure look whether it has had its effect before it is sent once more.

    With `deletes`, what is gone is deleted. Every failure is a `GitHubError`.
    """
    for _ in range(2):
        try:
            with github_errors():
                write()
        except GitHubError as error:
            if deletes and error.kind is ErrorKind.GONE:
                return
            if error.kind is not ErrorKind.UNKNOWN_OUTCOME:
                raise
            unclear = error
        else:
            return
        if is_written():
            return
    raise unclear


def repeat_write(write: Callable[[], T]) -> T:
    """Send a write that has the same effect when GitHub gets it twice, and send it again after an unclear failure."""
    try:
        with github_errors():
            return write()
    except GitHubError as error:
        if error.kind is not ErrorKind.UNKNOWN_OUTCOME:
            raise
    with github_errors():
        return write()


def read_server_time(answer: "CompletableGithubObject") -> datetime | None:
    """Return when GitHub sent what was read, by its clock; None if it does not say."""
    with suppress(ValueError):
        return parsedate_to_datetime(str(answer.raw_headers.get("date"))).astimezone(UTC)
    return None
