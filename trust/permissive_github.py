"""A GitHub with one issue that accepts all requests, also those that no run should send."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trust.recording_server import RecordedRequest, Response

SLUG = "octo/shop"
NUMBER = 7
BOT = {"login": "github-actions[bot]", "type": "Bot", "id": 41898282}
REPORTER = {"login": "mona", "type": "User", "id": 7}
STRANGER = {"login": "mallory", "type": "User", "id": 666}
WHEN = "2026-11-21T09:00:00Z"
FIRST_COMMENT_ID = 1001


@dataclass
class PermissiveGitHub:
    title: str
    body: str
    labels: Sequence[str] = ()
    thread: Sequence[str] = ()
    """Comments by strangers before the run."""
    error_text: str = ""
    """Message of all error responses."""
    refuses_labels: bool = False
    comments: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for text in self.thread:
            self._store(text, STRANGER)

    @property
    def ours(self) -> list[dict[str, Any]]:
        """Comments that were written with the token of the run."""
        return [comment for comment in self.comments if comment["user"] == BOT]

    @property
    def issue(self) -> dict[str, Any]:
        return {
            "number": NUMBER,
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
            "url": f"https://api.github.com/repos/{SLUG}/issues/{NUMBER}",
            "html_url": f"https://github.com/{SLUG}/issues/{NUMBER}",
        }

    @property
    def event(self) -> dict[str, Any]:
        """The payload of `issues.opened`."""
        return {"action": "opened", "issue": self.issue, "repository": self._repository, "sender": REPORTER}

    @property
    def _repository(self) -> dict[str, Any]:
        owner = {"login": SLUG.partition("/")[0], "type": "Organization", "id": 2}
        about = {"id": 1, "name": SLUG.partition("/")[2], "full_name": SLUG, "owner": owner, "private": False}
        return about | {"html_url": f"https://github.com/{SLUG}"}

    def answer(self, asked: RecordedRequest) -> Response:
        """Handles a request. Requests that no run should send succeed: only the recorded requests show them."""
        below = asked.path.removeprefix(f"/repos/{SLUG}")
        if asked.method == "GET":
            return self._read(asked, below)
        match asked.method, below:
            case "POST", _ if below == f"/issues/{NUMBER}/comments":
                return Response(self._store(asked.body["body"], BOT), 201)
            case "PATCH", _ if below.startswith("/issues/comments/"):
                return Response(self._edit(below.rpartition("/")[2], asked.body["body"]))
            case "POST", _ if below == f"/issues/{NUMBER}/labels":
                refused = Response({"message": self.error_text, "errors": [{"message": self.error_text}]}, 422)
                return refused if self.refuses_labels else Response([])
        return Response({"message": self.error_text}, 403 if asked.path.endswith("/graphql") else 200)

    def _read(self, asked: RecordedRequest, below: str) -> Response:
        stored: dict[str, Any] = {
            "": self._repository,
            "/labels": [{"name": name, "description": name} for name in self.labels],
            "/issues": [self.issue],
            f"/issues/{NUMBER}": self.issue,
            f"/issues/{NUMBER}/comments": self.comments,
            **{f"/issues/comments/{comment['id']}": comment for comment in self.comments},
        }
        if below not in stored:
            return Response({"message": self.error_text or "Not Found"}, 404)
        is_later_page = isinstance(stored[below], list) and re.search(r"[?&]page=(?!1(&|$))", asked.target)
        return Response([] if is_later_page else stored[below])

    def _edit(self, key: str, body: str) -> dict[str, Any]:
        found = next((one for one in self.comments if str(one["id"]) == key), {})
        found["body"] = body
        return found

    def _store(self, body: str, author: dict[str, Any]) -> dict[str, Any]:
        key = FIRST_COMMENT_ID + len(self.comments)
        page = f"https://github.com/{SLUG}/issues/{NUMBER}#issuecomment-{key}"
        self.comments.append(
            {"id": key, "body": body, "user": author, "created_at": WHEN, "updated_at": WHEN, "html_url": page}
        )
        return self.comments[-1]
