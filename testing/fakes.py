"""Strict fakes of what acts in a run: calls that are not prepared fail, and calls are recorded."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, tool

from testing import factories
from triage.agents.services import Services
from triage.agents.tool_runner import ToolRunner
from triage.base.errors import NoSuchIssue, NotIndexed
from triage.base.progress import current_step
from triage.domain.code import (
    CodeHistory,
    ExecutedCode,
    FileChange,
    History,
    Hit,
    IndexFacts,
    LineMatch,
    LineMatches,
    Passage,
    Place,
    RegressionWindow,
    SearchQuery,
    Section,
    Span,
)
from triage.domain.effect import AnnotationLevel, Policy, Reaction, Suggestion, SuggestionOptions
from triage.domain.issue import Issue, IssueComment, IssueFacts, ParsedIssue, Repository
from triage.domain.past_issues import LearnedFromLabels, PastIssue, SimilarIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.domain.run import Limits, ModelCall, Outcome, RunIdentity, StepRecord, Tier, ToolExecution, Usage
from triage.find.codebase import Codebase
from triage.find.files.project_files import ProjectFiles
from triage.outside.github.issue_tracker import IssueTracker
from triage.outside.model.chat_model import ChatModel
from triage.run.job_context import JobContext


def _prepare(fake: object, prepared: Mapping[str, Any]) -> None:
    for name, value in prepared.items():
        assert hasattr(type(fake), name), f"{type(fake).__name__} has no {name}"
        setattr(fake, name, value)


NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeRetriever(BaseRetriever):
    """Answers every query with the same documents."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.documents


