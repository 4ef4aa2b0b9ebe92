"""A strict implementation of GitHub's issue API on loopback, with faults on demand."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from testing.servers.http_server import QuietHandler, serve_http
from testing.servers.issues_graphql import answer_issues
from testing.servers.stored_issues import (
    JOB_TOKEN,
    LOGINS,
    PERSON_TOKEN,
    READ_ONLY_TOKEN,
    SERVER_ERROR_TEXT,
    SLUG,
    Answer,
    StoredIssues,
)

__all__ = ["JOB_TOKEN", "LOGINS", "PERSON_TOKEN", "READ_ONLY_TOKEN", "SERVER_ERROR_TEXT", "SLUG", "Answer"]
START = datetime(2026, 11, 21, 9, tzinfo=UTC)


@dataclass
class ApiFault:
    """A faulty response to the next `times` requests that match `on`.

    With `stored` the request is handled first, as if only the response were lost.
    """

    on: str
    status: int = 0
    """0 drops the connection without a response."""
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    stored: bool = False
    delay_seconds: float = 0.0
    times: int = 1_000


@dataclass(frozen=True)
class ApiRequest:
    """A request as received."""

    line: str
    token: str
    at: float
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: Any = None


@dataclass
class GitHubApi(StoredIssues):
    """Stored data, prepared faults and received requests."""

    url: str = ""
    prefix: str = ""
    pages: str = "https://github.com"
    """Where its pages are."""
    next_id: int = 5000
    labels: list[str] = field(default_factory=lambda: ["bug", "Good First Issue"])
    created_labels: list[str] = field(default_factory=list)
    roles: dict[str, dict[str, str]] = field(default_factory=dict)
    graphql: "Callable[[str, Any], Answer] | None" = None
    """Answers GraphQL's other questions, with the token and the body."""
    refuse_graphql: Callable[[Any], bool] = lambda sent: False
    """Whether a question takes GitHub too long."""
    commits: list[dict[str, Any]] = field(default_factory=list)
    """Newest first: `sha`, `at`, `message`, `files`."""
    faults: list[ApiFault] = field(default_factory=list)
    seconds: int = 0
    """Seconds since `START`; every write takes one."""
    date_header: datetime | None = None
    """Value of the `Date` header; the clock of the machine if None."""
    on_request: Callable[["ApiRequest"], ApiFault | None] = lambda asked: None
    """Called before each request is handled; may block, and may return a fault."""
    denied: dict[str, set[str]] = field(default_factory=dict)
    """By token, permissions such as `contents` that it may only read with. It may write with all others."""
    routes: "list[tuple[str, Handler]]" = field(default_factory=list)
    """Of other modules, for parts of the API that few tests need; tried first."""
    hidden_comments: dict[int, int] = field(default_factory=dict)
    """Ids of comments that lists do not contain yet, and for how many lists of each token."""
    list_lag: Callable[[], int] = lambda: 0
    """Returns for how many lists a new comment is hidden."""
    lists_without: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By token and id of a hidden comment, the lists so far."""
    found: dict[str, list[Any]] = field(default_factory=dict)
    """What a search of `repositories` or `issues` everywhere finds."""
    searches: list[tuple[str, str]] = field(default_factory=list)
    """What was searched everywhere, and the query, in order."""
    requests: list[ApiRequest] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add_issue(self, number: int = 7, **fields: Any) -> None:
        """Adds an open issue by mona."""
        self.issues[number] = {
            "id": 1000 + number,
            "number": number,
            "title": "It breaks",
            "body": "Badly.",
            "state": "open",
            "locked": False,
            "user": {"login": "mona", "id": 7, "type": "User"},
            "labels": [],
            "html_url": f"{self.pages}/{SLUG}/issues/{number}",
            "created_at": self.timestamp,
            "updated_at": self.timestamp,
            "some_later_field": {"of": "GitHub's"},
        } | fields

    def opened_event(self) -> dict[str, Any]:
        """Returns the payload of `issues.opened` for the issue that was added last."""
        issue = self.issues[next(reversed(self.issues))]
        return {"action": "opened", "issue": issue, "repository": self.repository, "sender": issue["user"]}

    @property
    def repository(self) -> dict[str, Any]:
        """The repository as the API returns it."""
        owner, _, name = SLUG.partition("/")
        known = {"id": 1, "name": name, "full_name": SLUG, "private": False, "url": f"{self.url}/repos/{SLUG}"}
        return known | {"owner": {"login": owner, "type": "Organization"}, "html_url": f"{self.pages}/{SLUG}"}

    @property
    def timestamp(self) -> str:
        """The current time in GitHub's format."""
        return f"{START + timedelta(seconds=self.seconds):%Y-%m-%dT%H:%M:%SZ}"

    def add_comment(self, body: str | None, by: str | None = "mona", number: int = 7, **fields: Any) -> dict[str, Any]:
        """Adds a comment to the thread."""
        user = None if by is None else {"login": by, "id": 9, "type": "Bot" if by.endswith("[bot]") else "User"}
        comment = {
            "id": self.next_id,
            "node_id": f"IC_{self.next_id}",
            "body": body,
            "user": user,
            "author_association": "NONE",
            "created_at": self.timestamp,
            "updated_at": self.timestamp,
            "html_url": f"{self.pages}/{SLUG}/issues/{number}#issuecomment-{self.next_id}",
            "issue": number,
        } | fields
        self.comments.append(comment)
        self.next_id += 1
        self.issues.get(number, {})["updated_at"] = comment["updated_at"]
        return comment

    def record_edit(self, comment: dict[str, Any], by: str | None, **fields: Any) -> None:
        """Remembers who edited a comment; with the first edit, also who created it."""
        edits = self.edits.setdefault(comment["id"], [])
        if not edits:
            author = comment["user"]["login"] if comment["user"] else None
            edits.append({"login": author, "at": comment["created_at"], "deletedAt": None})
        edits.append({"login": by, "at": self.timestamp, "deletedAt": None} | fields)

    @property
    def comment_bodies(self) -> list[str]:
        """Texts of all comments."""
        return [comment["body"] for comment in self.comments]

    def request_lines(self, start: str = "") -> list[str]:
        """Returns the requests that start with `start`, in order."""
        return [asked.line for asked in self.requests if asked.line.startswith(start)]

    def take_fault(self, line: str) -> ApiFault | None:
        """Returns the first fault that applies, and counts its use."""
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and re.search(fault.on, line):
                    fault.times -= 1
                    return fault
        return None


