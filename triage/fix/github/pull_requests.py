"""Finds and opens pull requests from branches of one repository."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triage.base.threads import sleep_unless_abandoned
from triage.domain.proposal import PullRequest
from triage.fix.github.git_responses import PullResponse
from triage.github.github_client import PAGE_SIZE
from triage.github.github_errors import ErrorKind, GitHubError, unreadable_response
from triage.github.responses import parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

MAX_READS = 3
"""Reads of a list that does not show yet what was just opened."""
MAX_WRITES = 2


@dataclass
class PullRequests:
    """The pull requests of one repository. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    slug: str
    reread_seconds: float

    def find(self, branch: str, commit: str, base: str) -> PullRequest | None:
        """Returns the open one from a branch of this repository into the base whose head is the commit."""
        owner, _, _ = self.slug.partition("/")
        parameters = {"head": f"{owner}:{branch}", "state": "open", "per_page": PAGE_SIZE}
        raw = self.client.get(f"/repos/{self.slug}/pulls", parameters)
        if not isinstance(raw, list):
            raise unreadable_response()
        # GitHub lists all pull requests when it cannot read the parameter `head`.
        pulls = [parse_response(PullResponse, item) for item in raw]
        return next((pull.to_pull_request() for pull in pulls if pull.is_from(self.slug, branch, commit, base)), None)

    def open_draft(self, branch: str, commit: str, base: str, title: str, body: str) -> PullRequest:
        """Opens one if there is none of the commit. GitHub itself refuses a second one of the same two branches."""
        if found := self.find(branch, commit, base):
            return found
        content = {"title": title, "body": body, "head": branch, "base": base, "draft": True}
        for _ in range(MAX_WRITES):
            try:
                return self._post(branch, commit, content)
            except GitHubError as error:
                if error.kind not in (ErrorKind.EXISTS, ErrorKind.UNKNOWN_OUTCOME):
                    raise
                failure = error
            if found := self._find_again(branch, commit, base):
                return found
        raise failure

    def _post(self, branch: str, commit: str, content: dict[str, Any]) -> PullRequest:
        raw = self.client.write("POST", f"/repos/{self.slug}/pulls", content, idempotent=False)
        opened = parse_response(PullResponse, raw)
        if not opened.is_from(self.slug, branch, commit, content["base"]):
            raise unreadable_response()
        return opened.to_pull_request()

    def _find_again(self, branch: str, commit: str, base: str) -> PullRequest | None:
        for attempt in range(MAX_READS):
            sleep_unless_abandoned(self.reread_seconds * attempt)
            if found := self.find(branch, commit, base):
                return found
        return None
