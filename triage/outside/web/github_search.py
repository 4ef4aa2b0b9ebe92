"""The search without a key: issues of the public repository of the package in which the error is raised.

Two requests to GitHub at most: one finds the repository by the package's name where its path does not tell it, one
searches its issues. Neither a lock file nor an installed package is read for the repository, as most name none; a table
of well-known packages would need care, and the search by name knows them all. A name that is not exactly that of the
most starred repository in the package's language finds nothing.
"""

import re
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, ToolException, tool

from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.run import ISSUE_SEARCH
from triage.outside.web.search_results import parse_results
from triage.safety.secrets.redactor import Redact
from triage.safety.secrets.web_query import sanitize_query

if TYPE_CHECKING:
    from triage.outside.github.issue_search import IssueSearch

MAX_WORDS = 8
"""GitHub finds what has all words."""
_ERROR_NAME = re.compile(r"[A-Za-z_]{0,50}(?:Error|Exception|Warning|Failure|Fault|Interrupt|Panic)")
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]{1,40}(?:['’][a-z]{1,3}|-[a-z]{1,20})?|[A-Z]{2,6}")
"""A word of a sentence: names of code have underscores or capitals inside."""
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_QUOTED = re.compile(r"\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]*`")


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


def build_github_search(issues: "IssueSearch", redact: Redact = lambda tree: tree) -> BaseTool:
    """Return the tool. `redact` masks our own secrets in the words that are sent."""

    def find(words: str, package: str, language: str, repository: str) -> list[dict[str, str]]:
        slug = repository or issues.find_repository(package, language)
        return issues.find_issues(slug, words) if slug else []

    @tool(ISSUE_SEARCH)
    async def search(error: str, name: str, language: str, repository: str = "") -> dict[str, Any]:
        """Searches the issues of the package's public repository for an error; the repository is found by its name."""
        words = choose_words(redact(error))
        if not words:
            return {"results": []}
        try:
            found = await in_thread(find, words, name, language, repository)
        except TriageError as failure:
            raise ToolException(str(failure)) from None
        return {"results": parse_results(found)}

    return search
