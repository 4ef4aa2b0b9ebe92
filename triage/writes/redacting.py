"""The ports with every secret of ours redacted in what passes through them.

The run goes on; the redactor's warning says where it found one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from triage.domain.code import PathChange, Tag
from triage.domain.effect import Suggestion, SuggestionOptions
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.report import RunReport
from triage.issue.past_issues import make_visible
from triage.ports import GitHub, ResponseCache, Telemetry, Toolset
from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.tools import BaseTool


class RedactingGitHub:
    def __init__(self, github: GitHub, redactor: SecretRedactor) -> None:
        self._github, self._redactor = github, redactor
        self._redact_comment = redactor.redactor_for("comment")

    def fetch_issue(self, number: int) -> Issue:
        return self._redactor.redact_model("issue", self._github.fetch_issue(number))

    def refetch_issue(self, number: int, posted: int | None = None) -> Issue:
        return self._redactor.redact_model("issue", self._github.refetch_issue(number, posted))

    def list_recent_issues(self, limit: int) -> list[int]:
        return self._github.list_recent_issues(limit)

    def list_labels(self) -> list[str]:
        """As the port, without labels that have a secret in their name."""
        return [label for label in self._github.list_labels() if not self._redactor.has_match(label)]

    def fetch_role(self, login: str) -> str:
        return self._github.fetch_role(login)

    def list_tags(self) -> list[Tag]:
        return self._github.list_tags()

    def list_changes_between(self, worked: str, broken: str, paths: Sequence[str]) -> list[PathChange]:
        changes = self._github.list_changes_between(worked, broken, paths)
        return [self._redactor.redact_model("commit", change) for change in changes]

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        return self._github.post_comment(number, self._redact_comment(body))

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        return self._github.edit_comment(number, comment_id, self._redact_comment(body))

    def wait_to_look_again(self, number: int) -> bool:
        return self._github.wait_to_look_again(number)

    def delete_comment(self, number: int, comment_id: int) -> None:
        self._github.delete_comment(number, comment_id)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """As the port, without labels that have a secret in their name."""
        self._github.add_labels(number, [label for label in labels if not self._redactor.has_match(label)])

    def fetch_suggestion_options(
        self, number: int, labels: Sequence[str], logins: Sequence[str]
    ) -> SuggestionOptions | None:
        return self._github.fetch_suggestion_options(number, labels, logins)

    def suggest(self, number: int, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """As the port, without a name or a reason that has a secret in it."""
        clean = [one for one in suggestions if not self._redactor.has_match(f"{one.name} {one.rationale}")]
        return self._github.suggest(number, clean)

    def remove_label(self, number: int, label: str) -> None:
        self._github.remove_label(number, label)


class RedactingPastIssues:
    """GitHub's pages of past issues as a person sees them. Implements the port `PastIssueSource`."""

    def __init__(self, iterate_pages: Callable[[str], Iterator[list[PastIssue]]], redactor: SecretRedactor) -> None:
        self._iterate_pages, self._redactor = iterate_pages, redactor

    def iterate(self, words: str) -> Iterator[list[PastIssue]]:
        for page in self._iterate_pages(words):
            yield [self._redactor.redact_model("past issue", make_visible(issue)) for issue in page]


class RedactingResponseCache:
    def __init__(self, cache: ResponseCache, redactor: SecretRedactor) -> None:
        self._cache, self._redact = cache, redactor.redactor_for("cached replies")

    def get(self, key: str) -> str | None:
        return self._cache.get(key)

    def put(self, key: str, answer: str) -> None:
        self._cache.put(key, self._redact(answer))


class RedactingTelemetry:
    def __init__(self, telemetry: Telemetry, redactor: SecretRedactor) -> None:
        self._telemetry, self._redactor = telemetry, redactor

    def export(self, report: RunReport) -> None:
        self._telemetry.export(self._redactor.redact_model("telemetry", report))


class RedactingTools:
    def __init__(self, tools: Toolset, redactor: SecretRedactor) -> None:
        self._tools = tools
        self._redact_query = redactor.redactor_for("tool's query")
        self._redact_answer = redactor.redactor_for("tool's answer")

    @property
    def tools(self) -> Sequence["BaseTool"]:
        return self._tools.tools

    async def run(self, message: "AIMessage") -> list["ToolMessage"]:
        calls = {name: self._redact_query(getattr(message, name)) for name in ("tool_calls", "invalid_tool_calls")}
        return [self._redact(answer) for answer in await self._tools.run(message.model_copy(update=calls))]

    def _redact(self, answer: "ToolMessage") -> "ToolMessage":
        return answer.model_copy(update={"content": self._redact_answer(answer.content)})
