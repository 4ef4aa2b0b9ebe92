"""Builds every client once and hands it on. The only importer of the doors."""

import hashlib
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from triage import __version__
from triage.domain.collector import Collector
from triage.domain.project_config import Config, Price
from triage.domain.run import RunFacts
from triage.errors import BadInput
from triage.flows.doctor import Check, Probe
from triage.network import DIRECT, Network
from triage.ports import Codebase, GitHub, Journal, Model, Replies, Services, Telemetry, Tier, Tools
from triage.publish.redacting import (
    ScreenedReplies,
    ScreenedRunner,
    ScreenedTelemetry,
    ScreenedTools,
    WayOut,
)
from triage.settings import RunnerEnvironment, Settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from triage.adapters.runner.actions_log import ActionsLog
    from triage.adapters.runner.terminal import TerminalJournal, TerminalRunner


SHAPING = {"model", "fast_model", "fallback_model", "model_base_url", "supervisor"}
"""Inputs that shape an answer as they stand."""


def now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Actions:
    """The Actions runner: where results go, the log, and a guard over whatever a library prints."""

    runner: ScreenedRunner
    log: "ActionsLog"
    guarded: AbstractContextManager[None]
    way_out: WayOut


def actions(place: RunnerEnvironment, stream: TextIO, way_out: WayOut) -> Actions:
    """The Actions runner on its files and on standard output."""
    from triage.adapters.runner.actions_log import ActionsLog
    from triage.adapters.runner.actions_runner import ActionsRunner
    from triage.adapters.runner.inert_lines import LineWriter
    from triage.adapters.runner.output_guard import guarded

    lines = LineWriter(stream, way_out.at("log"))
    runner = ActionsRunner(
        lines, summary_path=place.summary_path, output_path=place.output_path, workspace=place.workspace
    )
    return Actions(ScreenedRunner(runner, way_out), ActionsLog(lines), guarded(lines), way_out)


def payload(place: RunnerEnvironment) -> dict[str, Any]:
    """The event's payload. Raises BadInput."""
    from triage.adapters.runner.event_file import read_event

    return read_event(place.event_path)


def terminal(report_path: Path | None) -> "tuple[TerminalRunner, TerminalJournal]":
    """A terminal in place of the runner: progress on standard error, results kept for printing."""
    from triage.adapters.runner.terminal import TerminalJournal, TerminalRunner, progress_console

    console = progress_console()
    return TerminalRunner(console, report_path), TerminalJournal(console)


def server_log() -> Journal:
    """Progress of runs in a server's log."""
    from triage.adapters.runner.server_log import ServerLog

    return ServerLog()


def github(settings: Settings, slug: str, api_url: str, network: Network = DIRECT) -> GitHub:
    """The issue tracker. Raises BadInput for what is no `owner/name`."""
    from triage.adapters.github.issue_tracker import IssueTracker

    return IssueTracker(settings.github_token.get_secret_value(), slug, api_url, network=network)


def codebase(
    root: Path,
    slug: str,
    embeddings: "Embeddings | None" = None,
    embedding: str = "local",
    chroma_url: str | None = None,
    ignore: Sequence[str] = (),
    cache: Path | None = None,
    network: Network = DIRECT,
) -> Codebase:
    """The checkout's index without what is ignored.

    Its vectors lie on a Chroma server, or in this process: in Chroma, or, where the index is kept in a folder, without
    it (`index.exact` says why).
    """
    from triage.index.codebase import GitCodebase
    from triage.index.vectors.chroma_connection import embedded, server

    inside = None if cache else embedded
    chroma = partial(server, chroma_url, network) if chroma_url else inside
    return GitCodebase(root, slug, embeddings, embedding, chroma=chroma, ignore=ignore, cache=cache)


def config(settings: Settings, root: Path) -> Config:
    """The project's own settings, as the commit that would be indexed has them.

    Raises:
        BadConfig: The file cannot be used.
        BadInput: What is at its path is no file that can be read, or a file that the workflow names is not there.
    """
    return _written(settings, root) or Config()


def _written(settings: Settings, root: Path) -> Config | None:
    """What the file says; none when there is no file."""
    from triage.index.source.read_file import file_at
    from triage.settings.project_file import MOST_BYTES, parse

    path = settings.config_file
    data = file_at(root, path, MOST_BYTES)
    if data is not None:
        return parse(data, path)
    if settings.names_config_file:
        raise BadInput(f"config-file: {path} is not in the commit that is checked out; mend the path, or check it out.")
    return None


