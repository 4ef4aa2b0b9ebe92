"""Closed issues and comments as GitHub's GraphQL answers them to a scorecard, from the data of a `GitHubApi`.

An issue of the API may have `closed_at`, `last_edited_at`, `editor`, and `fixes` as in `past_issues_graphql`, also with
`changed_files` and `repository`; a comment may have `minimized`, `up` and `down`.
"""

# ruff: noqa: N803 - arguments have the names of the API

from typing import TYPE_CHECKING, Any

from testing.servers.graphql_documents import Refused, check_fields, parse_document, select

if TYPE_CHECKING:
    from testing.servers.github_api import Answer, GitHubApi

SLUG = "octo/shop"
MAX_IDS = 100
"""GitHub refuses more in one question."""
_OLD: dict[str, dict[str, str]] = {
    "Query": {"repository": "Repository", "nodes": "Node"},
    "Repository": {"issues": "Issues", "nameWithOwner": ""},
    "Issues": {"pageInfo": "PageInfo", "nodes": "Issue"},
    "PageInfo": {"hasNextPage": "", "endCursor": ""},
    "Issue": {
        **dict.fromkeys(("number", "title", "closedAt", "updatedAt", "lastEditedAt"), ""),
        "author": "Actor",
        "editor": "Actor",
        "labels": "Labels",
        "timelineItems": "Events",
        "comments": "Heads",
    },
    "Actor": {"__typename": "", "login": ""},
    "Labels": {"nodes": "Label"},
    "Label": {"name": ""},
    "Events": {"nodes": "Event"},
    "Event": {},
    "ClosedEvent": {"closer": "Closer"},
    "Closer": {},
    "Commit": {"oid": "", "repository": "Repository"},
    "PullRequest": {
        **dict.fromkeys(("number", "mergedAt", "changedFiles"), ""),
        "repository": "Repository",
        "files": "Files",
    },
    "Files": {"nodes": "File"},
    "File": {"path": ""},
    "Heads": {"nodes": "Head"},
    "Head": {"id": "", "createdAt": "", "author": "Actor"},
    "Node": {},
    "IssueComment": {
        **dict.fromkeys(("id", "body", "createdAt", "lastEditedAt"), ""),
        "author": "Actor",
        "editor": "Actor",
        "userContentEdits": "Edits",
    },
    "Edits": {"nodes": "Edit", "pageInfo": "PageInfo"},
    "Edit": {"editor": "Actor", "deletedAt": ""},
}
_NEW: dict[str, dict[str, str]] = _OLD | {
    "Issue": _OLD["Issue"] | {"closedByPullRequestsReferences": "Pulls"},
    "Pulls": {"nodes": "PullRequest"},
    "IssueComment": _OLD["IssueComment"] | {"isMinimized": "", "minimizedReason": "", "reactions": "Reactions"},
    "Reactions": {"totalCount": ""},
}


def is_scorecard_query(sent: dict[str, Any]) -> bool:
    return "states: [CLOSED]" in sent["query"] or "nodes(ids: $ids)" in sent["query"]


def answer_scorecard(api: "GitHubApi", sent: dict[str, Any], *, is_old: bool = False) -> "Answer":
    """Answers what a scorecard asks; with `is_old` as a server without links to pull requests and feedback."""
    document = parse_document(sent["query"], sent["variables"])
    try:
        check_fields(document.selections, "Query", _OLD if is_old else _NEW)
    except Refused as unknown:
        return 200, {"errors": [{"message": str(unknown)}]}
    query = _Query(api)
    return 200, {"data": select({"repository": query.repository, "nodes": query.nodes}, document.selections)}


