"""Lists and searches of issues, and comments with their edits, as GitHub's GraphQL answers them.

An issue may have `state_reason`, `milestone`, `type`, `closed_at`, `last_edited_at`, `editor`, `duplicate_of`, and
`fixes`: pull requests or commits with `number`, `oid`, `headline`, `title`, `at`, `milestone`, `files`, `changed_files`,
`repository`, and `commits` as their first lines.
"""

# ruff: noqa: A002, N803 - arguments have the names of the API

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from testing.servers.graphql_documents import Refused, check_fields, parse_document, select
from testing.servers.stored_issues import SLUG, Answer, StoredIssues

MAX_IDS = 100
"""GitHub refuses more in one question."""
MAX_RESULTS = 1_000
"""Of a search."""
_ACTOR = {"__typename": "", "login": ""}
_COMMENT = {**dict.fromkeys(("id", "fullDatabaseId", "body", "createdAt", "updatedAt"), ""), "author": "Actor"}
_OLD: dict[str, dict[str, str]] = {
    "Query": {"repository": "Repository", "search": "Issues", "nodes": "Node", "viewer": "Actor"},
    "Repository": {"issues": "Issues", "pullRequests": "Issues", "nameWithOwner": ""},
    "Issues": {"issueCount": "", "pageInfo": "PageInfo", "nodes": "Issue"},
    "PageInfo": {"hasNextPage": "", "endCursor": ""},
    "Names": {"nodes": "Name"},
    "Name": {"name": "", "title": "", "path": ""},
    "Actor": _ACTOR,
    "Issue": {
        **dict.fromkeys(("number", "title", "body", "url", "state", "locked", "lastEditedAt"), ""),
        **dict.fromkeys(("createdAt", "updatedAt", "closedAt"), ""),
        "author": "Actor",
        "editor": "Actor",
        "labels": "Names",
        "milestone": "Name",
        "repository": "Repository",
        "closedByPullRequestsReferences": "Pulls",
        "timelineItems": "Events",
        "comments": "Comments",
    },
    "Pulls": {"nodes": "PullRequest"},
    "PullRequest": {
        **dict.fromkeys(("number", "title", "body", "url", "state", "locked", "mergedAt", "changedFiles"), ""),
        **dict.fromkeys(("createdAt", "updatedAt", "closedAt", "lastEditedAt"), ""),
        "author": "Actor",
        "editor": "Actor",
        "labels": "Names",
        "mergeCommit": "Commit",
        "milestone": "Name",
        "files": "Names",
        "commits": "PullCommits",
        "repository": "Repository",
    },
    "PullCommits": {"totalCount": "", "nodes": "PullCommit"},
    "PullCommit": {"commit": "Commit"},
    "Commit": {**dict.fromkeys(("oid", "messageHeadline", "committedDate"), ""), "repository": "Repository"},
    "Events": {"nodes": "Event"},
    "Event": {"__typename": ""},
    "ClosedEvent": {"closer": "Closer"},
    "Closer": {},
    "MarkedAsDuplicateEvent": {"isCrossRepository": "", "canonical": "Canonical"},
    "Canonical": {},
    "Comments": {"pageInfo": "PageInfo", "nodes": "Comment"},
    "Comment": _COMMENT,
    "Node": {},
    "IssueComment": {
        **_COMMENT,
        "lastEditedAt": "",
        "editor": "Actor",
        "userContentEdits": "Edits",
        "repository": "Repository",
    },
    "Edits": {"nodes": "Edit", "pageInfo": "PageInfo"},
    "Edit": {"editor": "Actor", "deletedAt": ""},
}
_NEW = _OLD | {"Issue": _OLD["Issue"] | {"stateReason": "", "issueType": "Name"}}


def answer_issues(stored: StoredIssues, token: str, sent: dict[str, Any]) -> Answer:
    document = parse_document(sent["query"], sent.get("variables") or {})
    try:
        check_fields(document.selections, "Query", _OLD if stored.is_old else _NEW)
    except Refused as unknown:
        return 200, {"errors": [{"message": str(unknown)}]}
    asked = {one.name for one in document.selections}
    if "viewer" in asked and stored.viewer is None:
        return 200, {"errors": [{"type": "FORBIDDEN", "message": "Resource not accessible by integration"}]}
    data = select(_Query(stored, token).fields, document.selections)
    missing = {"errors": [{"type": "NOT_FOUND", "path": ["nodes"]}]} if None in (data.get("nodes") or []) else {}
    return 200, {"data": data, **missing}


