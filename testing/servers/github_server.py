"""A GitHub on loopback with one issue and its comments, as far as a run needs it."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from testing.servers.http_server import QuietHandler, serve_http

SLUG = "octo/shop"
BOT = {"login": "github-actions[bot]", "type": "Bot", "id": 41898282}
REPORTER = {"login": "mona", "type": "User", "id": 7}
WHEN = "2026-11-21T09:00:00Z"


@dataclass
class GitHubServer:
    """Stored data and received requests."""

    title: str
    body: str
    number: int = 7
    comments: list[dict[str, Any]] = field(default_factory=list)
    request_lines: list[str] = field(default_factory=list)
    """Method and path of each request, in order."""
    labels: Sequence[str] = ()
    """Of the repository."""
    added_labels: list[str] = field(default_factory=list)
    """Those that were added to the issue."""
    hangs: bool = False
    """Accepts requests and never responds."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of each response."""
    found: dict[str, Any] = field(default_factory=dict)
    """What a search answers, by `repositories` and `issues`: a list of items, a status, or bytes."""
    searches: list[tuple[str, str]] = field(default_factory=list)
    """What was searched: `repositories` or `issues`, and the query, in order."""
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def issue(self) -> dict[str, Any]:
        """The issue as the API returns it."""
        return {
            "number": self.number,
            "id": 700,
            "title": self.title,
            "body": self.body,
            "state": "open",
            "locked": False,
            "user": REPORTER,
            "labels": [],
            "comments": len(self.comments),
            "created_at": WHEN,
            "updated_at": WHEN,
            "url": f"{self.url}/repos/{SLUG}/issues/{self.number}",
            "html_url": f"https://github.com/{SLUG}/issues/{self.number}",
        }

    def opened_event(self) -> dict[str, Any]:
        """Returns the payload of `issues.opened`."""
        return {"action": "opened", "issue": self.issue, "repository": self.repository, "sender": REPORTER}

    @property
    def repository(self) -> dict[str, Any]:
        """The repository as the API returns it."""
        owner, name = SLUG.split("/")
        return {
            "id": 1,
            "name": name,
            "full_name": SLUG,
            "owner": {"login": owner, "type": "Organization", "id": 2},
            "private": False,
            "url": f"{self.url}/repos/{SLUG}",
            "html_url": f"https://github.com/{SLUG}",
        }

    def answer(self, method: str, path: str, sent: Any) -> tuple[int, Any]:
        """Returns status and body for a request. A body is sent as JSON unless it is bytes."""
        below = path.removeprefix(f"/repos/{SLUG}")
        issue = f"/issues/{self.number}"
        match method, below:
            case "GET", "":
                return 200, self.repository
            case "GET", "/labels":
                return 200, [{"id": number, "name": name} for number, name in enumerate(self.labels, 1)]
            case "GET", _ if below == issue:
                return 200, self.issue
            case "GET", _ if below == f"{issue}/comments":
                return 200, self.comments
            case "POST", _ if below == f"{issue}/labels":
                self.added_labels += sent
                return 200, []
            case "POST", _ if below == f"{issue}/comments":
                return 201, self._store(sent["body"])
            case "PATCH", _ if found := re.fullmatch(r"/issues/comments/(\d+)", below):
                comment = self.comments[int(found[1]) - 1]
                comment["body"] = sent["body"]
                return 200, comment
        return 404, {"message": "Not Found"}

    def search(self, kind: str, query: str) -> tuple[int, Any]:
        """Returns what `found` has."""
        self.searches.append((kind, query))
        found = self.found.get(kind, [])
        if isinstance(found, int):
            return found, {"message": "API rate limit exceeded"}
        return 200, found if isinstance(found, bytes) else {"total_count": len(found), "items": found}

    def _store(self, body: str) -> dict[str, Any]:
        key = len(self.comments) + 1
        self.comments.append(
            {
                "id": key,
                "body": body,
                "user": BOT,
                "author_association": "NONE",
                "created_at": WHEN,
                "updated_at": WHEN,
                "url": f"{self.url}/repos/{SLUG}/issues/comments/{key}",
                "html_url": f"https://github.com/{SLUG}/issues/{self.number}#issuecomment-{key}",
            }
        )
        return self.comments[-1]


@contextmanager
def serve_github(github: GitHubServer) -> Iterator[GitHubServer]:
    """Serves it until the block ends."""

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            sent = json.loads(self.rfile.read(length) or b"{}")
            path, asked = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
            github.request_lines.append(f"{self.command} {path}")
            if github.hangs:
                github.released.wait(60)
                return
            if path.startswith("/search/"):
                status, value = github.search(path.removeprefix("/search/"), asked["q"][0])
            else:
                status, value = github.answer(self.command, path, sent)
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            for name, text in github.headers.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            self._reply()

        def do_PATCH(self) -> None:
            self._reply()

    with serve_http(Handler) as github.url:
        try:
            yield github
        finally:
            github.released.set()
