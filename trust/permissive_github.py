"""A GitHub with one issue that accepts all requests, also those that no run should send."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from testing.servers.github_server import BOT, SLUG, WHEN, GitHubServer
from testing.servers.scripted_server import ScriptedReply
from trust.recording_server import RecordedRequest

NUMBER = 7
STRANGER = {"login": "mallory", "type": "User", "id": 666}
FIRST_COMMENT_ID = 1001


@dataclass
class PermissiveGitHub(GitHubServer):
    labels: Sequence[str] = ()
    thread: Sequence[str] = ()
    """Comments by strangers before the run."""
    past_texts: Sequence[str] = ()
    """Each is in every field of a past issue that looks like the new one."""
    error_text: str = ""
    """Message of all error responses."""
    refuses_labels: bool = False
    offers_suggestions: bool = False
    """Suggestions in GitHub's own panel."""
    suggested: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    """What was suggested last, by the variable of the mutation."""

    def __post_init__(self) -> None:
        for text in self.thread:
            self._store_by(text, STRANGER)

    @property
    def ours(self) -> list[dict[str, Any]]:
        return [comment for comment in self.comments if comment["user"] == BOT]

    def reply(self, asked: RecordedRequest) -> ScriptedReply:
        """Handles a request. Requests that no run should send succeed: only the recorded requests show them."""
        below = asked.path.removeprefix(f"/repos/{SLUG}")
        if asked.method == "GET":
            return self._read(asked, below)
        if asked.path.endswith("/graphql") and "fragment past on Issue" in asked.body["query"]:
            return ScriptedReply({"data": self._list_past_issues()})
        if asked.path.endswith("/graphql") and self.offers_suggestions and "viewer" not in asked.body["query"]:
            return self._answer_graphql(asked.body["query"], asked.body["variables"])
        match asked.method, below:
            case "POST", _ if below == f"/issues/{NUMBER}/comments":
                return ScriptedReply(self._store_by(asked.body["body"], BOT), 201)
            case "PATCH", _ if below.startswith("/issues/comments/"):
                return ScriptedReply(self._edit(below.rpartition("/")[2], asked.body["body"]))
            case "POST", _ if below == f"/issues/{NUMBER}/labels":
                refused = ScriptedReply({"message": self.error_text, "errors": [{"message": self.error_text}]}, 422)
                return refused if self.refuses_labels else ScriptedReply([])
        return ScriptedReply({"message": self.error_text}, 403 if asked.path.endswith("/graphql") else 200)

    def _list_past_issues(self) -> dict[str, Any]:
        nodes = [
            {
                "number": number,
                "title": f"{self.title[:100]} {text}",
                "body": f"{self.body}\n{text}",
                "state": "CLOSED",
                "stateReason": text,
                "createdAt": WHEN,
                "updatedAt": WHEN,
                "author": {"__typename": "User", "login": text},
                "labels": {"nodes": [{"name": text}]},
                "milestone": {"title": text},
                "issueType": {"name": text},
                "closedByPullRequestsReferences": {
                    "nodes": [{"number": 1, "title": text, "mergedAt": WHEN, "files": {"nodes": [{"path": text}]}}]
                },
                "comments": {"nodes": [{"author": {"__typename": "Bot", "login": "github-actions"}, "body": text}]},
                "repository": {"nameWithOwner": SLUG},
            }
            # Only older ones are compared with the issue.
            for number, text in enumerate(("\n".join(self.past_texts[first::6]) for first in range(6)), 1)
        ]
        page = {"pageInfo": {"hasNextPage": True, "endCursor": "next"}, "nodes": nodes}
        return {"repository": {"issues": page}, "search": {"nodes": nodes}}

    def _answer_graphql(self, query: str, variables: dict[str, Any]) -> ScriptedReply:
        if query.startswith("mutation"):
            lists = {name: value if isinstance(value, list) else [value] for name, value in variables.items()}
            self.suggested = {name: items for name, items in lists.items() if name != "issue"}
            return ScriptedReply({"data": {}})
        labels = [{"label": _target(item["labelId"])} for item in self.suggested.get("labels", [])]
        types = [{"issueType": _target(item["issueTypeId"])} for item in self.suggested.get("type", [])]
        issue = {"id": f"I:{NUMBER}", "pendingSuggestions": [*labels, *types]}
        shown: dict[str, Any] = {"issue": issue, "issueTypes": {"nodes": [_target("IT:Bug"), _target("IT:Feature")]}}
        for name, value in variables.items():
            if name.startswith("label"):
                shown[name] = _target(f"LA:{value}") if value in self.labels else None
            elif name.startswith("login"):
                shown[name] = {"nodes": [{"id": f"U:{value}", "login": value}]}
        return ScriptedReply({"data": {"repository": shown}})

    def _read(self, asked: RecordedRequest, below: str) -> ScriptedReply:
        stored: dict[str, Any] = {
            "": self.repository,
            "/labels": [{"name": name, "description": name} for name in self.labels],
            "/issues": [self.issue],
            f"/issues/{NUMBER}": self.issue,
            f"/issues/{NUMBER}/comments": self.comments,
            **{f"/issues/comments/{comment['id']}": comment for comment in self.comments},
        }
        if below not in stored:
            return ScriptedReply({"message": self.error_text or "Not Found"}, 404)
        is_later_page = isinstance(stored[below], list) and re.search(r"[?&]page=(?!1(&|$))", asked.target)
        return ScriptedReply([] if is_later_page else stored[below])

    def _edit(self, key: str, body: str) -> dict[str, Any]:
        found = next((one for one in self.comments if str(one["id"]) == key), {})
        found["body"] = body
        return found

    def _store_by(self, body: str, author: dict[str, Any]) -> dict[str, Any]:
        key = FIRST_COMMENT_ID + len(self.comments)
        page = f"https://github.com/{SLUG}/issues/{NUMBER}#issuecomment-{key}"
        self.comments.append(
            {"id": key, "body": body, "user": author, "author_association": "NONE", "html_url": page}
            | {"created_at": WHEN, "updated_at": WHEN}
        )
        return self.comments[-1]


def _target(key: str) -> dict[str, str]:
    return {"id": key, "name": key.partition(":")[2]}
