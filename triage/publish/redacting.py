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
from triage.ports import GitHub, Level, Replies, Runner, Telemetry, Tools
from triage.publish.hidden_state import parse
from triage.secrets.matcher import OwnSecrets, Screened
from triage.text.clean_text import to_html
from triage.text.inert_markdown import fenced, live_effects

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.tools import BaseTool

M = TypeVar("M", bound=BaseModel)


class WayOut:
    """Masks our own secrets in everything that leaves, and remembers where there were any."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = OwnSecrets(secrets)
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

    def at(self, place: str) -> Screened:
        """What masks at one place; `place` names it in the warning, in our words."""

        def screened(tree: Any) -> Any:
            masked = self._secrets.masked(tree) if isinstance(tree, str) else self._secrets.masked_tree(tree)
            if masked != tree:
                self._places[place] = None
            return masked

        return screened

    def finds(self, text: str) -> bool:
        """Whether a secret stands in the text; nobody is told."""
        return self._secrets.found(text)

    def model(self, place: str, value: M) -> M:
        """A value with all its texts masked."""
        told = value.model_dump(mode="json")
        masked = self.at(place)(told)
        return value if masked == told else type(value).model_validate(masked)

    def page(self, place: str, markdown: str) -> str:
        """Markdown of ours, which does nothing afterwards that it did not do before: else it goes out as its source.

        Our comment's own first line stays: it holds hashes and numbers.
        """
        first, line_end, rest = markdown.partition("\n")
        head = first + line_end if parse(markdown) else ""
        body = rest if head else markdown
        masked = self.at(place)(body)
        if masked == body:
            return markdown
        before = set(live_effects(body, _links(body)))
        return head + (masked if set(live_effects(masked, _links(body))) <= before else fenced(masked) + "\n")


def _links(markdown: str) -> list[str]:
    root = LexborHTMLParser(f"<body>{to_html(markdown, raw_html=False)}").root
    return [] if root is None else [link.attributes.get("href") or "" for link in root.css("a")]


class ScreenedGitHub:
    """Implements `triage.ports.GitHub` before another: what is read and what is written passes the way out."""

    def __init__(self, github: GitHub, way_out: WayOut) -> None:
        self._github, self._way_out = github, way_out

    def issue(self, number: int) -> Issue:
        """As the port."""
        return self._way_out.model("issue", self._github.issue(number))

    def again(self, number: int, posted: int | None = None) -> Issue:
        """As the port."""
        return self._way_out.model("issue", self._github.again(number, posted))

    def opened_lately(self, most: int) -> list[int]:
        """As the port."""
        return self._github.opened_lately(most)

    def labels(self) -> list[str]:
        """As the port; a label with a secret in its name is none."""
        return [label for label in self._github.labels() if not self._way_out.finds(label)]

    def role(self, login: str) -> str:
        """As the port."""
        return self._github.role(login)

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        """As the port."""
        return self._github.post_comment(number, self._way_out.page("comment", body))

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        """As the port."""
        return self._github.edit_comment(number, comment_id, self._way_out.page("comment", body))

    def remove_comment(self, number: int, comment_id: int) -> None:
        """As the port."""
        self._github.remove_comment(number, comment_id)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """As the port; a label with a secret in its name is left out."""
        self._github.add_labels(number, [label for label in labels if not self._way_out.finds(label)])


class ScreenedRunner:
    """Implements `triage.ports.Runner` before another."""

    def __init__(self, runner: Runner, way_out: WayOut) -> None:
        self._runner, self._way_out = runner, way_out
        self.told = False
        """The job's page was given something."""

    def summary(self, markdown: str) -> None:
        """As the port."""
        self.told = True
        self._runner.summary(self._way_out.page("summary", markdown))

    def outputs(self, values: Mapping[str, str]) -> None:
        """As the port."""
        screened = self._way_out.at("outputs")
        self._runner.outputs({name: screened(value) for name, value in values.items()})

    def annotate(self, level: Level, message: str, at: Span | None = None) -> None:
        """As the port; nothing is pointed at in a file whose path holds a secret."""
        where = at if at is None or not self._way_out.finds(at.path) else None
        self._runner.annotate(level, self._way_out.at("annotations")(message), where)

    def report(self, json_text: str) -> str:
        """As the port."""
        return self._runner.report(self._way_out.at("report")(json_text))


class ScreenedReplies:
    """Implements `triage.ports.Replies` before another."""

    def __init__(self, replies: Replies, way_out: WayOut) -> None:
        self._replies, self._screened = replies, way_out.at("kept answers")

    def known(self, key: str) -> str | None:
        """As the port."""
        return self._replies.known(key)

    def keep(self, key: str, answer: str) -> None:
        """As the port."""
        self._replies.keep(key, self._screened(answer))


class ScreenedTelemetry:
    """Implements `triage.ports.Telemetry` before another."""

    def __init__(self, telemetry: Telemetry, way_out: WayOut) -> None:
        self._telemetry, self._way_out = telemetry, way_out

    def export(self, report: RunReport) -> None:
        """As the port."""
        self._telemetry.export(self._way_out.model("telemetry", report))


class ScreenedTools:
    """Implements `triage.ports.Tools` before others: what is asked of them, and what they answer."""

    def __init__(self, tools: Tools, way_out: WayOut) -> None:
        self._tools, self._asked, self._answered = tools, way_out.at("tool's query"), way_out.at("tool's answer")

    @property
    def tools(self) -> Sequence["BaseTool"]:
        """As the port."""
        return self._tools.tools

    async def run(self, message: "AIMessage") -> list["ToolMessage"]:
        """As the port."""
        calls = {name: self._asked(getattr(message, name)) for name in ("tool_calls", "invalid_tool_calls")}
        answers = await self._tools.run(message.model_copy(update=calls))
        return [one.model_copy(update={"content": self._answered(one.content)}) for one in answers]
