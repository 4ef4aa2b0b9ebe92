"""The parts that we read of GitHub's responses about git objects, refs and pull requests."""

from pydantic import Field

from triage.domain.proposal import CommitId, PullRequest
from triage.fix.commit_text import CommitFacts
from triage.github.github_errors import unreadable_response
from triage.github.responses import Response, Signature


class ObjectId(Response):
    sha: CommitId
    type: str = ""


class RefResponse(Response):
    ref: str
    target: ObjectId = Field(alias="object")


class GitCommitResponse(Response):
    sha: CommitId
    tree: ObjectId
    parents: list[ObjectId]
    message: str
    committer: Signature

    def to_facts(self) -> CommitFacts:
        """Raises GitHubError if the commit has no time."""
        if self.committer.date is None:
            raise unreadable_response()
        return CommitFacts(
            sha=self.sha,
            parents=[parent.sha for parent in self.parents],
            message=self.message,
            committed_at=self.committer.date,
        )


class TreeEntry(Response):
    path: str
    mode: str
    type: str
    sha: CommitId


class TreeResponse(Response):
    sha: CommitId
    entries: list[TreeEntry] = Field([], alias="tree")
    truncated: bool = False


class BlobResponse(Response):
    sha: CommitId
    content: str = ""
    encoding: str = ""


class RepositoryResponse(Response):
    full_name: str
    default_branch: str = ""


class ComparisonResponse(Response):
    status: str
    """Of the second commit: `ahead` of the first, `behind` it, `identical` or `diverged`."""


class PullHead(Response):
    ref: str
    sha: str = ""
    repository: RepositoryResponse | None = Field(None, alias="repo")
    """None if it was deleted."""


class PullBase(Response):
    ref: str


class PullResponse(Response):
    number: int
    html_url: str
    state: str
    draft: bool = False
    body: str | None = None
    head: PullHead
    base: PullBase

    def is_from(self, slug: str, branch: str, commit: str, base: str) -> bool:
        """Whether it is open, and its head is this commit of this repository's branch, into another branch."""
        repository, head = self.head.repository, (self.head.ref, self.head.sha, self.base.ref)
        is_ours = repository is not None and repository.full_name.casefold() == slug.casefold()
        return is_ours and self.state == "open" and head == (branch, commit, base)

    def to_pull_request(self) -> PullRequest:
        return PullRequest(
            number=self.number,
            url=self.html_url,
            is_draft=self.draft,
            body=self.body or "",
        )
