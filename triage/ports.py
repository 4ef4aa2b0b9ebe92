"""What the core needs from outside, as protocols: the rooms of the core must not import the clients.

Each has a strict fake in `testing/fakes.py`.

LangChain is imported for type checkers only: importing it takes a third of a second, which a skipped event can save.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

from triage.domain.code import (
    BestPlace,
    CodeHistory,
    ExecutedCode,
    History,
    Hit,
    IndexFacts,
    LineMatches,
    Passage,
    RegressionWindow,
    SearchQuery,
    Section,
    Span,
)
from triage.domain.effect import Reaction, Suggestion, SuggestionOptions
from triage.domain.issue import Attachment, Issue, ParsedIssue, ReportFacts
from triage.domain.past_issues import LearnedFromLabels, PastIssue, SimilarIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.proposal import CommentRecord
from triage.domain.report import RunReport
from triage.domain.run import Engine, Limits, ModelCall, RunIdentity, StepRecord, ToolExecution, Usage
from triage.domain.skill import Skills

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

    @property
    def repository(self) -> str:
        """`owner/name`, or the folder's name at a terminal."""

    @property
    def commit(self) -> str | None:
        """Full SHA of the indexed commit; none before `index`, and for a folder without git."""

    def index(self, executed: ExecutedCode | None = None, named: Sequence[str] = ()) -> IndexFacts:
        """Read, split, embed and store the commit. Slow: call it in a thread. Unreadable files are left out.

        The files that the issue's example `executed` are ranked as likelier. With `named`, only files with the names of
        these paths are read, and nothing of the past: that takes a moment. Called again, it forgets what
        `add_past_issues` has added.
        """

    def add_past_issues(self, issues: Sequence[PastIssue]) -> None:
        """Let the ranking use the fixes of other, past issues. Call it once, after `index`."""

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        """Files ranked for the query, best first. Empty before `index` and for an empty repository."""

    def find_places(self, parsed: ParsedIssue) -> list[BestPlace]:
        """Where the issue leads: a place by a trace, a message or a name, and files that are sure enough together."""

    def find_documentation(self, parsed: ParsedIssue, limit: int) -> list[Section]:
        """Sections of the documentation that may answer the issue, likeliest first; empty before `index`."""

    def get_retriever(self, repository: str, chars: int) -> BaseRetriever:
        """Passages of at most `chars` characters for a prompt. Raises NotIndexed if this name was not indexed."""

    def read_lines(self, path: str) -> list[str] | None:
        """Lines of an indexed file without line ends; none if the commit has no such text file."""

    def list_paths(self) -> Sequence[str]:
        """All indexed paths, also of files whose text is not indexed."""

    def resolve_path(self, path: str) -> str | None:
        """The indexed file for a path from elsewhere, such as a stack frame's path on the reporter's machine."""

    def find_definitions(self, name: str) -> list[Passage]:
        """Definitions of a function, a class or a qualified name such as `Store.save`; at most 50, likely ones first.

        If no `Store` defines `save`, all definitions of `save`.
        """

    def find_text(self, text: str, limit: int) -> LineMatches:
        """Lines with this text, as it is written or else in any case; of several lines of text, the longest counts.

        Reads all indexed texts, which takes up to seconds: call it in a thread.
        """

    def read_history(self, path: str, limit: int, text: str = "") -> History:
        """The newest commits that changed an indexed file; with `text`, those that added or removed it there.

        Empty without git. Takes seconds: call it in a thread.
        """

    def find_similar_issues(
        self, issue: Issue, parsed: ParsedIssue, past: Sequence[PastIssue], limit: int
    ) -> list[SimilarIssue]:
        """Past issues that report the same, likeliest first; works before `index` as well.

        Takes up to a second for 500 issues: call it in a thread.
        """

    def learn_from_labels(self, parsed: ParsedIssue, past: Sequence[PastIssue]) -> LearnedFromLabels:
        """What similar issues carry; empty with fewer than 50 labelled ones. Takes up to a second, as above."""

    def find_owners(self, path: str) -> list[str]:
        """Owners of the path by CODEOWNERS, without `@`."""

    def find_regression_window(self, parsed: ParsedIssue, facts: ReportFacts) -> RegressionWindow | None:
        """The commits between the versions that the report names; searches then prefer the files that they changed.

        None if it names none, or the clone lacks them. Takes up to ten seconds: call it in a thread.
        """

    def show_commit(self, commit: str, path: str = "") -> str:
        """Message and diff of a commit that the indexed one contains, by at least seven hexadecimal digits.

        With `path`, the diff of that file alone. Empty if there is none. Takes up to ten seconds: call it in a thread.
        """

    def look_up_history(
        self, parsed: ParsedIssue, facts: ReportFacts, paths: Sequence[str], lines: Span | None
    ) -> CodeHistory:
        """Owners and later changes of the likeliest files, and of the lines that fail; the fix of the issue.

        Takes seconds with a long history: call it in a thread.
        """

    def find_security_policy(self) -> str | None:
        """Path of SECURITY.md where GitHub looks for it; None without one."""

    def read_issue_forms(self) -> list[str]:
        """Text of each issue template and issue form, from the places that GitHub reads."""

    def read_label_rules(self) -> str:
        """Text of the file in which the project says when a label fits; empty without it, and before `index`."""

    def list_dependencies(self) -> list[str]:
        """Names of the packages that the project's manifests declare, at most 500; empty before `index`."""

    def read_skills(self) -> Skills:
        """The project's own guidance for triage, from `.github/triage/skills`; empty before `index`."""