NOT_FOUND: Answer = (404, {"message": "Not Found", "documentation_url": SERVER_ERROR_TEXT})
UNPROCESSABLE: Answer = (422, {"message": "Validation Failed", "documentation_url": SERVER_ERROR_TEXT})
FORBIDDEN: Answer = (403, {"message": "Resource not accessible by integration", "documentation_url": SERVER_ERROR_TEXT})


def handle_request(api: GitHubApi, verb: str, path: str, query: dict[str, list[str]], token: str, sent: Any) -> Answer:
    """Handles a request as GitHub does."""
    if verb != "GET":
        api.seconds += 1
    if token and token not in api.logins:
        return 401, {"message": "Bad credentials", "documentation_url": SERVER_ERROR_TEXT}
    if path.endswith("/graphql"):
        return _graphql(api, token, sent)
    if path.startswith(f"{api.prefix}/search/"):
        return _search(api, path.rpartition("/")[2], query["q"][0])
    below = path.removeprefix(api.prefix).removeprefix(f"/repos/{SLUG}")
    if below == path.removeprefix(api.prefix):
        return NOT_FOUND
    if verb != "GET" and (not token or token == READ_ONLY_TOKEN):
        return FORBIDDEN if token else (401, {"message": "Requires authentication"})
    for pattern, handler in [*api.routes, *ROUTES]:
        if match := re.fullmatch(pattern, f"{verb} {below}"):
            return handler(api, query, token, sent, *match.groups())
    return NOT_FOUND


