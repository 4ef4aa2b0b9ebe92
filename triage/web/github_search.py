"""The search without a key: issues of the public repository of the package in which the error is raised.

Two requests to GitHub at most: one finds the repository by the package's name where its path does not tell it, one
searches its issues. Neither a lock file nor an installed package is read for the repository, as most name none; a table
of well-known packages would need care, and the search by name knows them all. A name that is not exactly that of the
most starred repository in the package's language finds nothing.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel, Field, PrivateAttr, SecretStr

from triage.base.errors import AnswerTooLarge
from triage.base.http_client import RequestFailed, send_request
from triage.base.threads import in_thread
from triage.ports import ISSUE_SEARCH
from triage.safety.secrets.redactor import Redact
from triage.safety.secrets.web_query import sanitize_query
from triage.web.search_results import parse_results

MAX_WORDS = 8
"""GitHub finds what has all words."""
MAX_ISSUES = 5
MIN_STARS = 50
"""Of a repository that a name finds: with fewer, another project of the name is as likely."""
MAX_RESPONSE_BYTES = 2_000_000
"""Five issues with texts of 65,536 characters."""
SECONDS = 20.0
_ERROR_NAME = re.compile(r"[A-Za-z_]{0,50}(?:Error|Exception|Warning|Failure|Fault|Interrupt|Panic)")
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]{1,40}(?:['’][a-z]{1,3}|-[a-z]{1,20})?|[A-Z]{2,6}")
"""A word of a sentence: names of code have underscores or capitals inside."""
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_QUOTED = re.compile(r"\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]*`")
_SLUG = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII)
_STATUS_REASONS = {401: "unauthorized (401)", 403: "rate limited or forbidden (403)", 429: "rate limited (429)"}
_LANGUAGES = {"JavaScript": "language:JavaScript language:TypeScript"}


class IssueQuery(BaseModel):
    """What is searched for, in words of the issue and the name of a declared package."""

    error: str = Field(description="The error message")
    name: str = Field(description="The package that raised it")
    language: str
    repository: str = Field("", description="owner/name, if it is known")


@dataclass(frozen=True)
class GitHubSearch:
    token: SecretStr
    api_url: str

    async def get(self, path: str, query: str, count: int) -> list[Any]:
        """Return the items that GitHub found, unchecked. Raises ToolException with our own name for a failure."""
        parameters: dict[str, Any] = {"q": query, "per_page": count}
        if path == "repositories":
            parameters["sort"] = "stars"
        try:
            response = await in_thread(lambda: self._send(path, parameters))
        except (RequestFailed, AnswerTooLarge) as error:
            raise ToolException(str(error)) from None
        if response.status == 422:  # the repository is private or gone
            return []
        if response.status != 200:
            raise ToolException(_STATUS_REASONS.get(response.status, f"search failed ({response.status})"))
        try:
            items = json.loads(response.body)["items"]
        except (ValueError, TypeError, LookupError, RecursionError):
            items = None
        if not isinstance(items, list):
            raise ToolException("unreadable answer")
        return [item for item in items if isinstance(item, dict)]

    def _send(self, path: str, parameters: dict[str, Any]) -> Any:
        headers = {
            "Authorization": f"Bearer {self.token.get_secret_value()}",
            "Accept": "application/vnd.github+json",
        }
        url = f"{self.api_url}/search/{path}"
        limits: dict[str, Any] = {"seconds": SECONDS, "max_bytes": MAX_RESPONSE_BYTES}
        return send_request("GET", url, headers=headers, params=parameters, **limits)


class GitHubSearchTool(BaseTool):
    """Searches once a run."""

    name: str = ISSUE_SEARCH
    description: str = "Searches the issues of a package's public repository for an error."
    args_schema: type[BaseModel] = IssueQuery
    handle_tool_error: bool = False
    _search: GitHubSearch = PrivateAttr()
    _redact: Redact = PrivateAttr(default_factory=lambda: lambda tree: tree)
    _is_used: bool = PrivateAttr(default=False)

    def _run(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise NotImplementedError("the search is asynchronous")

    async def _arun(self, error: str, name: str, language: str, repository: str = "", **_: Any) -> dict[str, Any]:
        words = choose_words(self._redact(error))
        if not words:
            return {"results": []}
        if self._is_used:
            raise ToolException("a run searches once")
        self._is_used = True
        slug = repository if _SLUG.fullmatch(repository) else await self._find_repository(name, language)
        if not slug:
            return {"results": []}
        found = await self._search.get("issues", f"repo:{slug} is:public is:issue {words}", MAX_ISSUES)
        return {"results": parse_results(self._redact([_to_page(item, slug) for item in found]), MAX_ISSUES)}

    async def _find_repository(self, package: str, language: str) -> str:
        name = package
        # A scoped name such as `@angular/core` has a last part that many projects have.
        if not re.fullmatch(r"[\w.-]{2,100}", name, re.ASCII):
            return ""
        languages = _LANGUAGES.get(language, f"language:{language}")
        found = await self._search.get("repositories", f"{name} in:name {languages}", MAX_ISSUES)
        fitting = (item for item in found if _is_public_repository(item, name))
        return next((item["full_name"] for item in fitting), "")


def choose_words(error: str) -> str:
    """Return up to eight plain words of a message, and the error's name: nothing quoted, no other names of code."""
    kind, _, message = error.partition(": ") if ": " in error else error.partition(" ")
    if not (message and _ERROR_NAME.fullmatch(kind)):
        kind, message = "", error
    words = [word.rstrip(":,.") for word in sanitize_query(_QUOTED.sub(" ", message)).split()]
    plain = [word for word in words if _PLAIN_WORD.fullmatch(word) and word not in _OPERATORS]
    named = [kind] if kind and kind not in _OPERATORS else []
    chosen = [*named, *plain][:MAX_WORDS]
    return " ".join(chosen) if len(chosen) >= 3 else ""


def _is_public_repository(item: dict[str, Any], name: str) -> bool:
    slug, stars = item.get("full_name"), item.get("stargazers_count")
    return (
        isinstance(slug, str)
        and _SLUG.fullmatch(slug) is not None
        and slug.rpartition("/")[2].casefold() == name.casefold()
        and item.get("private") is False
        and isinstance(stars, int)
        and stars >= MIN_STARS
    )


def _to_page(item: dict[str, Any], slug: str) -> dict[str, Any]:
    milestone = item.get("milestone")
    state = str(item.get("state"))
    release = str(milestone.get("title") or "") if isinstance(milestone, dict) else ""
    ended = f"{state}, in {release}" if state == "closed" and release else state
    title = f"{slug}#{item.get('number')} ({ended}): {item.get('title')}"
    return {"title": title, "url": item.get("html_url"), "content": item.get("body") or ""}


def build_github_search(token: SecretStr, api_url: str, redact: Redact = lambda tree: tree) -> GitHubSearchTool:
    """Return the tool for one run. `redact` masks our own secrets in what is sent and in what comes back."""
    tool = GitHubSearchTool()
    tool._search, tool._redact = GitHubSearch(token, api_url), redact
    return tool
