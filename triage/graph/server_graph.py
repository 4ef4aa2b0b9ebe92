"""The same graph for LangGraph Server, with small JSON input and output.

A server cannot pass services to a graph, so the first node of each run opens them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from langchain_core.runnables.config import set_config_context
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import StreamWriter
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from triage.base.errors import SetupError
from triage.base.threads import in_thread
from triage.domain.issue import Issue, IssueComment, Repository
from triage.domain.report import RunReport
from triage.domain.run import StepRecord
from triage.graph.nodes import Node
from triage.graph.run_graph import add_nodes
from triage.graph.triage_state import BugTriageState, Update
from triage.ports import Services
from triage.safety.safe_markdown import sanitize_markdown
from triage.safety.secrets.likely_secrets import redact_likely_secrets

MAX_CHARS = 1_000_000
"""GitHub itself takes 65,536."""
MAX_COMMENTS = 500
MAX_LABELS = 100
"""GitHub's own maximum of an issue."""
Login = Annotated[str, Field(max_length=100)]
LabelName = Annotated[str, Field(min_length=1, max_length=100)]


class CommentInput(BaseModel):
    """A comment of the issue's thread. Whether it is one of ours is not for a client to say."""

    model_config = ConfigDict(extra="forbid")

    author: Login = ""
    body: str = Field(max_length=MAX_CHARS)
    created_at: AwareDatetime | None = None
    edited_at: AwareDatetime | None = None


class _IssueInput(BaseModel):
    issue_title: str = Field(min_length=1, max_length=MAX_CHARS)
    issue_body: str = Field(default="", max_length=MAX_CHARS)
    issue_number: int | None = None
    issue_url: str = ""
    issue_author: Login = ""
    issue_labels: list[LabelName] = Field(default_factory=list, max_length=MAX_LABELS)
    issue_comments: list[CommentInput] = Field(default_factory=list, max_length=MAX_COMMENTS)
    """Oldest first."""

    @field_validator("issue_comments")
    @classmethod
    def _limit_chars(cls, comments: list[CommentInput]) -> list[CommentInput]:
        if sum(len(comment.body) for comment in comments) > MAX_CHARS:
            raise ValueError(f"all comments together may have {MAX_CHARS:,} characters")
        return comments


class ServerInput(_IssueInput):
    repository: str = ""
    """`owner/name`. Needed where the server has several checkouts."""


class _ThreadInput(_IssueInput):
    """The input, and what an earlier run on the same thread may have left."""

    repository: str | Repository = ""
    steps: list[StepRecord] = Field(default_factory=list)


class RequestRefused(ValueError):
    """The request cannot be carried out. The server shows clients the message of a ValueError, and of few others."""


class ServerOutput(BaseModel):
    report: RunReport


ServerGraph = CompiledStateGraph[BugTriageState, None, ServerInput, ServerOutput]
OpenServices = Callable[[str], tuple[Repository, Services]]
"""Opens the services for a repository's name. It may block, and raises SetupError."""
ExportReport = Callable[[RunReport, Services], Awaitable[None]]


@dataclass
class _LazyServices:
    """The services of one run, opened when a node first needs them, which may be after a restart of the server."""

    open_services: OpenServices
    opened: tuple[Repository, Services] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, repository: str, *, with_index: bool = False) -> tuple[Repository, Services]:
        async with self.lock:
            if self.opened is None:
                self.opened = await in_thread(self.open_services, repository)
                if with_index:
                    await in_thread(self.opened[1].codebase.index)
        return self.opened


def build_server_graph(open_services: OpenServices, export_report: ExportReport) -> ServerGraph:
    lazy_services = _LazyServices(open_services)

    async def receive(state: _ThreadInput) -> Update:
        if state.steps or isinstance(state.repository, Repository):
            raise RequestRefused("A thread is for one run: start the next one on a new thread, or without any.")
        try:
            repository, _ = await lazy_services.get(state.repository)
        except SetupError as error:
            raise RequestRefused(str(error)) from None
        return {"issue": _build_issue(state), "repository": repository}

    def with_services(node: Node) -> Node:
        async def run(state: BugTriageState, runtime: Runtime[Services]) -> Update:
            _, services = await lazy_services.get(state.repository.slug, with_index=state.index is not None)
            update = await _run_unobserved(node(state, runtime.override(context=services)))
            write_events(runtime.stream_writer, update, services)
            if isinstance(update.get("report"), RunReport):
                await export_report(update["report"], services)
            return update

        return run

    graph = StateGraph(BugTriageState, input_schema=ServerInput, output_schema=ServerOutput)
    graph.add_node("receive", receive, input_schema=_ThreadInput)
    graph.add_edge(START, "receive")
    add_nodes(graph, "receive", with_services)
    return graph.compile()


def _build_issue(state: _ThreadInput) -> Issue:
    thread = [
        IssueComment(
            author=comment.author,
            body=comment.body,
            created_at=comment.created_at,
            edited_at=comment.edited_at,
            by_bot=_is_bot(comment.author),
        )
        for comment in state.issue_comments
    ]
    return Issue(
        number=state.issue_number,
        title=state.issue_title,
        body=state.issue_body,
        url=state.issue_url,
        author=state.issue_author,
        author_is_bot=_is_bot(state.issue_author),
        labels=state.issue_labels,
        thread=thread,
    )


def _is_bot(login: str) -> bool:
    return login.endswith("[bot]")


async def _run_unobserved(node: Awaitable[Update]) -> Update:
    """Run a node without the callbacks and streams of the client, who could follow each request to a model in them."""

    async def run() -> Update:
        return await node

    with set_config_context({"callbacks": []}) as context:
        return await asyncio.create_task(run(), context=context)


def write_events(write: StreamWriter, update: Update, services: Services) -> None:
    try:
        for event in list_events(update):
            write(event)
    except Exception as error:  # noqa: BLE001 - whoever follows a run must not end it
        services.progress.info(f"An event could not be streamed: {type(error).__name__}.")


def list_events(update: Update) -> Iterator[dict[str, Any]]:
    """Yield what a client may follow of a step: who answered and how it went, and the finished report's texts.

    The texts are those of the report, whose citations are verified, with likely secrets masked and as safe Markdown.
    """
    for record in update.get("steps", ()):
        yield {
            "step": record.step,
            "round": record.round,
            "engine": record.engine,
            "outcome": record.outcome,
            "seconds": record.seconds,
            "tokens": record.usage.tokens,
            "usd": record.usage.usd,
            "tools": [tool.tool for tool in record.tools],
        }
    report = update.get("report")
    if isinstance(report, RunReport):
        for section in ("summary", "root_cause", "why", "fix_idea", "check"):
            if text := getattr(report, section):
                yield {"section": section, "text": sanitize_markdown(redact_likely_secrets(text))}


def compute_max_iterations(supersteps: int) -> int:
    """Return how many decisions a server's limit allows: two supersteps each, and six for the ends."""
    return max(1, (supersteps - 6) // 2)