def fingerprint(settings: Settings, config: Config) -> str:
    """Digest of all that shapes an answer; keys, caps and what is written where do not."""
    shaping = settings.model_dump(mode="json", include=SHAPING)
    chosen = [settings.engine_chosen, settings.embedding_chosen, bool(settings.tavily_api_key.get_secret_value())]
    told = json.dumps([__version__, shaping, chosen, config.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def services(
    settings: Settings,
    journal: Journal,
    root: Path,
    slug: str,
    *,
    config: Config | None = None,
    run_url: str = "",
    tavily_base_url: str | None = None,
    network: Network = DIRECT,
    started: float | None = None,
    collector: Collector | None = None,
    way_out: WayOut | None = None,
) -> Services:
    """Everything that acts in one run.

    Args:
        settings: The inputs.
        journal: Live lines.
        root: The checkout.
        slug: `owner/name`, or the folder's name.
        config: The project's own settings.
        run_url: Page of the job, for the report.
        tavily_base_url: Another address of the search.
        network: Proxies and certificates.
        started: When the run started, by `time.monotonic`; now when not given.
        collector: Where telemetry goes; none when it is off.
        way_out: Masks our own secrets; when not given, those that the inputs hold.
    """
    gate = way_out or WayOut(settings.secrets)
    idle = idle_services(settings, journal, root, slug, config=config, run_url=run_url, started=started)
    own = idle.config
    replies, checkpoints = _kept_runs(settings, root, journal, gate)
    model, embeddings = _endpoint(settings, idle.facts.request_id, own.prices, replies, network, gate)
    kept = kept_index(settings, root)
    checkout = codebase(
        root, slug, embeddings, settings.embedding_chosen, settings.chroma_url, own.ignore, kept, network
    )
    return replace(
        idle,
        codebase=checkout,
        model=model,
        search=_search(settings, tavily_base_url, journal, replies, network, gate),
        code_tools=_code_tools(settings, checkout, journal, gate),
        telemetry=_telemetry(collector, journal, network, gate),
        fingerprint=fingerprint(settings, own),
        checkpoints=checkpoints,
    )


def idle_services(
    settings: Settings,
    journal: Journal,
    root: Path,
    slug: str,
    *,
    config: Config | None = None,
    run_url: str = "",
    started: float | None = None,
) -> Services:
    """For a run that is cancelled before it begins: nothing in it acts, and nothing is loaded, which takes seconds."""
    began = time.monotonic() if started is None else started
    at = now() - timedelta(seconds=time.monotonic() - began)
    return Services(
        codebase=codebase(root, slug),
        journal=journal,
        limits=settings.limits(),
        engine=settings.engine_chosen,
        facts=RunFacts(request_id=str(uuid.uuid4()), started_at=at, triage_version=__version__, run_url=run_url),
        now=now,
        clock=time.monotonic,
        started=began,
        supervisor=settings.supervisor,
        config=config or Config(),
    )


def _kept_runs(settings: Settings, root: Path, journal: Journal, gate: WayOut) -> tuple[Replies | None, str | None]:
    """Where the answers and the state of an interrupted run are kept."""
    place = _kept(settings, root)
    if place is None:
        if settings.cache_dir:
            journal.note("Nothing is kept: the repository has a link on the way to cache-dir, which may lead anywhere.")
        return None, None
    from triage.adapters.cache.private_folder import made, private
    from triage.adapters.cache.response_cache import ReplyStore

    folder = made(place / "runs")
    return ScreenedReplies(ReplyStore(folder, journal.note, now), gate), str(private(folder / "state.sqlite"))


def kept_index(settings: Settings, root: Path) -> Path | None:
    """Where the index is kept, if it is."""
    place = _kept(settings, root)
    return place / "index" if place else None


def _kept(settings: Settings, root: Path) -> Path | None:
    """`cache-dir`; a relative one lies in the checkout's folder. None where a link of the checkout leads it away."""
    from triage.adapters.cache.private_folder import leads_away

    place = root / settings.cache_dir if settings.cache_dir else None
    inside = ("index", "runs/state.sqlite")
    return None if place is None or any(leads_away(root, place / name) for name in inside) else place


def _endpoint(
    settings: Settings,
    request_id: str,
    prices: Mapping[str, Price],
    replies: Replies | None,
    network: Network,
    gate: WayOut,
) -> tuple[Model | None, "Embeddings | None"]:
    """Model and embeddings under one purse, only when a model is to be asked: importing their SDK takes a second."""
    if settings.engine_chosen == "rules":
        return None, None
    from triage.adapters.llm.budget import Ledger
    from triage.adapters.llm.cached_replies import Replays
    from triage.adapters.llm.chat_model import ChatModel
    from triage.adapters.llm.embeddings import CountedEmbeddings
    from triage.adapters.llm.endpoint import OPENAI, Endpoint
    from triage.adapters.llm.model_retry import Patience
    from triage.adapters.llm.prices import PriceTable
    from triage.adapters.llm.usage_meter import Accounts

    limits = settings.limits()
    accounts = Accounts(Ledger(limits), PriceTable(prices), time.monotonic, now)
    patience = Patience(time.monotonic)
    endpoint = Endpoint(settings.endpoint_key, request_id, settings.model_base_url or OPENAI, network)
    models: dict[Tier, str] = {"main": settings.model, "fast": settings.fast_model}
    replays = Replays(replies, endpoint.base_url)
    masked = gate.at("model's prompt"), gate.at("model's answer")
    chat = ChatModel(endpoint, models, settings.fallback_model, accounts, patience, replays, *masked)
    name = settings.embedding_chosen
    if name == "local":
        return chat, None
    return chat, CountedEmbeddings(endpoint, name, accounts, limits, patience, gate.at("texts for vectors"))


def _search(
    settings: Settings, base_url: str | None, journal: Journal, replies: Replies | None, network: Network, gate: WayOut
) -> Tools | None:
    if not settings.tavily_api_key.get_secret_value():
        return None
    from triage.adapters.web.web_search_tool import search_tool
    from triage.graph.tool_runner import ToolBench

    tool = search_tool(settings.tavily_api_key, base_url, replies, network, gate.at("search query"))
    bench = ToolBench([tool], settings.limits().tool_seconds, journal, now, time.monotonic)
    return ScreenedTools(bench, gate)


def _code_tools(settings: Settings, checkout: Codebase, journal: Journal, gate: WayOut) -> Tools | None:
    """What the codebase agent looks things up with; its twin by rules needs none."""
    if settings.engine_chosen == "rules":
        return None
    from triage.agents.code_tools import code_tools
    from triage.graph.tool_runner import ToolBench

    bench = ToolBench(code_tools(checkout), settings.limits().tool_seconds, journal, now, time.monotonic)
    return ScreenedTools(bench, gate)


def _telemetry(collector: Collector | None, journal: Journal, network: Network, gate: WayOut) -> Telemetry | None:
    """OpenTelemetry, only when somebody listens: nothing of it is imported otherwise."""
    if collector is None:
        return None
    from triage.adapters.telemetry.otlp_exporter import OtlpTelemetry

    return ScreenedTelemetry(OtlpTelemetry(collector, journal, network), gate)


def probes(settings: Settings, place: RunnerEnvironment, root: Path, slug: str) -> list[tuple[str, Probe]]:
    """What the doctor looks at."""
    return [
        ("checkout", lambda: _checkout(settings, root)),
        ("project settings", lambda: _config(settings, root)),
        ("GitHub", lambda: _tracker(settings, place, slug)),
        ("model", lambda: _model(settings, place.network)),
        ("web search", lambda: _web(settings, place.tavily_base_url, place.network)),
        ("telemetry", lambda: _listener(place)),
    ]


def _listener(place: RunnerEnvironment) -> Check:
    if place.collector is None:
        told = place.collector_fault or "off (no OTEL_EXPORTER_OTLP_ENDPOINT)"
        return Check(what="telemetry", state="broken" if place.collector_fault else "missing", told=told)
    from triage.adapters.telemetry.check_collector import reach

    return Check(what="telemetry", state="ok", told=reach(place.collector, place.network))


def _checkout(settings: Settings, root: Path) -> Check:
    if not root.is_dir():
        return Check(what="checkout", state="broken", told=f"{root} is not a folder")
    folder = root.resolve()
    facts = codebase(folder, folder.name, cache=kept_index(settings, folder)).index()
    commit = f"commit {facts.commit[:12]}" if facts.commit else "no git history"
    told = f"{facts.told} {facts.passages:,} passages, {commit}"
    return Check(what="checkout", state="ok" if facts.files else "missing", told=told)


def _config(settings: Settings, root: Path) -> Check:
    path, own = settings.config_file, _written(settings, root)
    if own is None:
        return Check(what="project settings", state="missing", told=f"no {path} in the commit: nothing is set")
    keys = ", ".join(own.model_dump(by_alias=True, exclude_defaults=True)) or "nothing"
    return Check(what="project settings", state="ok", told=f"{path} sets {keys}")


def _tracker(settings: Settings, place: RunnerEnvironment, slug: str) -> Check:
    if not slug:
        has_token = bool(settings.github_token.get_secret_value())
        told = "a token is set; name a repository with --github to try it" if has_token else "no token (github-token)"
        return Check(what="GitHub", state="ok" if has_token else "missing", told=told)
    labels = github(settings, slug, place.api_url, place.network).labels()
    return Check(what="GitHub", state="ok", told=f"{slug} can be read; it has {len(labels)} labels")


def _model(settings: Settings, network: Network) -> Check:
    if settings.engine_chosen == "rules":
        return Check(
            what="model", state="missing", told="every agent answers by rules (no model-api-key, or engine: rules)"
        )
    from triage.adapters.llm.check_model import reach
    from triage.adapters.llm.endpoint import OPENAI, Endpoint

    endpoint = Endpoint(settings.endpoint_key, "doctor", settings.model_base_url or OPENAI, network)
    names = list(dict.fromkeys([settings.model, settings.fast_model, settings.fallback_model]))
    return Check(what="model", state="ok", told=reach(endpoint, names))


def _web(settings: Settings, base_url: str | None, network: Network) -> Check:
    if not settings.tavily_api_key.get_secret_value():
        return Check(what="web search", state="missing", told="no tavily-api-key: web search is off")
    from triage.adapters.web.check_search import reach

    return Check(what="web search", state="ok", told=reach(settings.tavily_api_key, base_url, network))