class _Query:
    def __init__(self, api: "GitHubApi") -> None:
        self.api = api

    def repository(self, owner: str, name: str) -> dict[str, Any] | None:
        return {"issues": self.issues} if f"{owner}/{name}" == SLUG else None

    def issues(
        self, first: int, after: str | None, states: list[str], orderBy: dict[str, str], filterBy: dict[str, Any]
    ) -> dict[str, Any]:
        assert 0 < first <= 100
        assert (states, orderBy) == (["CLOSED"], {"field": "UPDATED_AT", "direction": "DESC"})
        since = filterBy["since"].replace("+00:00", "Z")
        listed = [one for one in self.api.issues.values() if one["state"] == "closed" and one["updated_at"] >= since]
        listed.sort(key=lambda issue: (issue["updated_at"], issue["number"]), reverse=True)
        start = int(after or 0)
        info = {"hasNextPage": start + first < len(listed), "endCursor": str(start + first)}
        return {"pageInfo": info, "nodes": [self.issue(one) for one in listed[start : start + first]]}

    def issue(self, issue: dict[str, Any]) -> dict[str, Any]:
        fixes = issue.get("fixes", [])
        pulls = [_pull(fix) for fix in fixes if "number" in fix]
        commits = [_commit(fix) for fix in fixes if "number" not in fix]
        closers = commits or [pull for pull in pulls if pull["mergedAt"]]
        events: list[dict[str, Any]] = [{"__typename": "ClosedEvent", "closer": closer} for closer in closers]
        events = events or [{"__typename": "ClosedEvent", "closer": None}]
        comments = [comment for comment in self.api.comments if comment["issue"] == issue["number"]]
        return {
            "number": issue["number"],
            "title": issue["title"],
            "closedAt": issue["closed_at"],
            "updatedAt": issue["updated_at"],
            "lastEditedAt": issue.get("last_edited_at"),
            "author": _actor(issue["user"] and issue["user"]["login"]),
            "editor": _actor(issue.get("editor")),
            "labels": lambda first: {"nodes": issue["labels"][:first]},
            "closedByPullRequestsReferences": lambda first: {"nodes": pulls[:first]},
            "timelineItems": lambda last, itemTypes: {"nodes": events[-last:]},
            "comments": lambda first: {"nodes": [_head(comment) for comment in comments[:first]]},
        }

    def nodes(self, ids: list[str]) -> list[dict[str, Any] | None]:
        assert len(ids) <= MAX_IDS
        found = {comment["node_id"]: comment for comment in self.api.comments}
        return [self.comment(found[key]) if key in found else None for key in ids]

    def comment(self, comment: dict[str, Any]) -> dict[str, Any]:
        edits = self.api.edits.get(comment["id"], [])
        counts = {"THUMBS_UP": comment.get("up", 0), "THUMBS_DOWN": comment.get("down", 0)}
        return _head(comment) | {
            "__typename": "IssueComment",
            "body": comment["body"],
            "lastEditedAt": edits[-1]["at"] if edits else None,
            "editor": _actor(edits[-1]["login"]) if edits else None,
            "isMinimized": bool(comment.get("minimized")),
            "minimizedReason": comment.get("minimized"),
            "reactions": lambda content: {"totalCount": counts[content]},
            "userContentEdits": lambda first: {
                "nodes": [
                    {"editor": _actor(edit["login"]), "deletedAt": edit["deletedAt"]} for edit in reversed(edits)
                ][:first],
                "pageInfo": {"hasNextPage": len(edits) > first},
            },
        }


def _head(comment: dict[str, Any]) -> dict[str, Any]:
    login = comment["user"] and comment["user"]["login"]
    return {"id": comment["node_id"], "createdAt": comment["created_at"], "author": _actor(login)}


def _actor(login: str | None) -> dict[str, Any] | None:
    # GraphQL has no suffix at the login of a bot.
    kind = "Bot" if login and login.endswith("[bot]") else "User"
    return {"__typename": kind, "login": login.removesuffix("[bot]")} if login else None


def _pull(fix: dict[str, Any]) -> dict[str, Any]:
    files = fix.get("files", [])
    return {
        "__typename": "PullRequest",
        "number": fix["number"],
        "mergedAt": fix.get("at"),
        "changedFiles": fix.get("changed_files", len(files)),
        "repository": {"nameWithOwner": fix.get("repository", SLUG)},
        "files": lambda first: {"nodes": [{"path": path} for path in files][:first]},
    }


def _commit(fix: dict[str, Any]) -> dict[str, Any]:
    return {"__typename": "Commit", "oid": fix["oid"], "repository": {"nameWithOwner": fix.get("repository", SLUG)}}
