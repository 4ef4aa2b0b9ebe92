"""What the core needs from outside. Each protocol has one real door and one strict fake in `testing/fakes.py`.

LangChain is named here and not imported: it costs a third of a second, and an event that is skipped needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

from triage.domain.code import History, Hit, IndexFacts, Passage, SearchQuery, Span
from triage.domain.issue import Issue
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.domain.run import Engine, Limits, ModelCall, RunFacts, StepRecord, ToolExecution, Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

A = TypeVar("A", bound=BaseModel)
Tier = Literal["main", "fast"]
AnnotationLevel = Literal["error", "warning", "notice"]


class Codebase(Protocol):
    """The checked-out repository."""

    def resolve_commit(self) -> str | None:
        """Full object id of what `index` would read; none without git. Quick, and possible before `index`."""

    def index(self) -> IndexFacts:
        """Read, cut, embed and store the commit. Slow: call it in a thread. Raises nothing for odd files."""

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        """Files ranked for the query, best first. Empty before `index` and for an empty repository."""

    def get_retriever(self, repository: str) -> BaseRetriever:
        """Passages for a prompt. Raises NoSuchCollection when nothing was indexed under this name."""

    def read_lines(self, path: str) -> list[str] | None:
        """Lines of an indexed file without their ends; none when the commit has no such text file."""

    def list_paths(self) -> Sequence[str]:
        """Every indexed path."""

    def resolve_path(self, written: str) -> str | None:
        """The indexed file that a path from elsewhere means, such as a frame's on the reporter's machine."""

    def find_definitions(self, name: str) -> list[Passage]:
        """Where something of this name is defined: a function, a class, `Store.save`. Likely sources first, 50 at most.

        When nothing belongs to the owner that the name gives (`Store.`), everything of its last part.
        """

    def read_history(self, path: str, limit: int) -> History:
        """The newest commits that changed an indexed file. Empty without git. Takes seconds: call it in a thread."""

    def find_owners(self, path: str) -> list[str]:
        """Who CODEOWNERS names for the path, without `@`; empty when nobody."""

    def read_issue_forms(self) -> list[str]:
        """Text of each file under `.github/ISSUE_TEMPLATE`."""


class Model(Protocol):
    """A language model under budget, retry and fallback. Every runnable raises ModelUnavailable or BudgetSpent."""

    def structured_output(self, answer: type[A], tier: Tier, max_tokens: int) -> Runnable[Any, A]:
        """Prompt value or messages in, validated answer out."""

    def text_output(self, tier: Tier, max_tokens: int) -> Runnable[Any, str]:
        """Prompt value or messages in, plain words out."""

    def json_output(self, tier: Tier, max_tokens: int) -> Runnable[Any, dict[str, Any]]:
        """Prompt value or messages in, a JSON object of no fixed shape out."""

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        """Prompt value or messages in, a message that may ask for tools out."""

    def measure_usage(self, seconds: float) -> AbstractContextManager[MeasuredUsage]:
        """Usage of all calls made inside the block, which may take so many seconds, also in tasks that it starts."""

    def with_fast_model(self) -> Model:
        """The same purse and endpoint, every call made of the fast model."""

    def resume(self, spent: Usage) -> None:
        """Count what an interrupted run of the same issue had spent."""

    @property
    def usage(self) -> Usage:
        """Everything spent in this run, and in the interrupted one that it goes on with."""


class MeasuredUsage(Protocol):
    """What was spent inside one block."""

    @property
    def usage(self) -> Usage:
        """Tokens and dollars of the calls that ended."""

    @property
    def models(self) -> list[str]:
        """Names of the models that answered, in order, without repeats."""

    @property
    def calls(self) -> list[ModelCall]:
        """Every request, also those that failed."""


class Toolset(Protocol):
    """Tools that an agent may ask for, and what runs them."""

    @property
    def tools(self) -> Sequence[BaseTool]:
        """What is offered to a model."""

    async def run(self, message: AIMessage) -> list[ToolMessage]:
        """Carry out the calls that the message asks for, readable or not. Each gets an answer under its id.

        A tool that fails or takes too long answers with its error, in our words.
        """


class GitHub(Protocol):
    """The issue tracker.

    Raises the SetupErrors, GitHubUnavailable for reads and writes, and CannotPublish for a write that was not taken.
    """

    def fetch_issue(self, number: int) -> Issue:
        """The issue with its whole thread, all pages."""

    def refetch_issue(self, number: int, posted: int | None = None) -> Issue:
        """The issue as it is now; of its thread what was written or edited since `issue` read it, and our own.

        `posted` is the id of a comment that was just written: a list without it is too old, and is asked for again.
        """

    def list_recent_issues(self, most: int) -> list[int]:
        """Numbers of issues opened in the last 24 hours by GitHub's clock, newest first; `most` + 1 of them at most."""

    def list_labels(self) -> list[str]:
        """Names of the repository's labels."""

    def fetch_role(self, login: str) -> str:
        """`admin`, `maintain`, `write`, `triage`, `read` or `none`, asked now; `none` when it cannot be told."""

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        """Write a comment; its id and URL. Others may be written at the same time: see `publish.one`."""

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        """Replace a comment's text; its id and URL. Raises NoSuchComment when it is gone."""

    def delete_comment(self, number: int, comment_id: int) -> None:
        """Delete a comment of ours when an older one of ours stands on the issue; any other stays."""

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add labels that exist; nothing is removed."""


class Runner(Protocol):
    """Where results go besides GitHub: the Actions runner's files and commands, or a terminal."""

    def write_summary(self, markdown: str) -> None:
        """Put Markdown on the job's page."""

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Hand values to later steps."""

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """Put one line beside the job, and beside the lines that it is about."""

    def write_report(self, json_text: str) -> str:
        """Write the JSON report; the path to tell others, or empty when there is no place for it."""


class ProgressLog(Protocol):
    """Live lines while the run goes on. Takes our own words and counts only."""

    def log_start(self, what: str) -> None:
        """A step or a tool starts."""

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        """It ended, and how."""

    def info(self, text: str) -> None:
        """One line of our own words."""

    def log_group(self, title: str, text: str) -> None:
        """A group with text that has passed the safety step."""

    def group(self, title: str) -> AbstractContextManager[None]:
        """Put the lines written inside the block into one group."""


class ResponseCache(Protocol):
    """Answers of models and searches that were paid for, kept for as long as a run may be taken up again.

    A store that cannot be read or written behaves like an empty one.
    """

    def get(self, key: str) -> str | None:
        """The answer under this key."""

    def put(self, key: str, answer: str) -> None:
        """Remember an answer, on disk when this returns."""


class Telemetry(Protocol):
    """Where spans and metrics of finished runs go."""

    def export(self, report: RunReport) -> None:
        """Send them. Takes seconds at most, and raises nothing."""


@dataclass(frozen=True)
class Services:
    """Everything that acts, bundled for one run. The graph's context, never its state."""

    codebase: Codebase
    progress: ProgressLog
    limits: Limits
    engine: Engine
    facts: RunFacts
    now: Callable[[], datetime]
    clock: Callable[[], float]
    """Monotonic seconds."""
    started: float = 0.0
    """When the run started, on that clock."""
    model: Model | None = None
    web_tools: Toolset | None = None
    """The web search; none when it is off."""
    code_tools: Toolset | None = None
    """What the codebase agent may look things up with; none by rules."""
    supervisor: Engine = "rules"
    """Who proposes the next agents."""
    config: ProjectConfig = field(default_factory=ProjectConfig)
    """The project's own settings."""
    checkpoints: str | None = None
    """File that the graph's state is kept in while it runs, so that an interrupted run can go on; none: nowhere."""
    fingerprint: str = ""
    """Digest of all settings that shape an answer: a run goes on only under the same."""
    telemetry: Telemetry | None = None

    def seconds_left(self) -> float:
        """Until the run's time is up."""
        return self.limits.run_seconds - (self.clock() - self.started)

    def agent_seconds(self) -> float:
        """What an agent that starts now may take, what the writer needs being kept for it."""
        return min(self.limits.agent_seconds, self.seconds_left() - self.limits.writer_seconds)