def _graphql(api: GitHubApi, token: str, sent: Any) -> Answer:
    known = ("fragment issue on Issue", "issues: pullRequests", "nodes(ids: $ids)", "viewer")
    is_of_issues = any(part in sent["query"] for part in known)
    if api.refuse_graphql(sent):
        return 502, b""
    if is_of_issues:
        return answer_issues(api, token, sent)
    return api.graphql(token, sent) if api.graphql else (400, {})


def _search(api: GitHubApi, kind: str, query: str) -> Answer:
    api.searches.append((kind, query))
    found = api.found.get(kind, [])
    return 200, {"total_count": len(found), "items": found}


def _page(items: list[Any], query: dict[str, list[str]]) -> Answer:
    size = min(int(query.get("per_page", ["30"])[0]), 100)
    page = int(query.get("page", ["1"])[0])
    return 200, items[size * (page - 1) : size * page]


def _get_repository(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any) -> Answer:
    return 200, api.repository


def _get_issue(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, number: str) -> Answer:
    issue = api.issues.get(int(number))
    return (200, issue) if issue else NOT_FOUND


def _get_comments(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, number: str) -> Answer:
    if int(number) not in api.issues:
        return NOT_FOUND
    since = query.get("since", [""])[0]
    shown = [comment for comment in api.comments if comment["issue"] == int(number) and comment["updated_at"] >= since]
    late = {key for key, lists in api.hidden_comments.items() if api.lists_without[token, key] < lists}
    api.lists_without.update((token, key) for key in late)
    return _page([comment for comment in shown if comment["id"] not in late], query)


def _get_comment(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, number: str) -> Answer:
    found = [comment for comment in api.comments if comment["id"] == int(number)]
    return (200, found[0]) if found else NOT_FOUND


def _check_body(sent: Any) -> Answer | None:
    body = sent.get("body")
    if set(sent) != {"body"} or not isinstance(body, str) or not body.strip():
        return 422, {"message": "Validation Failed", "errors": [SERVER_ERROR_TEXT]}
    if len(body) > 65_536:
        return 422, {"message": "Body is too long (maximum is 65536 characters)"}
    return None


def _post_comment(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, number: str) -> Answer:
    if int(number) not in api.issues:
        return NOT_FOUND
    if bad := _check_body(sent):
        return bad
    comment = api.add_comment(sent["body"], api.logins[token], int(number))
    api.hidden_comments[comment["id"]] = api.list_lag()
    return 201, comment


def _edit_comment(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, number: str) -> Answer:
    status, comment = _get_comment(api, query, token, sent, number)
    if status == 200:
        bad = _check_body(sent)
        if bad:
            return bad
        comment |= {"body": sent["body"], "updated_at": api.timestamp}
        api.record_edit(comment, api.logins[token])
    return status, comment


def _delete_comment(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, number: str) -> Answer:
    status, comment = _get_comment(api, query, token, sent, number)
    if status != 200:
        return NOT_FOUND
    api.comments.remove(comment)
    return 204, b""


def _get_issues(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any) -> Answer:
    if query["state"] == ["open"]:
        (creator,) = query["creator"]
        found = [one for one in api.issues.values() if one["state"] == "open" and one["user"]["login"] == creator]
        return _page(found, query)
    if (query["state"], query["sort"], query["direction"]) != (["all"], ["created"], ["desc"]):
        return 422, {"message": "not what is expected here"}
    return _page(sorted(api.issues.values(), key=lambda issue: str(issue["created_at"]), reverse=True), query)


def _get_labels(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any) -> Answer:
    return _page([{"id": 1, "name": name} for name in api.labels], query)


def _add_labels(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, number: str) -> Answer:
    if not isinstance(sent, list) or not all(isinstance(name, str) for name in sent):
        return 422, {"message": "Validation Failed"}
    api.created_labels += [name for name in sent if name not in api.labels]
    issue = api.issues[int(number)]
    present = [label["name"] for label in issue["labels"]]
    issue["labels"] = issue["labels"] + [{"name": name} for name in sent if name not in present]
    return 200, issue["labels"]