@dataclass
class _Query:
    stored: StoredIssues
    token: str

    @property
    def fields(self) -> dict[str, Any]:
        viewer = {"login": self.stored.viewer or self.stored.logins.get(self.token)}
        return {"repository": self.repository, "search": self.search, "nodes": self.nodes, "viewer": viewer}

    def repository(self, owner: str, name: str) -> dict[str, Any] | None:
        return {"issues": self.issues, "pullRequests": self.pull_requests} if f"{owner}/{name}" == SLUG else None

    def issues(
        self,
        first: int,
        after: str | None,
        states: list[str] | None,
        orderBy: dict[str, str],
        filterBy: dict[str, str | None],
    ) -> dict[str, Any]:
        key = {"CREATED_AT": "created_at", "UPDATED_AT": "updated_at"}[orderBy["field"]]
        assert orderBy["direction"] == "DESC"
        since = (filterBy["since"] or "").replace("+00:00", "Z")
        listed = [one for one in self.stored.issues.values() if not one.get("pull_request")]
        listed = [one for one in listed if not states or one["state"].upper() in states]
        listed = [one for one in listed if one["updated_at"] >= since]
        return self._page(sorted(listed, key=lambda one: (one[key], one["number"]), reverse=True), first, after)

    def pull_requests(
        self, first: int, after: str | None, states: list[str], orderBy: dict[str, str]
    ) -> dict[str, Any]:
        assert (states, orderBy) == (["OPEN", "MERGED"], {"field": "CREATED_AT", "direction": "DESC"})
        listed = [one for one in self.stored.issues.values() if one.get("pull_request")]
        listed = [one for one in listed if _pull_state(one) in states]
        return self._page(
            sorted(listed, key=lambda one: (one["created_at"], one["number"]), reverse=True), first, after
        )

    def search(self, type: str, query: str, first: int, after: str | None) -> dict[str, Any]:
        """Issues that have the phrase in quotes, or all words; `in:comments` finds open issues of a commenter."""
        repo, _, words = query.partition(" ")
        assert (type, repo) == ("ISSUE", f"repo:{SLUG}")
        listed = [one for one in self.stored.issues.values() if "is:issue" not in words or not one.get("pull_request")]
        words = words.removeprefix("is:issue ")
        assert len(query) <= 256 + len("repo:octo/shop is:issue sort:created-desc")
        wanted = [" ".join(part).strip() for part in re.findall(r'"([^"]*)"|(\S+)', words)]
        found = [one for one in listed if all(self._fits(part, one, wanted) for part in wanted)]
        if "sort:created-desc" in wanted:
            found.sort(key=lambda one: (one["created_at"], one["number"]), reverse=True)
        return {"issueCount": len(found), **self._page(found[:MAX_RESULTS], first, after)}

    def _fits(self, part: str, issue: dict[str, Any], wanted: list[str]) -> bool:
        comments = [one for one in self.stored.comments if one["issue"] == issue["number"]]
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
            case ["commenter", name]:
                logins = {one["user"]["login"] for one in comments if one["user"]}
                return name in {f"app/{one.removesuffix('[bot]')}" if one.endswith("[bot]") else one for one in logins}
            case ["sort", "created-desc"] | ["in", "comments"]:
                return True
        texts = [one["body"] for one in comments] if "in:comments" in wanted else [issue["title"], issue["body"] or ""]
        return part.casefold() in " ".join(texts).casefold()

    def _page(self, listed: list[dict[str, Any]], first: int, after: str | None) -> dict[str, Any]:
        assert 0 < first <= 100
        start = int(after or 0)
        info = {"hasNextPage": start + first < len(listed), "endCursor": str(start + first)}
        return {"pageInfo": info, "nodes": [self.issue(one) for one in listed[start : start + first]]}

    def issue(self, issue: dict[str, Any]) -> dict[str, Any]:
        comments = [one for one in self.stored.comments if one["issue"] == issue["number"]]
        pulls = [_pull(fix) for fix in issue.get("fixes", []) if "number" in fix]
        return {
            "__typename": "PullRequest" if issue.get("pull_request") else "Issue",
            "number": issue["number"],
            "title": issue["title"],
            "body": issue["body"],
            "url": issue["html_url"],
            "state": _pull_state(issue) if issue.get("pull_request") else issue["state"].upper(),
            "locked": issue["locked"],
            "createdAt": issue["created_at"],
            "updatedAt": issue["updated_at"],
            "closedAt": issue.get("closed_at"),
            "lastEditedAt": issue.get("last_edited_at"),
            "author": _actor(issue["user"] and issue["user"]["login"]),
            "editor": _actor(issue.get("editor")),
            "labels": lambda first: {"nodes": [{"name": label["name"]} for label in issue["labels"]][:first]},
            "milestone": _name("title", issue.get("milestone")),
            "repository": {"nameWithOwner": SLUG},
            "stateReason": lambda enableDuplicate: (issue.get("state_reason") or "").upper() or None,
            "issueType": _name("name", issue.get("type")),
            "closedByPullRequestsReferences": lambda first: {"nodes": pulls[:first]},
            "timelineItems": lambda last, itemTypes: {"nodes": list(_events(issue, pulls))[-last:]},
            "comments": lambda first: {
                "nodes": [self.comment(one) for one in comments[:first]],
                "pageInfo": {"hasNextPage": len(comments) > first, "endCursor": str(first)},
            },
        }

    def nodes(self, ids: list[str]) -> list[dict[str, Any] | None]:
        assert len(ids) <= MAX_IDS
        found = {comment["node_id"]: comment for comment in self.stored.comments}
        return [self.comment(found[key]) if key in found else None for key in ids]

    def comment(self, comment: dict[str, Any]) -> dict[str, Any]:
        edits = self.stored.edits.get(comment["id"], [])
        shown = [{"editor": _actor(edit["login"]), "deletedAt": edit["deletedAt"]} for edit in reversed(edits)]
        return {
            "__typename": "IssueComment",
            "id": comment["node_id"],
            "fullDatabaseId": str(comment["id"]),
            "repository": {"nameWithOwner": comment.get("repository", SLUG)},
            "body": comment["body"] or "",
            "createdAt": comment["created_at"],
            "updatedAt": comment["updated_at"],
            "author": _actor(comment["user"] and comment["user"]["login"]),
            "editor": _actor(edits[-1]["login"]) if edits else None,
            "lastEditedAt": edits[-1]["at"] if edits else None,
            "userContentEdits": lambda first: {"nodes": shown[:first], "pageInfo": {"hasNextPage": len(shown) > first}},
        }