@dataclass
class MeasuredUsage:
    """Usage inside one block."""

    deadline: float
    """When the block must end, in seconds of the run's monotonic clock."""
    calls: list[ModelCall] = field(default_factory=list)
    """Every request, also those that failed."""

    @property
    def usage(self) -> Usage:
        """Tokens and US dollars of the calls that ended."""
        return sum((call.usage for call in self.calls), Usage())

    @property
    def models(self) -> list[str]:
        """Names of the models that answered, in order, without repeats."""
        return list(dict.fromkeys(call.model for call in self.calls if call.usage.output_tokens))


class Model(Protocol):
    """A language model with budget, retry and fallback. Every runnable raises ModelUnavailable or BudgetExceeded."""

    def structured_output(self, answer: type[A], tier: Tier, max_tokens: int) -> Runnable[Any, A]:
        """Prompt value or messages in, validated answer out."""

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        """Prompt value or messages in, a message that may contain tool calls out."""

    def tools_or_answer(
        self, tools: Sequence[BaseTool], answer: type[A], tier: Tier, max_tokens: int
    ) -> Runnable[Any, AIMessage | A]:
        """Prompt value or messages in; a message that may contain tool calls out, or a validated answer."""

    def measure_usage(self, seconds: float) -> AbstractContextManager[MeasuredUsage]:
        """Usage of all calls inside the block and in tasks that it starts; `seconds` limits the block."""

    def with_fast_model(self) -> Model:
        """The same endpoint and budget, with the fast model for every call."""

    @property
    def usage(self) -> Usage:
        """What this run has paid for so far."""


class Toolset(Protocol):
    """Tools that an agent may call."""

    @property
    def tools(self) -> Sequence[BaseTool]:
        """The tools, as they are offered to a model."""

    async def run(self, message: AIMessage) -> list[ToolMessage]:
        """Run the message's tool calls, and answer each of them under its id.

        The answer of an invalid call, a failure or a timeout is an error text of ours.
        """


ISSUE_SEARCH = "github_search"
"""Name of the web search that needs a package in which the error is raised."""