class FakeCodebase(Codebase):
    """A repository of text files. Every file that shares a word with the query is a hit, in the given order."""

    project: ProjectFiles = ProjectFiles()
    on_index: Callable[[], None] = staticmethod(lambda: None)
    notes: Sequence[str] = ()
    partial: bool = False
    changes: Sequence[FileChange] = ()
    best_place: Place | None = None
    history: CodeHistory = CodeHistory()
    commits: Mapping[str, str] = MappingProxyType({})
    similar: Sequence[SimilarIssue] = ()
    learned: LearnedFromLabels = LearnedFromLabels()
    repository: str = "acme/ledger"

    def __init__(self, files: Mapping[str, str] | None = None, **prepared: Any) -> None:
        self.files = files or {}
        self.queries: list[SearchQuery] = []
        self.past_issues: list[PastIssue] = []
        self.executed: list[ExecutedCode | None] = []
        self.compared_with: list[PastIssue] = []
        _prepare(self, prepared)

    @property
    def commit(self) -> str | None:
        return COMMIT

    def index(self, executed: ExecutedCode | None = None, only_paths: Sequence[str] = ()) -> IndexFacts:
        self.executed.append(executed)
        self.on_index()
        return IndexFacts(
            commit=COMMIT,
            files=len(self.files),
            passages=len(self.files),
            vectors=len(self.files),
            notes=list(self.notes),
            partial=self.partial,
            seconds=0.1,
        )

    def find_places(self, parsed: ParsedIssue) -> list[Place]:
        return [self.best_place] if self.best_place else []

    def add_past_issues(self, issues: Sequence[PastIssue]) -> None:
        self.past_issues += issues

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        self.queries.append(query)
        words = {word.strip("`.,:()").lower() for word in f"{query.parsed.text} {' '.join(query.keywords)}".split()}
        found = [path for path, text in self.files.items() if words & set(text.lower().replace("(", " ").split())]
        return [self._hit(path, rank) for rank, path in enumerate(found[:limit])]

    def _hit(self, path: str, rank: int) -> Hit:
        text = self.files[path]
        span = Span(path=path, start=1, end=max(1, len(text.splitlines())))
        return Hit(
            path=path,
            score=round(1.0 / (rank + 1), 2),
            probability=round(0.7 / 4**rank, 3),
            passages=[Passage(span=span, text=text, symbol=_symbol(text))],
            reasons=[],
        )

    def find_documentation(self, parsed: ParsedIssue, limit: int) -> list[Section]:
        pages = {path: text.splitlines() for path, text in self.files.items() if path.endswith(".md")}
        spans = (Span(path=path, start=1, end=len(lines)) for path, lines in pages.items() if lines)
        return [Section(span=span, heading=pages[span.path][0].strip("# ")) for span in spans][:limit]

    def get_retriever(self, repository: str, chars: int, keywords: Sequence[str] = ()) -> BaseRetriever:
        if not self.files:
            raise NotIndexed(repository)
        return FakeRetriever(
            documents=[
                Document(page_content=text, metadata={"path": path, "start": 1, "end": len(text.splitlines())})
                for path, text in self.files.items()
            ]
        )

    def read_lines(self, path: str) -> list[str] | None:
        text = self.files.get(path)
        return None if text is None else text.splitlines()

    def list_paths(self) -> Sequence[str]:
        return list(self.files)

    def resolve_path(self, path: str) -> str | None:
        found = [file for file in self.files if f"/{path}".endswith(f"/{file}")]
        return found[0] if len(found) == 1 else None

    def find_definitions(self, name: str) -> list[Passage]:
        found = [self._hit(path, 0).passages[0] for path in self.files]
        return [passage for passage in found if passage.symbol == name]

    def find_text(self, text: str, limit: int) -> LineMatches:
        found = [
            LineMatch(path=path, line=number, text=line)
            for path, lines in self.files.items()
            for number, line in enumerate(lines.splitlines(), 1)
            if text and text in line
        ]
        return LineMatches(lines=found[:limit], total=len(found), files=len({one.path for one in found}))

    def find_regression_window(self, parsed: ParsedIssue, facts: IssueFacts) -> RegressionWindow | None:
        return None

    def show_commit(self, commit: str, path: str = "") -> str:
        return self.commits.get(commit, "")

    def look_up_history(
        self, parsed: ParsedIssue, facts: IssueFacts, paths: Sequence[str], lines: Span | None, line: int | None = None
    ) -> CodeHistory:
        return self.history if paths else CodeHistory()

    def read_history(self, path: str, limit: int, text: str = "") -> History:
        changes = [] if text or path not in self.files else list(self.changes)
        return History(changes=changes[:limit])

    def find_similar_issues(
        self, issue: Issue, parsed: ParsedIssue, past: Sequence[PastIssue], limit: int
    ) -> list[SimilarIssue]:
        assert parsed.title == issue.title.strip()
        self.compared_with = list(past)
        known = {one.number for one in past}
        return [one for one in self.similar if one.number in known][:limit]

    def learn_from_labels(self, parsed: ParsedIssue, past: Sequence[PastIssue]) -> LearnedFromLabels:
        assert parsed.title
        return self.learned if past else LearnedFromLabels()


def _symbol(text: str) -> str | None:
    head = next((line for line in text.splitlines() if line.startswith(("def ", "class "))), "")
    return head.split()[1].partition("(")[0].strip(":") if head else None


