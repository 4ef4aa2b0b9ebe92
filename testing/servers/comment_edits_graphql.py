"""Who edited a comment, as GitHub's GraphQL answers it, from the comments and edits of a `GitHubApi`."""

# ruff: noqa: A002 - arguments have the names of the API

from typing import TYPE_CHECKING, Any

from testing.servers.graphql_documents import Refused, check_fields, parse_document, select

if TYPE_CHECKING:
    from testing.servers.github_api import Answer, GitHubApi

_ACTOR = {"__typename": "", "login": ""}
_SCHEMA: dict[str, dict[str, str]] = {
    "Query": {"viewer": "User", "node": "Node"},
    "User": {"login": ""},
    "Node": {},
    "IssueComment": {
        "fullDatabaseId": "",
        "repository": "Repository",
        "body": "",
        "author": "Actor",
        "editor": "Actor",
        "lastEditedAt": "",
        "userContentEdits": "Edits",
    },
    "Repository": {"nameWithOwner": ""},
    "Actor": _ACTOR,
    "Edits": {"nodes": "Edit", "pageInfo": "PageInfo"},
    "Edit": {"editor": "Actor", "deletedAt": ""},
    "PageInfo": {"hasNextPage": ""},
}


def is_comment_edits_query(sent: dict[str, Any]) -> bool:
    return "userContentEdits" in sent["query"] and "issues(" not in sent["query"]


def answer_comment_edits(api: "GitHubApi", token: str, sent: dict[str, Any]) -> "Answer":
    document = parse_document(sent["query"], sent.get("variables") or {})
    try:
        check_fields(document.selections, "Query", _SCHEMA)
    except Refused as unknown:
        return 200, {"errors": [{"message": str(unknown)}]}
    found: dict[str, Any] = {}

    def show_node(id: str) -> dict[str, Any] | None:
        comment = next((one for one in api.comments if one["node_id"] == id), None)
        found["comment"] = comment
        return _show_comment(api, comment) if comment else None

    data = select({"viewer": {"login": api.logins[token]}, "node": show_node}, document.selections)
    missing = {"errors": [{"type": "NOT_FOUND", "path": ["node"]}]} if found["comment"] is None else {}
    return 200, {"data": data, **missing}


def _show_comment(api: "GitHubApi", comment: dict[str, Any]) -> dict[str, Any]:
    edits = api.edits.get(comment["id"], [])
    return {
        "__typename": "IssueComment",
        "fullDatabaseId": str(comment["id"]),
        "repository": {"nameWithOwner": comment.get("repository", "octo/shop")},
        "body": comment["body"],
        "author": _show_actor(comment["user"] and comment["user"]["login"]),
        "editor": _show_actor(edits[-1]["login"]) if edits else None,
        "lastEditedAt": edits[-1]["at"] if edits else None,
        "userContentEdits": lambda first: {
            "nodes": [_show_edit(one) for one in reversed(edits)][:first],
            "pageInfo": {"hasNextPage": len(edits) > first},
        },
    }


def _show_edit(edit: dict[str, Any]) -> dict[str, Any]:
    return {"editor": _show_actor(edit["login"]), "deletedAt": edit["deletedAt"]}


def _show_actor(login: str | None) -> dict[str, Any] | None:
    if login is None:
        return None
    is_bot = login.endswith("[bot]")
    return {"__typename": "Bot" if is_bot else "User", "login": login.removesuffix("[bot]")}