class GitHub(Protocol):
    """The issue tracker.

    Every method raises SetupError or GitHubUnavailable; a write also raises CannotPublish.
    """

    def fetch_issue(self, number: int, posted: int | None = None) -> Issue:
        """The issue as it is now, with its whole thread.

        `posted` is the id of a comment that was just written: a list without it is outdated, and is requested again.
        """

    def list_recent_issues(self, limit: int) -> list[int]:
        """Numbers of issues opened in the last 24 hours, newest first: all up to `limit`, or more."""

    def list_labels(self) -> list[str]:
        """Names of the repository's labels."""

    def fetch_role(self, login: str) -> str:
        """The current `admin`, `maintain`, `write`, `triage`, `read` or `none`; `none` also if GitHub does not say.

        Raises GitHubUnavailable if it cannot be reached and says why.
        """

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        """Post a comment; its id and URL. Another run may post at the same time: see `publish.deduplicate`."""

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        """Replace a comment's text; its id and URL. Raises NoSuchComment if it was deleted."""

    def wait_to_look_again(self, number: int) -> bool:
        """Waits if it is unclear which comments this run has written, as long as time is left.

        Returns whether the comments must be read again: no after a clear write, and after some further looks.
        """

    def delete_comment(self, number: int, comment_id: int) -> None:
        """Delete a comment of ours, if an older one of ours exists. No other comment is ever deleted."""

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add existing labels."""

    def fetch_suggestion_options(
        self, number: int, labels: Sequence[str], original: int = 0
    ) -> SuggestionOptions | None:
        """What could be changed on the issue; none if GitHub does not say. Raises nothing.

        `original` is the number of the issue that this one may repeat, or 0.
        """

    def suggest(self, number: int, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """Suggest changes to an issue. Returns those that GitHub does not show afterwards.

        What is on the issue or suggested already is not suggested again.
        """

    def remove_label(self, number: int, label: str) -> None:
        """Take a label off an issue; nothing if the issue does not have it."""


class IssueApprovals(Protocol):
    """What an approval asks of GitHub. Raises as `GitHub`."""

    def read_comment_record(self, comment_id: int) -> CommentRecord | None:
        """Our comment, by one question about its text and all its edits; None if it is gone or not ours."""

    def react(self, comment_id: int, reaction: Reaction) -> None:
        """Add a reaction to a comment. The same reaction twice is one."""


IteratePastIssues = Callable[[str], Iterator[list[PastIssue]]]
"""Yields pages of past issues; the same issue may come again, changed.

Takes the words of the new issue that a past one like it would have. Raises TriageError. Slow: call it in a thread.
"""


class Output(Protocol):
    """Where results go besides GitHub: the files and commands of the Actions runner, or a terminal."""

    def write_summary(self, markdown: str) -> None:
        """Add Markdown to the job summary."""

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Set the action's outputs."""

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """Annotate the job, and the lines of code if there are any, with one line of text."""

    def write_report(self, json_text: str) -> str:
        """Write the JSON report; its path for users, or empty if it is not written."""


class ProgressLog(Protocol):
    """Log lines while the run goes on. Never gets text from outside, except through `log_group`."""

    def log_start(self, what: str) -> None:
        """A step or a tool starts."""

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        """A step or a tool ended."""

    def info(self, text: str) -> None:
        """One line."""

    def detail(self, text: str) -> None:
        """One line that interests whoever follows every step."""

    def log_group(self, title: str, text: str) -> None:
        """A collapsed group with sanitized text."""

    def group(self, title: str) -> AbstractContextManager[None]:
        """Put the lines of the block into one group."""


@dataclass(frozen=True)
class Services:
    """Everything that acts in one run. The graph's context, never part of its state."""

    codebase: Codebase
    progress: ProgressLog
    limits: Limits
    engine: Engine
    identity: RunIdentity
    now: Callable[[], datetime]
    clock: Callable[[], float]
    """Monotonic time in seconds."""
    started: float = 0.0
    """Start of the run, by `clock`."""
    model: Model | None = None
    web_tools: Toolset | None = None
    """The web search, of one tool; none if it is off."""
    code_tools: Toolset | None = None
    """Tools of the codebase agent; none with the rules engine."""
    read_attachments: Callable[[Issue], list[Attachment]] | None = None
    """Reads what an issue links to on GitHub; raises nothing. None when it is off. Slow: call it in a thread."""
    past_issues: IteratePastIssues | None = None
    """None without a repository on GitHub, or when it is off."""
    config: ProjectConfig = field(default_factory=ProjectConfig)
    executed: ExecutedCode | None = None
    """What the issue's example executes, if a person says it; else our comment on the issue may remember it."""
    export_report: Callable[[RunReport], None] | None = None
    """Sends spans of a run that ended, within seconds; raises nothing. None without a collector."""

    def seconds_left(self) -> float:
        """Seconds until the run must end."""
        return self.limits.run_seconds - (self.clock() - self.started)

    def agent_seconds(self) -> float:
        """Seconds for an agent that starts now; the time of the writer is reserved."""
        return min(self.limits.agent_seconds, self.seconds_left() - self.limits.writer_seconds)
