"""Builds every client once and hands it on. The only importer of the doors."""

import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from triage import __version__
from triage.domain.run import RunFacts
from triage.flows.doctor import Check, Probe
from triage.ports import Codebase, GitHub, Journal, Model, Runner, Services, Tier, Tools
from triage.settings import RunnerEnvironment, Settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from triage.runner.log import ActionsLog
    from triage.runner.terminal import TerminalJournal, TerminalRunner


def now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Actions:
    """The Actions runner: where results go, the log, and a guarded stream for whatever a library prints."""

    runner: Runner
    log: "ActionsLog"
    guarded: Any


def actions(place: RunnerEnvironment, stream: TextIO) -> Actions:
    """The Actions runner on its files and on standard output."""
    from triage.runner.actions import ActionsRunner
    from triage.runner.guard import GuardedStream
    from triage.runner.lines import LineWriter
    from triage.runner.log import ActionsLog

    lines = LineWriter(stream)
    runner = ActionsRunner(
        lines, summary_path=place.summary_path, output_path=place.output_path, workspace=place.workspace
    )
    return Actions(runner, ActionsLog(lines), GuardedStream(stream))


def payload(place: RunnerEnvironment) -> dict[str, Any]:
    """The event's payload. Raises BadInput."""
    from triage.runner.event_file import read_event

    return read_event(place.event_path)


def terminal(report_path: Path | None) -> "tuple[TerminalRunner, TerminalJournal]":
    """A terminal in place of the runner: progress on standard error, results kept for printing."""
    from triage.runner.terminal import TerminalJournal, TerminalRunner, progress_console

    console = progress_console()
    return TerminalRunner(console, report_path), TerminalJournal(console)


def github(settings: Settings, slug: str, api_url: str, ca_file: Path | None = None) -> GitHub:
    """The issue tracker. Raises BadInput for what is no `owner/name`."""
    from triage.github.tracker import IssueTracker

    return IssueTracker(settings.github_token.get_secret_value(), slug, api_url, ca_file=ca_file)


def codebase(
    root: Path,
    slug: str,
    embeddings: "Embeddings | None" = None,
    embedding: str = "local",
    chroma_url: str | None = None,
) -> Codebase:
    """The checkout's index, with its vectors in this process or on a Chroma server."""
    from triage.index.chroma import embedded, server
    from triage.index.codebase import GitCodebase

    chroma = partial(server, chroma_url) if chroma_url else embedded
    return GitCodebase(root, slug, embeddings, embedding, chroma=chroma)


def services(
    settings: Settings,
    journal: Journal,
    root: Path,
    slug: str,
    *,
    run_url: str = "",
    tavily_base_url: str | None = None,
    started: float | None = None,
) -> Services:
    """Everything that acts in one run.

    Args:
        settings: The inputs.
        journal: Live lines.
        root: The checkout.
        slug: `owner/name`, or the folder's name.
        run_url: Page of the job, for the report.
        tavily_base_url: Another address of the search.
        started: When the run started, by `time.monotonic`; now when not given.
    """
    facts = RunFacts(request_id=str(uuid.uuid4()), started_at=now(), triage_version=__version__, run_url=run_url)
    limits = settings.limits()
    model, embeddings = _endpoint(settings, facts.request_id)
    return Services(
        codebase=codebase(root, slug, embeddings, settings.embedding_chosen, settings.chroma_url),
        journal=journal,
        limits=limits,
        engine=settings.engine_chosen,
        facts=facts,
        now=now,
        clock=time.monotonic,
        started=time.monotonic() if started is None else started,
        model=model,
        search=_search(settings, tavily_base_url, journal),
    )


def _endpoint(settings: Settings, request_id: str) -> tuple[Model | None, "Embeddings | None"]:
    """Model and embeddings under one purse, only when a model is to be asked: importing their SDK takes a second."""
    if settings.engine_chosen == "rules":
        return None, None
    from triage.llm.chat import ChatModel
    from triage.llm.embeddings import CountedEmbeddings
    from triage.llm.endpoint import Endpoint
    from triage.llm.ledger import Ledger

    limits = settings.limits()
    ledger = Ledger(limits)
    endpoint = Endpoint(settings.endpoint_key, request_id, settings.model_base_url)
    models: dict[Tier, str] = {"main": settings.model, "fast": settings.fast_model}
    chat = ChatModel(endpoint, models, settings.fallback_model, ledger, time.monotonic)
    name = settings.embedding_chosen
    embeddings = None if name == "local" else CountedEmbeddings(endpoint.embeddings(name), name, ledger, limits)
    return chat, embeddings


def _search(settings: Settings, base_url: str | None, journal: Journal) -> Tools | None:
    if not settings.tavily_api_key.get_secret_value():
        return None
    from triage.graph.tools import ToolBench
    from triage.web.search import search_tool

    tool = search_tool(settings.tavily_api_key, base_url)
    return ToolBench([tool], settings.limits().tool_seconds, journal, now, time.monotonic)


def probes(settings: Settings, place: RunnerEnvironment, root: Path, slug: str) -> list[tuple[str, Probe]]:
    """What the doctor looks at."""
    return [
        ("checkout", lambda: _checkout(root)),
        ("GitHub", lambda: _tracker(settings, place, slug)),
        ("model", lambda: _model(settings)),
        ("web search", lambda: _web(settings, place.tavily_base_url)),
    ]


def _checkout(root: Path) -> Check:
    if not root.is_dir():
        return Check(what="checkout", state="broken", told=f"{root} is not a folder")
    facts = codebase(root.resolve(), root.resolve().name).index()
    commit = f"commit {facts.commit[:12]}" if facts.commit else "no git history"
    told = f"{facts.files} files, {facts.passages} passages, {commit}, indexed in {facts.seconds:.1f} s"
    return Check(what="checkout", state="ok" if facts.files else "missing", told=told)


def _tracker(settings: Settings, place: RunnerEnvironment, slug: str) -> Check:
    if not slug:
        has_token = bool(settings.github_token.get_secret_value())
        told = "a token is set; name a repository with --github to try it" if has_token else "no token (github-token)"
        return Check(what="GitHub", state="ok" if has_token else "missing", told=told)
    labels = github(settings, slug, place.api_url, place.ca_file).labels()
    return Check(what="GitHub", state="ok", told=f"{slug} can be read; it has {len(labels)} labels")


def _model(settings: Settings) -> Check:
    if settings.engine_chosen == "rules":
        return Check(
            what="model", state="missing", told="every agent answers by rules (no model-api-key, or engine: rules)"
        )
    from triage.llm.endpoint import Endpoint
    from triage.llm.probe import reach

    endpoint = Endpoint(settings.endpoint_key, "doctor", settings.model_base_url)
    names = list(dict.fromkeys([settings.model, settings.fast_model, settings.fallback_model]))
    return Check(what="model", state="ok", told=reach(endpoint, names))


def _web(settings: Settings, base_url: str | None) -> Check:
    if not settings.tavily_api_key.get_secret_value():
        return Check(what="web search", state="missing", told="no tavily-api-key: web search is off")
    from triage.web.probe import reach

    return Check(what="web search", state="ok", told=reach(settings.tavily_api_key, base_url))
