"""Searches the issues of other public repositories."""

import re
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from triage.base.errors import GitHubUnavailable
from triage.outside.github.github_errors import ErrorKind, GitHubError, github_errors, translates
from triage.outside.github.repository_connection import SLUG_PATTERN, RepositoryConnection

if TYPE_CHECKING:
    from github.Issue import IssueSearchResult

MAX_ISSUES = 5
MIN_STARS = 50
"""Of a repository that a name finds: with fewer, another project of the name is as likely."""
_NAME = re.compile(r"[\w.-]{2,100}", re.ASCII)


@dataclass
class IssueSearch(RepositoryConnection):
    """Each method takes one request. Raises GitHubUnavailable with the reason in a few words."""

    page_size = MAX_ISSUES
    _: KW_ONLY
    max_wait_seconds: float = 0.0
    """An agent waits for the answer."""

    def find_repository(self, package: str, language: str) -> str:
        """Return the most starred public repository of exactly this name in a language; empty for none."""
        # A scoped name such as `@angular/core` has a last part that many projects have.
        if not _NAME.fullmatch(package):
            return ""
        languages = {"JavaScript": "language:JavaScript language:TypeScript"}.get(language, f"language:{language}")
        with _translate_errors(), github_errors():
            query = self.mask_secrets(f"{package} in:name {languages}")
            for found in self._reader.search_repositories(query, sort="stars").get_page(0):
                slug = found.full_name if SLUG_PATTERN.fullmatch(found.full_name) else ""
                is_named = slug.rpartition("/")[2].casefold() == package.casefold()
                if is_named and found.private is False and found.stargazers_count >= MIN_STARS:
                    return slug
        return ""

    def find_issues(self, slug: str, words: str) -> list[dict[str, str]]:
        """Return title, url and content of the issues of a public repository that have all words.

        None of this repository, where the issue would be found that is triaged.
        """
        if not SLUG_PATTERN.fullmatch(slug) or slug.casefold() == self.slug.casefold():
            return []
        with _translate_errors():
            try:
                with github_errors():
                    query = self.mask_secrets(f"repo:{slug} is:public is:issue {words}")
                    found = self._reader.search_issues(query).get_page(0)
                    pages: list[dict[str, str]] = self.redact([_describe(issue, slug) for issue in found])
                    return pages
            except GitHubError as error:
                if error.kind is ErrorKind.INVALID:  # the repository is private or gone
                    return []
                raise


@translates
def _translate_errors(error: GitHubError) -> GitHubUnavailable:
    is_limit = error.kind is ErrorKind.RATE_LIMITED
    return GitHubUnavailable("rate limited" if is_limit else f"GitHub {error.description}")


def _describe(issue: "IssueSearchResult", slug: str) -> dict[str, str]:
    release = issue.milestone.title if issue.milestone else ""
    ended = f"{issue.state}, in {release}" if issue.state == "closed" and release else issue.state
    title = f"{slug}#{issue.number} ({ended}): {issue.title}"
    return {"title": title, "url": issue.html_url, "content": issue.body or ""}
