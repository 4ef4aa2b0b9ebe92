"""GitHub's reactions, on the comments of a `GitHubApi`."""

from dataclasses import dataclass, field
from typing import Any

from testing.servers.github_api import FORBIDDEN, NOT_FOUND, UNPROCESSABLE, Answer, GitHubApi

REACTIONS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}


@dataclass
class IssueWritesApi:
    """Adds the route to an API."""

    api: GitHubApi
    reactions: list[tuple[int, str, str]] = field(default_factory=list)
    """Comment, login and reaction."""

    def __post_init__(self) -> None:
        self.api.routes.append((r"POST /issues/comments/(\d+)/reactions", self._react))

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
