"""One strict fake for each port: what was not prepared fails, what was called can be read back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, tool

from triage.domain.code import Change, History, Hit, IndexFacts, Passage, SearchQuery, Span
from triage.domain.issue import Exchange, Issue
from triage.domain.report import RunReport
from triage.domain.run import Limits, ModelCall, RunFacts, StepRecord, ToolExecution, Usage
from triage.errors import NoSuchCollection, NoSuchIssue
from triage.ports import Level, Services, Tier

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeRetriever(BaseRetriever):
    """Answers every query with the same documents."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.documents


@dataclass
class FakeCodebase:
    """A repository of files given as text; every file that shares a word with the query is a hit, in given order."""

    files: Mapping[str, str] = field(default_factory=dict)
    owned_by: Sequence[str] = ()
    forms: Sequence[str] = ()
    indexing: Callable[[], None] = lambda: None
    notes: Sequence[str] = ()
    partial: bool = False
    changes: Sequence[Change] = ()
    queries: list[SearchQuery] = field(default_factory=list)

    def commit(self) -> str | None:
        return COMMIT

    def index(self) -> IndexFacts:
        self.indexing()
        return IndexFacts(
            commit=COMMIT,
            files=len(self.files),
            passages=len(self.files),
            vectors=len(self.files),
            notes=list(self.notes),
            partial=self.partial,
            seconds=0.1,
        )

    def search(self, query: SearchQuery, limit: int) -> list[Hit]:
        self.queries.append(query)
        words = {word.strip("`.,:()").lower() for word in f"{query.reading.text} {' '.join(query.keywords)}".split()}
        found = [path for path, text in self.files.items() if words & set(text.lower().replace("(", " ").split())]
        return [self._hit(path, rank) for rank, path in enumerate(found[:limit])]

    def _hit(self, path: str, rank: int) -> Hit:
        text = self.files[path]
        span = Span(path=path, start=1, end=max(1, len(text.splitlines())))
        return Hit(
            path=path,
            score=round(1.0 / (rank + 1), 2),
            chance=round(0.7 / 4**rank, 3),
            passages=[Passage(span=span, text=text, symbol=_symbol(text))],
            reasons=["shares words with the issue"],
        )

    def retriever(self, repository: str) -> BaseRetriever:
        if not self.files:
            raise NoSuchCollection(repository)
        return FakeRetriever(
            documents=[
                Document(page_content=text, metadata={"path": path, "start": 1, "end": len(text.splitlines())})
                for path, text in self.files.items()
            ]
        )

    def lines(self, path: str) -> list[str] | None:
        text = self.files.get(path)
        return None if text is None else text.splitlines()

    def paths(self) -> Sequence[str]:
        return list(self.files)

    def named(self, written: str) -> str | None:
        found = [path for path in self.files if f"/{written}".endswith(f"/{path}")]
        return found[0] if len(found) == 1 else None

    def defined(self, name: str) -> list[Passage]:
        found = [self._hit(path, 0).passages[0] for path in self.files]
        return [passage for passage in found if passage.symbol == name]

    def history(self, path: str, limit: int) -> History:
        return History(changes=list(self.changes)[:limit] if path in self.files else [])

    def owners(self, path: str) -> list[str]:
        return list(self.owned_by)

    def issue_forms(self) -> list[str]:
        return list(self.forms)


def _symbol(text: str) -> str | None:
    """Name of the first definition."""
    head = next((line for line in text.splitlines() if line.startswith(("def ", "class "))), "")
    return head.split()[1].partition("(")[0].strip(":") if head else None


@dataclass
class FakeMeter:
    """Counts while the block runs, as the real one does."""

    spent: list[Usage]
    since: int
    models: list[str] = field(default_factory=lambda: ["fake-model"])
    calls: list[ModelCall] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        return sum(self.spent[self.since :], Usage())


class FakeModel:
    """Answers by schema name (`InvestigatorFinding`, …), or `text`, `json`, `tools`.

    A prepared answer is a value, an exception to raise, a list of these to be used up one a call, or a function of the
    prompt. What was not prepared fails the test.
    """

    def __init__(self, answers: Mapping[str, Any], cost: Usage | None = None) -> None:
        self.answers = {name: list(a) if isinstance(a, list) else a for name, a in answers.items()}
        self.cost = cost or Usage(input_tokens=100, output_tokens=20, calls=1, usd=0.001)
        self.asked: list[tuple[str, Any]] = []
        self.frugal_views = 0
        self._spent: list[Usage] = []

    def _runnable(self, name: str) -> Runnable[Any, Any]:
        async def reply(prompt: Any) -> Any:
            self.asked.append((name, prompt))
            assert name in self.answers, f"nobody prepared an answer for {name}"
            prepared = self.answers[name]
            answer = prepared.pop(0) if isinstance(prepared, list) else prepared
            if isinstance(answer, BaseException):
                raise answer
            self._spent.append(self.cost)
            result = answer(prompt) if callable(answer) else answer
            return await result if hasattr(result, "__await__") else result

        return RunnableLambda(reply)

    def structured(self, answer: Any, tier: Tier, max_tokens: int) -> Runnable[Any, Any]:
        return self._runnable(answer.__name__)

    def text(self, tier: Tier, max_tokens: int) -> Runnable[Any, str]:
        return self._runnable("text")

    def json_object(self, tier: Tier, max_tokens: int) -> Runnable[Any, dict[str, Any]]:
        return self._runnable("json")

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        return self._runnable("tools")

    def frugal(self) -> "FakeModel":
        self.frugal_views += 1
        return self

    def resume(self, spent: Usage) -> None:
        self._spent.append(spent)

    @contextmanager
    def metered(self, seconds: float) -> Iterator[FakeMeter]:
        yield FakeMeter(self._spent, len(self._spent))

    @property
    def usage(self) -> Usage:
        return sum(self._spent, Usage())


