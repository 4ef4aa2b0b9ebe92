"""The list and the search of issues as GitHub's GraphQL answers them, from the issues and comments of a `GitHubApi`.

An issue of the API may have `state_reason`, `milestone`, `type`, `closed_at`, `duplicate_of`, and `fixes`: pull requests
or commits with `number`, `oid`, `headline`, `title`, `at`, `milestone`, `files`, and `commits` as their first lines.
"""

# ruff: noqa: A002, N803 - arguments have the names of the API

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from testing.servers.graphql_documents import Document, Refused, check_fields, parse_document, select

if TYPE_CHECKING:
    from testing.servers.github_api import Answer, GitHubApi

_OLD: dict[str, dict[str, str]] = {
    "Query": {"repository": "Repository", "search": "Found"},
    "Repository": {"issues": "Issues", "nameWithOwner": ""},
    "Issues": {"pageInfo": "PageInfo", "nodes": "Issue"},
    "PageInfo": {"hasNextPage": "", "endCursor": ""},
    "Found": {"nodes": "Node"},
    "Node": {},
    "Names": {"nodes": "Name"},
    "Name": {"name": "", "title": "", "path": ""},
    "Account": {"__typename": "", "login": ""},
    "Issue": {
        **dict.fromkeys(("number", "title", "body", "state", "createdAt", "updatedAt", "closedAt"), ""),
        "author": "Account",
        "labels": "Names",
        "milestone": "Name",
        "repository": "Repository",
    },
}
_NEW: dict[str, dict[str, str]] = _OLD | {
    "Issue": _OLD["Issue"]
    | {
        "stateReason": "",
        "issueType": "Name",
        "closedByPullRequestsReferences": "Pulls",
        "timelineItems": "Events",
        "comments": "Comments",
    },
    "Pulls": {"nodes": "Pull"},
    "Pull": {
        **dict.fromkeys(("number", "title", "mergedAt"), ""),
        "mergeCommit": "Commit",
        "milestone": "Name",
        "files": "Names",
        "commits": "PullCommits",
    },
    "PullCommits": {"totalCount": "", "nodes": "PullCommit"},
    "PullCommit": {"commit": "Commit"},
    "Commit": dict.fromkeys(("oid", "messageHeadline", "committedDate"), ""),
    "Events": {"nodes": "Event"},
    "Event": {"__typename": ""},
    "ClosedEvent": {"closer": "Closer"},
    "Closer": {},
    "MarkedAsDuplicateEvent": {"isCrossRepository": "", "canonical": "Canonical"},
    "Canonical": {},
    "Comments": {"nodes": "Comment"},
    "Comment": {"author": "Account", "body": ""},
}


def is_past_issues_query(sent: dict[str, Any]) -> bool:
    return "fragment past on Issue" in sent["query"]


def answer_past_issues(api: "GitHubApi", sent: dict[str, Any], *, knows_fixes: bool = True) -> "Answer":
    """Answers a list of issues, and a search; without `knows_fixes` as an old server does."""
    document = parse_document(sent["query"], sent["variables"])
    try:
        check_fields(document.selections, "Query", _NEW if knows_fixes else _OLD)
    except Refused as unknown:
        return 200, {"errors": [{"message": str(unknown)}]}
    return 200, {"data": select(_Query(api).fields(document), document.selections)}


