"""GitHub's pull requests between branches of a `GitDataApi`."""

from dataclasses import dataclass, field
from typing import Any

from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import FORBIDDEN, SERVER_ERROR_TEXT, SLUG, UNPROCESSABLE, Answer, GitHubApi

OWNER = SLUG.partition("/")[0]


@dataclass
class PullRequestsApi:
    """Adds the routes for pull requests to an API."""

    git: GitDataApi
    lets_actions_open: bool = True
    """The repository's setting."""
    knows_drafts: bool = True
    hidden_lists: int = 0
    """Lists that do not show yet what was opened."""
    pulls: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.git.api.routes += [(r"GET /pulls", self._list), (r"POST /pulls", self._open)]

    def add(self, branch: str, *, repository: str | None = SLUG, **fields: Any) -> dict[str, Any]:
        """Adds a pull request from a branch of any repository, or of a deleted one."""
        number = 100 + len(self.pulls)
        pull = {
            "number": number,
            "html_url": f"https://github.test/{SLUG}/pull/{number}",
            "state": "open",
            "draft": False,
            "title": "x",
            "body": None,
            "head": {
                "ref": branch,
                "sha": self.git.refs.get(f"refs/heads/{branch}"),
                "repo": {"full_name": repository} if repository else None,
                "owner": (repository or "gone/gone").partition("/")[0],
            },
            "base": {"ref": self.git.default_branch, "repo": {"full_name": SLUG}},
        } | fields
        self.pulls.append(pull)
        return pull

    def _list(self, api: GitHubApi, query: dict[str, list[str]], token: str, sent: Any) -> Answer:
        self.hidden_lists -= 1
        found = self.pulls if self.hidden_lists < 0 else []
        found = [one for one in found if query["state"] == [one["state"]] or query["state"] == ["all"]]
        owner, colon, branch = query["head"][0].partition(":")
        if colon:
            found = [one for one in found if (one["head"]["owner"], one["head"]["ref"]) == (owner, branch)]
        return 200, list(reversed(found))[: int(query["per_page"][0])]

    def _open(self, api: GitHubApi, query: Any, token: str, sent: Any) -> Answer:
        if "pull-requests" in api.denied.get(token, ()):
            return FORBIDDEN
        if api.logins[token] == "github-actions[bot]" and not self.lets_actions_open:
            return 403, {
                "message": "GitHub Actions is not permitted to create or approve pull requests.",
                "documentation_url": SERVER_ERROR_TEXT,
            }
        if set(sent) != {"title", "body", "head", "base", "draft"} or not sent["title"]:
            return UNPROCESSABLE
        if sent["draft"] and not self.knows_drafts:
            return 422, {"message": "Draft pull requests are not supported in this repository."}
        refs, head, base = self.git.refs, f"refs/heads/{sent['head']}", f"refs/heads/{sent['base']}"
        if head not in refs or base not in refs:
            return _refuse("")
        if refs[head] == refs[base]:
            return _refuse(f"No commits between {sent['base']} and {sent['head']}")
        if any(
            (one["head"]["ref"], one["base"]["ref"]) == (sent["head"], sent["base"]) and one["state"] == "open"
            for one in self.pulls
        ):
            return _refuse(f"A pull request already exists for {OWNER}:{sent['head']}.")
        opened = self.add(sent["head"], title=sent["title"], body=sent["body"], draft=sent["draft"])
        return 201, opened


def _refuse(reason: str) -> Answer:
    # The reason is in the details only.
    detail = {"resource": "PullRequest", "code": "custom", "message": reason}
    return 422, {"message": "Validation Failed", "errors": [detail], "documentation_url": SERVER_ERROR_TEXT}