@tool
def web_search(query: str) -> str:
    """Search the web."""
    raise AssertionError("the fake bench answers, not the tool")


@dataclass
class FakeTools:
    """Answers every call with the same content."""

    content: str = '{"results": []}'
    ran: list[AIMessage] = field(default_factory=list)

    @property
    def tools(self) -> Sequence[BaseTool]:
        return [web_search]

    async def run(self, message: AIMessage) -> list[ToolMessage]:
        self.ran.append(message)
        asked = [*message.tool_calls, *message.invalid_tool_calls]
        return [ToolMessage(self.content, tool_call_id=call["id"] or "") for call in asked]


@dataclass
class FakeReplies:
    """Answers in memory."""

    kept: dict[str, str] = field(default_factory=dict)

    def known(self, key: str) -> str | None:
        return self.kept.get(key)

    def keep(self, key: str, answer: str) -> None:
        self.kept[key] = answer


@dataclass
class FakeGitHub:
    """Issues in memory. `refuses` maps a method's name to the error that it raises; `opened` is the day's issues."""

    issues: dict[int, Issue] = field(default_factory=dict)
    existing_labels: Sequence[str] = ("bug", "enhancement")
    roles: Mapping[str, str] = field(default_factory=dict)
    refuses: Mapping[str, Exception] = field(default_factory=dict)
    posted: list[tuple[int, str]] = field(default_factory=list)
    edited: list[tuple[int, int, str]] = field(default_factory=list)
    labelled: list[tuple[int, list[str]]] = field(default_factory=list)
    removed: list[tuple[int, int]] = field(default_factory=list)
    opened: Sequence[int] = ()

    def _may(self, method: str) -> None:
        if method in self.refuses:
            raise self.refuses[method]

    def issue(self, number: int) -> Issue:
        self._may("issue")
        if number not in self.issues:
            raise NoSuchIssue(f"Issue {number} does not exist")
        return self.issues[number]

    def again(self, number: int, posted: int | None = None) -> Issue:
        self._may("again")
        if number not in self.issues:
            raise NoSuchIssue(f"Issue {number} does not exist")
        gone = {comment for _, comment in self.removed}
        mine = [
            Exchange(author="github-actions[bot]", body=body, ours=True, by_bot=True, comment_id=1000 + place)
            for place, (where, body) in enumerate(self.posted, 1)
            if where == number
        ]
        thread = [said for said in [*self.issues[number].thread, *mine] if said.comment_id not in gone]
        return self.issues[number].model_copy(update={"thread": thread})

    def opened_lately(self, most: int) -> list[int]:
        self._may("opened_lately")
        return list(self.opened)[: most + 1]

    def labels(self) -> list[str]:
        self._may("labels")
        return list(self.existing_labels)

    def role(self, login: str) -> str:
        self._may("role")
        return self.roles.get(login, "none")

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        self._may("post_comment")
        self.posted.append((number, body))
        return 1000 + len(
            self.posted
        ), f"https://github.test/o/r/issues/{number}#issuecomment-{1000 + len(self.posted)}"

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        self._may("edit_comment")
        self.edited.append((number, comment_id, body))
        return comment_id, f"https://github.test/o/r/issues/{number}#issuecomment-{comment_id}"

    def remove_comment(self, number: int, comment_id: int) -> None:
        self._may("remove_comment")
        self.removed.append((number, comment_id))

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        self._may("add_labels")
        self.labelled.append((number, list(labels)))


@dataclass
class FakeRunner:
    """Keeps what it is given."""

    summaries: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    annotations: list[tuple[Level, str]] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    report_path: str = ".triage/report.json"

    def summary(self, markdown: str) -> None:
        self.summaries.append(markdown)

    def outputs(self, values: Mapping[str, str]) -> None:
        self.values.update(values)

    def annotate(self, level: Level, message: str, at: Span | None = None) -> None:
        self.annotations.append((level, message))

    def report(self, json_text: str) -> str:
        self.reports.append(json_text)
        return self.report_path


@dataclass
class FakeJournal:
    """Keeps its lines."""

    lines: list[str] = field(default_factory=list)

    def started(self, what: str) -> None:
        self.lines.append(f"> {what}")

    def ended(self, record: StepRecord | ToolExecution) -> None:
        name = record.step if isinstance(record, StepRecord) else record.tool
        self.lines.append(f"< {name} {record.outcome}")

    def note(self, text: str) -> None:
        self.lines.append(text)

    def folded(self, title: str, text: str) -> None:
        self.lines.append(f"[{title}] {text}")

    @contextmanager
    def grouped(self, title: str) -> Iterator[None]:
        self.lines.append(f"{{ {title}")
        yield
        self.lines.append("}")


@dataclass
class FakeTelemetry:
    """Keeps the reports, after what `exporting` does."""

    exporting: Callable[[], None] = lambda: None
    reports: list[RunReport] = field(default_factory=list)

    def export(self, report: RunReport) -> None:
        self.exporting()
        self.reports.append(report)


@dataclass
class FakeClock:
    """Seconds that pass when told to."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def services(**changes: Any) -> Services:
    """Services by rules over an empty repository, but for the changes."""
    given: dict[str, Any] = {
        "codebase": FakeCodebase(),
        "journal": FakeJournal(),
        "limits": Limits(),
        "engine": "model" if changes.get("model") else "rules",
        "facts": RunFacts(request_id="run-1", started_at=NOW, triage_version="0.1.0"),
        "now": lambda: NOW,
        "clock": FakeClock(),
    }
    return Services(**given | changes)