class FakeModel(ChatModel):
    """Answers by schema name (`InvestigatorFinding`, …), or `text`, `json`, `tools`.

    A prepared answer is a value, an exception to raise, a list of these, one per call, or a function of the prompt. A
    call without a prepared answer fails the test.
    """

    def __init__(self, answers: Mapping[str, Any], cost: Usage | None = None) -> None:
        self.answers = {name: list(a) if isinstance(a, list) else a for name, a in answers.items()}
        self.cost = cost or Usage(input_tokens=100, output_tokens=20, calls=1, usd=0.001)
        self.asked: list[tuple[str, Any]] = []
        self.spent = Usage()
        """Before the first call."""
        self._calls: list[ModelCall] = []

    def _runnable(self, name: str) -> Runnable[Any, Any]:
        async def reply(prompt: Any) -> Any:
            self.asked.append((name, prompt))
            assert name in self.answers, f"nobody prepared an answer for {name}"
            prepared = self.answers[name]
            answer = prepared.pop(0) if isinstance(prepared, list) else prepared
            if isinstance(answer, BaseException):
                raise answer
            call = ModelCall(
                model="fake", mode="json_schema", started_at=NOW, ms=0, usage=self.cost, outcome=Outcome.SUCCESS
            )
            self._calls.append(call)
            if step := current_step.get():
                step.calls.append(call)
            result = answer(prompt) if callable(answer) else answer
            return await result if hasattr(result, "__await__") else result

        return RunnableLambda(reply)

    def structured_output(self, answer: Any, tier: Tier, max_tokens: int) -> Runnable[Any, Any]:
        return self._runnable(answer.__name__)

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        return self._runnable("tools")

    def tools_or_answer(
        self, tools: Sequence[BaseTool], answer: Any, tier: Tier, max_tokens: int
    ) -> Runnable[Any, Any]:
        return self._runnable("tools")

    @property
    def usage(self) -> Usage:
        return sum((call.usage for call in self._calls), self.spent)


@tool
def web_search(query: str) -> str:
    """Search the web."""
    raise AssertionError("the fake bench answers, not the tool")


@dataclass
class FakeToolset(ToolRunner):
    """Returns the same content for every call."""

    content: str = '{"results": []}'
    name: str = "web_search"
    ran: list[AIMessage] = field(default_factory=list)

    @property
    def tools(self) -> Sequence[BaseTool]:
        return [web_search.model_copy(update={"name": self.name})]

    async def run(self, message: AIMessage) -> list[ToolMessage]:
        self.ran.append(message)
        asked = [*message.tool_calls, *message.invalid_tool_calls]
        return [ToolMessage(self.content, tool_call_id=call["id"] or "") for call in asked]


class FakeGitHub(IssueTracker):
    """Issues in memory. `errors` maps a method's name to the error that it raises; `recent_issues` is the day's issues."""

    existing_labels: Sequence[str] = ("bug", "enhancement")
    suggestion_options: SuggestionOptions | None = None
    """None: this server has no suggestions."""
    recent_issues: Sequence[int] = ()

    def __init__(self, issues: dict[int, Issue] | None = None, **prepared: Any) -> None:
        self.issues = issues or {}
        self.errors: dict[str, Exception] = prepared.pop("errors", {})
        self.roles: dict[str, str] = prepared.pop("roles", {})
        self.posted: list[tuple[int, str]] = []
        self.edited: list[tuple[int, str]] = []
        self.labelled: list[tuple[int, list[str]]] = []
        self.suggested: list[tuple[int, Suggestion]] = []
        self.removed: list[tuple[int, int]] = []
        self.reactions: list[tuple[int, Reaction]] = []
        """Comment and reaction, each pair once."""
        _prepare(self, prepared)

    def _raise_prepared_error(self, method: str) -> None:
        if method in self.errors:
            raise self.errors[method]

    def fetch_issue(self, number: int, posted: int | None = None) -> Issue:
        self._raise_prepared_error("fetch_issue")
        if number not in self.issues:
            raise NoSuchIssue(f"Issue {number} does not exist")
        gone = {comment for _, comment in self.removed}
        mine = [
            IssueComment(author="github-actions[bot]", body=body, ours=True, by_bot=True, comment_id=1000 + place)
            for place, (where, body) in enumerate(self.posted, 1)
            if where == number
        ]
        thread = [said for said in [*self.issues[number].thread, *mine] if said.comment_id not in gone]
        return self.issues[number].model_copy(update={"thread": thread})

    def list_recent_issues(self, limit: int) -> list[int]:
        self._raise_prepared_error("list_recent_issues")
        return list(self.recent_issues)[: limit + 1]

    def list_labels(self) -> list[str]:
        self._raise_prepared_error("list_labels")
        return list(self.existing_labels)

    def fetch_role(self, login: str) -> str:
        self._raise_prepared_error("fetch_role")
        return self.roles.get(login, "none")

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        self._raise_prepared_error("post_comment")
        self.posted.append((number, body))
        return 1000 + len(
            self.posted
        ), f"https://github.test/o/r/issues/{number}#issuecomment-{1000 + len(self.posted)}"

    def edit_comment(self, comment_id: int, body: str) -> str:
        self._raise_prepared_error("edit_comment")
        self.edited.append((comment_id, body))
        return f"https://github.test/o/r/issues/7#issuecomment-{comment_id}"

    def delete_comment(self, number: int, comment_id: int) -> None:
        self._raise_prepared_error("delete_comment")
        self.removed.append((number, comment_id))

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        self._raise_prepared_error("add_labels")
        self.labelled.append((number, list(labels)))

    def fetch_suggestion_options(
        self, number: int, labels: Sequence[str], original: int = 0
    ) -> SuggestionOptions | None:
        self._raise_prepared_error("fetch_suggestion_options")
        return self.suggestion_options

    def suggest(self, number: int, suggestions: Sequence[Suggestion]) -> None:
        self._raise_prepared_error("suggest")
        self.suggested += [(number, one) for one in suggestions]

    def react(self, comment_id: int, reaction: Reaction) -> None:
        if (comment_id, reaction) not in self.reactions:
            self.reactions.append((comment_id, reaction))