def _get_role(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, login: str) -> Answer:
    role = api.roles.get(unquote(login))
    return (200, role | {"user": {"login": login}}) if role else NOT_FOUND


def _get_one_commit(api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any, sha: str) -> Answer:
    found = [commit for commit in api.commits if commit["sha"] == sha]
    return (200, _show_commit(found[0])) if found else NOT_FOUND


def _show_commit(commit: dict[str, Any]) -> dict[str, Any]:
    signature = {"name": "Mona", "email": "mona@example.org", "date": commit["at"]}
    details = {"message": commit["message"], "author": signature, "committer": signature}
    files = [{"filename": path, "status": "modified"} for path in commit["files"][:300]]
    return {"sha": commit["sha"], "commit": details, "files": files}


Handler = Callable[..., Answer]
ROUTES: list[tuple[str, Handler]] = [
    (r"GET ", _get_repository),
    (r"GET /issues/(\d+)", _get_issue),
    (r"GET /issues/(\d+)/comments", _get_comments),
    (r"GET /issues/comments/(\d+)", _get_comment),
    (r"GET /issues", _get_issues),
    (r"DELETE /issues/comments/(\d+)", _delete_comment),
    (r"POST /issues/(\d+)/comments", _post_comment),
    (r"PATCH /issues/comments/(\d+)", _edit_comment),
    (r"GET /labels", _get_labels),
    (r"GET /commits/([0-9a-f]{40})", _get_one_commit),
    (r"POST /issues/(\d+)/labels", _add_labels),
    (r"GET /collaborators/([^/]+)/permission", _get_role),
]


class GitHubHandler(QuietHandler):
    """One connection to the API of a subclass."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """Headers and body are sent apart: with it, each body comes 40 ms late."""
    api: GitHubApi

    def serve(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        sent = json.loads(self.rfile.read(length)) if length else None
        token = (self.headers.get("authorization") or "").removeprefix("token ").removeprefix("Bearer ")
        line = f"{self.command} {url.path}"
        names = {name.lower(): value for name, value in self.headers.items()}
        asked = ApiRequest(line, token, time.monotonic(), url.query, names, sent)
        self.api.requests.append(asked)
        assert self.headers.get("user-agent"), "GitHub refuses requests without a user agent"
        fault = self.api.on_request(asked) or self.api.take_fault(line)
        answer: Answer = (0, None)
        if fault is None or fault.stored:
            with self.api.lock:
                answer = handle_request(self.api, self.command, url.path, parse_qs(url.query), token, sent)
        if fault is None:
            self.reply(*answer, {})
        else:
            self.api.released.wait(fault.delay_seconds)
            self.reply(fault.status, fault.body, fault.headers)

    def reply(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        if not status:
            self.close_connection = True
            return
        content = body if isinstance(body, bytes) else _dump(body)
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=utf-8")
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.serve()

    def do_POST(self) -> None:
        self.serve()

    def do_PATCH(self) -> None:
        self.serve()

    def do_DELETE(self) -> None:
        self.serve()

    def date_time_string(self, timestamp: float | None = None) -> str:
        header = self.api.date_header
        return super().date_time_string(int(header.timestamp()) if header and timestamp is None else timestamp)


@contextmanager
def serve_github_api(prefix: str = "") -> Iterator[GitHubApi]:
    """Serves the API at `api.url` until the block ends."""
    api = GitHubApi(prefix=prefix)
    with serve_http(type("Handler", (GitHubHandler,), {"api": api})) as url:
        api.url = f"{url}{prefix}"
        try:
            yield api
        finally:
            api.released.set()


@contextmanager
def serve_issue(title: str, body: str, number: int = 7) -> Iterator[GitHubApi]:
    """Serves the API with an open issue by mona, in a repository without labels."""
    with serve_github_api() as api:
        api.labels = []
        api.add_issue(number, title=title, body=body)
        yield api


def _dump(body: Any) -> bytes:
    """JSON as GitHub sends it: in UTF-8, without escapes but for what cannot be encoded."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()
