"""Reads tags and commits of one repository, for checkouts without history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from triage.domain.code import PathChange, Tag
from triage.github.responses import CommitFilesResponse, CommitResponse, TagResponse, parse_response
from triage.safety.secrets.likely_secrets import shorten_text

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

MAX_TAG_PAGES = 3
MAX_LISTED = 100
"""Commits of one file: one page."""
MAX_SUBJECT_CHARS = 120
MAX_CHANGED_FILES = 300
"""Files of a commit that GitHub sends at once."""


@dataclass(frozen=True)
class Commits:
    """The commits of one repository. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    repo: str
    """Its path, `/repos/owner/name`."""

    def list_tags(self) -> list[Tag]:
        pages = islice(self.client.iterate_pages(f"{self.repo}/tags"), MAX_TAG_PAGES)
        tags = [parse_response(TagResponse, raw) for page in pages for raw in page]
        return [Tag(name=tag.name, commit=tag.commit.sha) for tag in tags if tag.commit.sha]

    def list_changes_between(self, worked: str, broken: str, paths: Sequence[str]) -> list[PathChange]:
        """Returns the commits that changed one of the files, up to `broken` and younger than `worked`, newest first.

        Dates decide what is between both: a commit that was merged later than it was written may be missing.
        """
        base = parse_response(CommitResponse, self.client.get(f"{self.repo}/commits/{worked}"))
        since = base.details.committer.date if base.details.committer else None
        if since is None:
            return []
        found: dict[str, PathChange] = {}
        for path in paths:
            asked = {"sha": broken, "path": path, "since": since.isoformat(), "per_page": MAX_LISTED}
            for raw in self.client.get(f"{self.repo}/commits", asked) or []:
                commit = parse_response(CommitResponse, raw)
                known = found.get(commit.sha)
                if commit.sha != base.sha:
                    found[commit.sha] = _to_change(commit, [*(known.paths if known else []), path])
        return sorted(found.values(), key=lambda change: change.date, reverse=True)

    def list_changed_files(self, sha: str) -> list[str]:
        """Returns the paths that a commit changed, at most `MAX_CHANGED_FILES`."""
        response = parse_response(CommitFilesResponse, self.client.get(f"{self.repo}/commits/{sha}"))
        return [file.filename for file in response.files if file.filename]


def _to_change(commit: CommitResponse, paths: list[str]) -> PathChange:
    at = commit.details.committer.date if commit.details.committer else None
    return PathChange(
        commit=commit.sha,
        date=(at or datetime.fromtimestamp(0, UTC)).astimezone(UTC).isoformat(),
        subject=shorten_text(commit.details.message[:10_000].partition("\n")[0], MAX_SUBJECT_CHARS),
        paths=paths,
    )
