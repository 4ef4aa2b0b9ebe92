"""GitHub's reactions, assignees and issue types, on the issues and comments of a `GitHubApi`."""

from dataclasses import dataclass, field
from typing import Any

from testing.servers.github_api import FORBIDDEN, NOT_FOUND, UNPROCESSABLE, Answer, GitHubApi

REACTIONS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}


@dataclass
class IssueWritesApi:
    """Adds the routes to an API."""

    api: GitHubApi
    types: list[str] = field(default_factory=lambda: ["Task", "Bug", "Feature"])
    assignable: list[str] = field(default_factory=lambda: ["mona", "octocat"])
    may_triage: bool = True
    """Without it, GitHub leaves types and assignees out, and answers as if it had set them."""
    reactions: list[tuple[int, str, str]] = field(default_factory=list)
    """Comment, login and reaction."""

    def __post_init__(self) -> None:
        self.api.routes += [
            (r"POST /issues/comments/(\d+)/reactions", self._react),
            (r"POST /issues/(\d+)/assignees", self._assign),
            (r"PATCH /issues/(\d+)", self._change),
        ]

    def _react(self, api: GitHubApi, query: Any, token: str, sent: Any, comment: str) -> Answer:
        if "issues" in api.denied.get(token, ()):
            return FORBIDDEN
        if int(comment) not in [one["id"] for one in api.comments]:
            return NOT_FOUND
        if set(sent) != {"content"} or sent["content"] not in REACTIONS:
            return UNPROCESSABLE
        reaction = (int(comment), api.logins[token], sent["content"])
        is_new = reaction not in self.reactions
        self.reactions += [reaction] if is_new else []
        return (201 if is_new else 200), {"id": 1, "content": sent["content"]}

    def _assign(self, api: GitHubApi, query: Any, token: str, sent: Any, number: str) -> Answer:
        if "issues" in api.denied.get(token, ()):
            return FORBIDDEN
        issue = api.issues.get(int(number))
        if issue is None:
            return NOT_FOUND
        if set(sent) != {"assignees"}:
            return UNPROCESSABLE
        present = issue.setdefault("assignees", [])
        for login in sent["assignees"]:
            name = next((one for one in self.assignable if one.casefold() == login.casefold()), None)
            if self.may_triage and name and name not in present:
                present.append(name)
        return 201, self._show(issue)

    def _change(self, api: GitHubApi, query: Any, token: str, sent: Any, number: str) -> Answer:
        if "issues" in api.denied.get(token, ()):
            return FORBIDDEN
        issue = api.issues.get(int(number))
        if issue is None:
            return NOT_FOUND
        name = next((one for one in self.types if one.casefold() == str(sent["type"]).casefold()), None)
        if set(sent) != {"type"} or name is None:
            return UNPROCESSABLE
        if self.may_triage:
            issue["type"] = name
        return 200, self._show(issue)

    def _show(self, issue: dict[str, Any]) -> dict[str, Any]:
        kind = issue.get("type")
        return issue | {
            "type": {"id": 1, "name": kind} if kind else None,
            "assignees": [{"login": login, "type": "User"} for login in issue.get("assignees", [])],
        }