def _pull_state(issue: dict[str, Any]) -> str:
    return "MERGED" if issue["pull_request"].get("merged_at") else str(issue["state"]).upper()


def _actor(login: str | None) -> dict[str, Any] | None:
    # GraphQL has no suffix at the login of a bot.
    kind = "Bot" if login and login.endswith("[bot]") else "User"
    return {"__typename": kind, "login": login.removesuffix("[bot]")} if login else None


def _name(field: str, value: str | None) -> dict[str, Any] | None:
    return {field: value} if value else None


def _pull(fix: dict[str, Any]) -> dict[str, Any]:
    files, lines = fix.get("files", []), fix.get("commits", [])
    return {
        "__typename": "PullRequest",
        "number": fix["number"],
        "title": fix.get("title", ""),
        "mergedAt": fix.get("at"),
        "changedFiles": fix.get("changed_files", len(files)),
        "repository": {"nameWithOwner": fix.get("repository", SLUG)},
        "mergeCommit": {"oid": fix["oid"], "messageHeadline": fix.get("headline", "")} if "oid" in fix else None,
        "commits": lambda last: {
            "totalCount": len(lines),
            "nodes": [{"commit": {"messageHeadline": one}} for one in lines][-last:],
        },
        "milestone": _name("title", fix.get("milestone")),
        "files": lambda first: {"nodes": [{"path": path} for path in files][:first]},
    }


def _events(issue: dict[str, Any], pulls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if duplicate := issue.get("duplicate_of"):
        canonical = {"__typename": "Issue", "number": duplicate}
        yield {"__typename": "MarkedAsDuplicateEvent", "isCrossRepository": False, "canonical": canonical}
    commits = [_commit(fix) for fix in issue.get("fixes", []) if "number" not in fix]
    for closer in commits or [pull for pull in pulls if pull["mergedAt"]]:
        yield {"__typename": "ClosedEvent", "closer": closer}


def _commit(fix: dict[str, Any]) -> dict[str, Any]:
    return {
        "__typename": "Commit",
        "oid": fix["oid"],
        "messageHeadline": fix.get("title", ""),
        "committedDate": fix.get("at"),
        "repository": {"nameWithOwner": fix.get("repository", SLUG)},
    }
