"""The last thing that everything passes on its way out, and what comes in on its way to being kept.

Our own secrets are masked there, wherever somebody has put them. The run goes on, and says once where that happened.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel
from selectolax.lexbor import LexborHTMLParser

from triage.domain.code import Span
from triage.domain.issue import Issue
from triage.domain.report import RunReport
from triage.ports import AnnotationLevel, GitHub, ResponseCache, Runner, Telemetry, Toolset
from triage.publish.hidden_state import parse_state
from triage.secrets.matcher import Redact, SecretMatcher
from triage.text.clean_text import markdown_to_html
from triage.text.inert_markdown import find_active_content, format_code_block

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.tools import BaseTool

M = TypeVar("M", bound=BaseModel)


class SecretRedactor:
    """Masks our own secrets in everything that leaves, and remembers where there were any."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = SecretMatcher(secrets)
        self._places: dict[str, None] = {}

    @property
    def warning(self) -> str:
        """That and where secrets were masked, without a word of them; empty when none were."""
        if not self._places:
            return ""
        places = ", ".join(self._places)
        return (
            f"A secret of this job, or a part of one, stood in what was read or about to be written ({places}) and was "
            "masked. Somebody has written it down where others read it: replace that secret."
        )

    def for_location(self, place: str) -> Redact:
        """What masks at one place; `place` names it in the warning, in our words."""

        def screened(tree: Any) -> Any:
            masked = self._secrets.redact(tree) if isinstance(tree, str) else self._secrets.redact_tree(tree)
            if masked != tree:
                self._places[place] = None
            return masked

        return screened

    def has_match(self, text: str) -> bool:
        """Whether a secret stands in the text; nobody is told."""
        return self._secrets.has_match(text)

    def redact_model(self, place: str, value: M) -> M:
        """A value with all its texts masked."""
        told = value.model_dump(mode="json")
        masked = self.for_location(place)(told)
        return value if masked == told else type(value).model_validate(masked)

    def redact_markdown(self, place: str, markdown: str) -> str:
        """Markdown of ours, which does nothing afterwards that it did not do before: else it goes out as its source.

        Our comment's own first line stays: it holds hashes and numbers.
        """
        first, line_end, rest = markdown.partition("\n")
        head = first + line_end if parse_state(markdown) else ""
        body = rest if head else markdown
        masked = self.for_location(place)(body)
        if masked == body:
            return markdown
        before = set(find_active_content(body, _link_targets(body)))
        return head + (
            masked
            if set(find_active_content(masked, _link_targets(body))) <= before
            else format_code_block(masked) + "\n"
        )


def _link_targets(markdown: str) -> list[str]:
    root = LexborHTMLParser(f"<body>{markdown_to_html(markdown, raw_html=False)}").root
    return [] if root is None else [link.attributes.get("href") or "" for link in root.css("a")]


class RedactingGitHub:
    """Implements `triage.ports.GitHub` before another: what is read and what is written passes the way out."""

    def __init__(self, github: GitHub, way_out: SecretRedactor) -> None:
        self._github, self._way_out = github, way_out

    def fetch_issue(self, number: int) -> Issue:
        """As the port."""
        return self._way_out.redact_model("issue", self._github.fetch_issue(number))

    def refetch_issue(self, number: int, posted: int | None = None) -> Issue:
        """As the port."""
        return self._way_out.redact_model("issue", self._github.refetch_issue(number, posted))

    def list_recent_issues(self, most: int) -> list[int]:
        """As the port."""
        return self._github.list_recent_issues(most)

    def list_labels(self) -> list[str]:
        """As the port; a label with a secret in its name is none."""
        return [label for label in self._github.list_labels() if not self._way_out.has_match(label)]

    def fetch_role(self, login: str) -> str:
        """As the port."""
        return self._github.fetch_role(login)

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        """As the port."""
        return self._github.post_comment(number, self._way_out.redact_markdown("comment", body))

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        """As the port."""
        return self._github.edit_comment(number, comment_id, self._way_out.redact_markdown("comment", body))

    def delete_comment(self, number: int, comment_id: int) -> None:
        """As the port."""
        self._github.delete_comment(number, comment_id)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """As the port; a label with a secret in its name is left out."""
        self._github.add_labels(number, [label for label in labels if not self._way_out.has_match(label)])


class RedactingRunner:
    """Implements `triage.ports.Runner` before another."""

    def __init__(self, runner: Runner, way_out: SecretRedactor) -> None:
        self._runner, self._way_out = runner, way_out
        self.has_written_summary = False
        """The job's page was given something."""

    def write_summary(self, markdown: str) -> None:
        """As the port."""
        self.has_written_summary = True
        self._runner.write_summary(self._way_out.redact_markdown("summary", markdown))

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """As the port."""
        screened = self._way_out.for_location("outputs")
        self._runner.write_outputs({name: screened(value) for name, value in values.items()})

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """As the port; nothing is pointed at in a file whose path holds a secret."""
        where = at if at is None or not self._way_out.has_match(at.path) else None
        self._runner.annotate(level, self._way_out.for_location("annotations")(message), where)

    def write_report(self, json_text: str) -> str:
        """As the port."""
        return self._runner.write_report(self._way_out.for_location("report")(json_text))


class RedactingResponseCache:
    """Implements `triage.ports.Replies` before another."""

    def __init__(self, replies: ResponseCache, way_out: SecretRedactor) -> None:
        self._replies, self._screened = replies, way_out.for_location("kept answers")

    def get(self, key: str) -> str | None:
        """As the port."""
        return self._replies.get(key)

    def put(self, key: str, answer: str) -> None:
        """As the port."""
        self._replies.put(key, self._screened(answer))


class RedactingTelemetry:
    """Implements `triage.ports.Telemetry` before another."""

    def __init__(self, telemetry: Telemetry, way_out: SecretRedactor) -> None:
        self._telemetry, self._way_out = telemetry, way_out

    def export(self, report: RunReport) -> None:
        """As the port."""
        self._telemetry.export(self._way_out.redact_model("telemetry", report))


class RedactingTools:
    """Implements `triage.ports.Tools` before others: what is asked of them, and what they answer."""

    def __init__(self, tools: Toolset, way_out: SecretRedactor) -> None:
        self._tools, self._asked, self._answered = (
            tools,
            way_out.for_location("tool's query"),
            way_out.for_location("tool's answer"),
        )

    @property
    def tools(self) -> Sequence["BaseTool"]:
        """As the port."""
        return self._tools.tools

    async def run(self, message: "AIMessage") -> list["ToolMessage"]:
        """As the port."""
        calls = {name: self._asked(getattr(message, name)) for name in ("tool_calls", "invalid_tool_calls")}
        answers = await self._tools.run(message.model_copy(update=calls))
        return [one.model_copy(update={"content": self._answered(one.content)}) for one in answers]
