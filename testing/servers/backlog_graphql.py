"""GitHub's search for issues, with threads, from the issues and comments of a `GitHubApi`.

As GitHub's, it returns at most 1,000 results, and its pages are positions in a list that may shift.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from testing.servers.graphql_documents import Document, check_fields, parse_document, select

if TYPE_CHECKING:
    from testing.servers.github_api import Answer, GitHubApi

MAX_RESULTS = 1_000
SCHEMA: dict[str, dict[str, str]] = {
    "Query": {"search": "Found", "repository": "Repository"},
    "Found": {"pageInfo": "PageInfo", "nodes": "Node"},
    "Repository": {"issue": "Issue", "nameWithOwner": ""},
    "PageInfo": {"hasNextPage": "", "endCursor": ""},
    "Node": {},
    "Names": {"nodes": "Name"},
    "Name": {"name": ""},
    "Account": {"__typename": "", "login": ""},
    "Issue": {
        **dict.fromkeys(("number", "title", "body", "url", "state", "locked", "createdAt"), ""),
        "repository": "Repository",
        "author": "Account",
        "labels": "Names",
        "comments": "Comments",
    },
    "Comments": {"pageInfo": "PageInfo", "nodes": "Comment"},
    "Comment": {**dict.fromkeys(("fullDatabaseId", "body", "createdAt", "updatedAt"), ""), "author": "Account"},
}


def is_backlog_query(sent: dict[str, Any]) -> bool:
    return "fragment listed on Issue" in sent["query"] or "comments(first: $size, after: $after)" in sent["query"]


def answer_backlog(api: "GitHubApi", sent: dict[str, Any]) -> "Answer":
    document = parse_document(sent["query"], sent["variables"])
    check_fields(document.selections, "Query", SCHEMA)
    return 200, {"data": select(_Query(api).fields(document), document.selections)}


class _Query:
    def __init__(self, api: "GitHubApi") -> None:
        self.api = api

    def fields(self, document: Document) -> dict[str, Any]:
        return {"search": self.search, "repository": self.repository}

    def repository(self, owner: str, name: str) -> dict[str, Any]:
        assert f"{owner}/{name}" == "octo/shop"
        return {"issue": lambda number: self.issue(self.api.issues[number])}

    def search(self, type: str, query: str, first: int, after: str | None) -> dict[str, Any]:  # noqa: A002
        assert type == "ISSUE"
        assert 0 < first <= 100
        repo, kind, *parts, sort = query.split()
        assert (repo, kind, sort) == ("repo:octo/shop", "is:issue", "sort:created-desc")
        found = [issue for issue in self.api.issues.values() if all(_fits(part, issue) for part in parts)]
        found.sort(key=lambda issue: (issue["created_at"], issue["number"]), reverse=True)
        shown = found[:MAX_RESULTS]
        start = int(after or 0)
        return {
            "pageInfo": {"hasNextPage": start + first < len(shown), "endCursor": str(start + first)},
            "nodes": [self.issue(issue) for issue in shown[start : start + first]],
        }

    def issue(self, issue: dict[str, Any]) -> dict[str, Any]:
        comments = [comment for comment in self.api.comments if comment["issue"] == issue["number"]]
        return {
            "__typename": "Issue",
            "number": issue["number"],
            "title": issue["title"],
            "body": issue["body"],
            "url": issue["html_url"],
            "state": issue["state"].upper(),
            "locked": issue["locked"],
            "createdAt": issue["created_at"],
            "repository": {"nameWithOwner": "octo/shop"},
            "author": _account(issue["user"]),
            "labels": lambda first: {"nodes": [{"name": label["name"]} for label in issue["labels"]][:first]},
            "comments": lambda first, after=None: _page(list(map(_comment, comments)), first, after),
        }


def _fits(part: str, issue: dict[str, Any]) -> bool:
    match part.split(":", 1):
        case ["is", state]:
            return bool(issue["state"] == state)
        case ["label", name]:
            return name in [label["name"] for label in issue["labels"]]
        case ["no", "assignee"]:
            return not issue.get("assignees")
        case ["created", until]:
            datetime.strptime(until, "<=%Y-%m-%dT%H:%M:%SZ")
            return bool(issue["created_at"] <= until.removeprefix("<="))
    raise AssertionError(part)


def _page(nodes: list[dict[str, Any]], first: int, after: str | None) -> dict[str, Any]:
    end = int(after or 0) + first
    return {
        "pageInfo": {"hasNextPage": end < len(nodes), "endCursor": str(end)},
        "nodes": nodes[int(after or 0) : end],
    }


def _comment(comment: dict[str, Any]) -> dict[str, Any]:
    return {
        "fullDatabaseId": str(comment["id"]),
        "body": comment["body"] or "",
        "createdAt": comment["created_at"],
        "updatedAt": comment["updated_at"],
        "author": _account(comment["user"]),
    }


def _account(user: dict[str, Any] | None) -> dict[str, Any] | None:
    # GraphQL has no suffix at the login of a bot.
    return {"__typename": user["type"], "login": user["login"].removesuffix("[bot]")} if user else None