class _Query:
    def __init__(self, api: "GitHubApi") -> None:
        self.api = api

    def fields(self, document: Document) -> dict[str, Any]:
        return {"repository": self.repository, "search": self.search}

    def repository(self, owner: str, name: str) -> dict[str, Any] | None:
        return {"issues": self.issues} if f"{owner}/{name}" == "octo/shop" else None

    def issues(self, first: int, after: str | None, orderBy: dict[str, str]) -> dict[str, Any]:
        assert 0 < first <= 100
        assert orderBy == {"field": "CREATED_AT", "direction": "DESC"}
        listed = [issue for issue in self.api.issues.values() if not issue.get("pull_request")]
        listed.sort(key=lambda issue: (issue["created_at"], issue["number"]), reverse=True)
        start = int(after or 0)
        end = start + first
        info = {"hasNextPage": end < len(listed), "endCursor": str(end)}
        return {"pageInfo": info, "nodes": [self.issue(issue) for issue in listed[start:end]]}

    def search(self, type: str, query: str, first: int) -> dict[str, Any]:
        """Issues that have the phrase in quotes, or all words; `in:comments` there alone, at open issues of a commenter."""
        repo, kind, *_ = query.split()
        assert (type, repo, kind) == ("ISSUE", "repo:octo/shop", "is:issue")
        assert len(query) <= 256
        wanted = [" ".join(part).strip().casefold() for part in re.findall(r'"([^"]*)"|(\S+)', query)][2:]
        commenter = next((word.removeprefix("commenter:") for word in wanted if word.startswith("commenter:")), "")
        in_comments = bool(commenter)
        assert not in_comments or (wanted[0], wanted[2]) == ("is:open", "in:comments")
        found = [
            self.issue(issue)
            for issue in self.api.issues.values()
            if all(word in self._searched(issue, in_comments=in_comments) for word in wanted[3 * in_comments :])
            and (not in_comments or commenter in self._list_commenters(issue))
        ]
        return {"nodes": found[:first]}

    def _list_commenters(self, issue: dict[str, Any]) -> set[str]:
        logins = {one["user"]["login"] for one in self.api.comments if one["issue"] == issue["number"] and one["user"]}
        return {f"app/{login.removesuffix('[bot]')}" if login.endswith("[bot]") else login for login in logins}

    def _searched(self, issue: dict[str, Any], *, in_comments: bool) -> str:
        bodies = [one["body"] for one in self.api.comments if one["issue"] == issue["number"]]
        texts = bodies * (issue["state"] == "open") if in_comments else [issue["title"], issue["body"]]
        return " ".join(texts).casefold()

    def issue(self, issue: dict[str, Any]) -> dict[str, Any]:
        fixes = issue.get("fixes", [])
        return {
            "__typename": "Issue",
            "number": issue["number"],
            "title": issue["title"],
            "body": issue["body"],
            "state": issue["state"].upper(),
            "createdAt": issue["created_at"],
            "updatedAt": issue["updated_at"],
            "closedAt": issue.get("closed_at"),
            "author": _account(issue["user"]["login"]) if issue["user"] else None,
            "labels": lambda first: {"nodes": [{"name": label["name"]} for label in issue["labels"]][:first]},
            "milestone": _name("title", issue.get("milestone")),
            "repository": {"nameWithOwner": "octo/shop"},
            "stateReason": lambda enableDuplicate: (issue.get("state_reason") or "").upper() or None,
            "issueType": _name("name", issue.get("type")),
            "closedByPullRequestsReferences": lambda first: {
                "nodes": [_pull(fix) for fix in fixes if "number" in fix][:first]
            },
            "timelineItems": lambda last, itemTypes: {"nodes": list(_events(issue))[-last:]},
            "comments": lambda first: {"nodes": list(self.comments(issue["number"]))[:first]},
        }

    def comments(self, number: int) -> Iterator[dict[str, Any]]:
        for comment in self.api.comments:
            if comment["issue"] == number:
                login = comment["user"]["login"] if comment["user"] else None
                yield {"author": _account(login) if login else None, "body": comment["body"] or ""}


def _account(login: str) -> dict[str, Any]:
    # GraphQL has no suffix at the login of a bot.
    return {"__typename": "Bot" if login.endswith("[bot]") else "User", "login": login.removesuffix("[bot]")}


def _name(field: str, value: str | None) -> dict[str, Any] | None:
    return {field: value} if value else None


def _pull(fix: dict[str, Any]) -> dict[str, Any]:
    return {
        "number": fix["number"],
        "title": fix.get("title", ""),
        "mergedAt": fix.get("at"),
        "mergeCommit": {"oid": fix["oid"], "messageHeadline": fix.get("headline", "")} if "oid" in fix else None,
        "commits": lambda last: {
            "totalCount": len(fix.get("commits", [])),
            "nodes": [{"commit": {"messageHeadline": one}} for one in fix.get("commits", [])][-last:],
        },
        "milestone": _name("title", fix.get("milestone")),
        "files": lambda first: {"nodes": [{"path": path} for path in fix.get("files", [])][:first]},
    }


def _events(issue: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if duplicate := issue.get("duplicate_of"):
        canonical = {"__typename": "Issue", "number": duplicate}
        yield {"__typename": "MarkedAsDuplicateEvent", "isCrossRepository": False, "canonical": canonical}
    for fix in issue.get("fixes", []):
        if "number" not in fix:
            commit = {"oid": fix["oid"], "messageHeadline": fix.get("title", ""), "committedDate": fix.get("at")}
            yield {"__typename": "ClosedEvent", "closer": {"__typename": "Commit", **commit}}