@dataclass
class FakeOutput:
    """Records what it is given."""

    summaries: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    """Of the last job. What is not set is empty, as for later steps."""
    annotations: list[tuple[AnnotationLevel, str]] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    report_path: str = ".triage/report.json"

    def write_summary(self, markdown: str) -> None:
        self.summaries.append(markdown)

    def write_outputs(self, values: Mapping[str, str]) -> None:
        self.values = defaultdict(str, values)

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        self.annotations.append((level, message))

    def write_report(self, json_text: str) -> str:
        self.reports.append(json_text)
        return self.report_path


@dataclass
class FakeProgressLog:
    """Records its lines."""

    lines: list[str] = field(default_factory=list)

    def log_start(self, what: str) -> None:
        self.lines.append(f"> {what}")

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        name = record.step if isinstance(record, StepRecord) else record.tool
        self.lines.append(f"< {name} {record.outcome}")

    def info(self, text: str) -> None:
        self.lines.append(text)

    def detail(self, text: str) -> None:
        self.lines.append(text)


@dataclass
class FakeTelemetry:
    """Keeps the reports, after what `exporting` does."""

    on_export: Callable[[], None] = lambda: None
    reports: list[RunReport] = field(default_factory=list)

    def export(self, report: RunReport) -> None:
        self.on_export()
        self.reports.append(report)


@dataclass
class FakeClock:
    """A clock that the test sets."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def fake_job(github: IssueTracker, services: Services | None = None, **changes: Any) -> JobContext:
    """Returns what a job acts through, with changes. It opens the same services for every engine."""
    opened = services or fake_services(codebase=FakeCodebase(factories.FILES))
    given: dict[str, Any] = {
        "output": FakeOutput(),
        "progress": FakeProgressLog(),
        "policy": Policy(comment="always"),
        "repository": Repository(slug="octo/shop"),
        "open_services": lambda **_: opened,
        "now": lambda: datetime.now(UTC),
        "cancelled": asyncio.Event(),
        "event": None,
        "seconds_left": lambda: math.inf,
        "github_seconds_left": lambda: math.inf,
        "config": ProjectConfig(),
        "max_model_runs": None,
    }
    return JobContext(github, **given | changes)


def fake_services(**changes: Any) -> Services:
    """Returns services with the rules engine and an empty repository, with changes."""
    given: dict[str, Any] = {
        "codebase": FakeCodebase(),
        "progress": FakeProgressLog(),
        "limits": Limits(),
        "engine": "model" if changes.get("model") else "rules",
        "identity": RunIdentity(request_id="run-1", started_at=NOW, triage_version="0.1.0"),
        "now": lambda: NOW,
        "clock": FakeClock(),
    }
    return Services(**given | changes)
