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
from triage.domain.project_config import Price, ProjectConfig
from triage.domain.run import RunFacts
from triage.errors import BadInput
from triage.flows.doctor import Check, Probe
from triage.network import DIRECT, Network
from triage.ports import Codebase, GitHub, Model, ProgressLog, ResponseCache, Services, Telemetry, Tier, Toolset
from triage.publish.redacting import RedactingResponseCache, RedactingRunner, RedactingTelemetry, RedactingTools
from triage.secrets.redactor import SecretRedactor
from triage.settings import RunnerEnvironment, Settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from triage.adapters.runner.actions_log import ActionsLog
    from triage.adapters.runner.terminal import TerminalProgress, TerminalRunner


SHAPING = {"model", "fast_model", "fallback_model", "model_base_url", "supervisor"}
"""Inputs that shape an answer as they stand."""


def utc_now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class ActionsContext:
    """The Actions runner: where results go, the log, and a guard over whatever a library prints."""

    runner: RedactingRunner
    log: "ActionsLog"
    output_guard: AbstractContextManager[None]
    redactor: SecretRedactor


def open_actions(place: RunnerEnvironment, stream: TextIO, way_out: SecretRedactor) -> ActionsContext:
    """The Actions runner on its files and on standard output."""
    from triage.adapters.runner.actions_log import ActionsLog
    from triage.adapters.runner.actions_runner import ActionsRunner
    from triage.adapters.runner.inert_lines import LineWriter
    from triage.adapters.runner.output_guard import guard_output

    lines = LineWriter(stream, way_out.for_location("log"))
    runner = ActionsRunner(
        lines, summary_path=place.summary_path, output_path=place.output_path, workspace=place.workspace
    )
    return ActionsContext(RedactingRunner(runner, way_out), ActionsLog(lines), guard_output(lines), way_out)


def read_payload(place: RunnerEnvironment) -> dict[str, Any]:
    """The event's payload. Raises BadInput."""
    from triage.adapters.runner.event_file import read_event

    return read_event(place.event_path)


def open_terminal(report_path: Path | None) -> "tuple[TerminalRunner, TerminalProgress]":
    """A terminal in place of the runner: progress on standard error, results kept for printing."""
    from triage.adapters.runner.terminal import TerminalProgress, TerminalRunner, progress_console

    console = progress_console()
    return TerminalRunner(console, report_path), TerminalProgress(console)


def build_server_log() -> ProgressLog:
    """Progress of runs in a server's log."""
    from triage.adapters.runner.server_log import ServerLog

    return ServerLog()


def build_github(settings: Settings, slug: str, api_url: str, network: Network = DIRECT) -> GitHub:
    """The issue tracker. Raises BadInput for what is no `owner/name`."""
    from triage.adapters.github.issue_tracker import IssueTracker

    return IssueTracker(settings.github_token.get_secret_value(), slug, api_url, network=network)


def build_codebase(
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
    from triage.index.vectors.chroma_connection import connect_to_chroma, open_embedded_chroma

    inside = None if cache else open_embedded_chroma
    chroma = partial(connect_to_chroma, chroma_url, network) if chroma_url else inside
    return GitCodebase(root, slug, embeddings, embedding, chroma=chroma, ignore=ignore, cache=cache)


def read_project_config(settings: Settings, root: Path) -> ProjectConfig:
    """The project's own settings, as the commit that would be indexed has them.

    Raises:
        BadConfig: The file cannot be used.
        BadInput: What is at its path is no file that can be read, or a file that the workflow names is not there.
    """
    return _written(settings, root) or ProjectConfig()


def _written(settings: Settings, root: Path) -> ProjectConfig | None:
    """What the file says; none when there is no file."""
    from triage.index.source.read_file import read_file
    from triage.settings.project_file import MAX_BYTES, parse_project_config

    path = settings.config_file
    data = read_file(root, path, MAX_BYTES)
    if data is not None:
        return parse_project_config(data, path)
    if settings.has_custom_config_file:
        raise BadInput(f"config-file: {path} is not in the commit that is checked out; mend the path, or check it out.")
    return None


def fingerprint(settings: Settings, config: ProjectConfig) -> str:
    """Digest of all that shapes an answer; keys, caps and what is written where do not."""
    shaping = settings.model_dump(mode="json", include=SHAPING)
    chosen = [
        settings.effective_engine,
        settings.effective_embedding_model,
        bool(settings.tavily_api_key.get_secret_value()),
    ]
    told = json.dumps([__version__, shaping, chosen, config.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def build_services(
    settings: Settings,
    journal: ProgressLog,
    root: Path,
    slug: str,
    *,
    config: ProjectConfig | None = None,
    run_url: str = "",
    tavily_base_url: str | None = None,
    network: Network = DIRECT,
    started: float | None = None,
    collector: Collector | None = None,
    way_out: SecretRedactor | None = None,
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
    gate = way_out or SecretRedactor(settings.secrets)
    idle = build_idle_services(settings, journal, root, slug, config=config, run_url=run_url, started=started)
    own = idle.config
    replies, checkpoints = _kept_runs(settings, root, journal, gate)
    model, embeddings = _endpoint(settings, idle.facts.request_id, own.prices, replies, network, gate)
    kept = find_index_cache(settings, root)
    checkout = build_codebase(
        root, slug, embeddings, settings.effective_embedding_model, settings.chroma_url, own.ignore, kept, network
    )
    return replace(
        idle,
        codebase=checkout,
        model=model,
        web_tools=_search(settings, tavily_base_url, journal, replies, network, gate),
        code_tools=_code_tools(settings, checkout, journal, gate),
        telemetry=_telemetry(collector, journal, network, gate),
        fingerprint=fingerprint(settings, own),
        checkpoints=checkpoints,
    )


def build_idle_services(
    settings: Settings,
    journal: ProgressLog,
    root: Path,
    slug: str,
    *,
    config: ProjectConfig | None = None,
    run_url: str = "",
    started: float | None = None,
) -> Services:
    """For a run that is cancelled before it begins: nothing in it acts, and nothing is loaded, which takes seconds."""
    began = time.monotonic() if started is None else started
    at = utc_now() - timedelta(seconds=time.monotonic() - began)
    return Services(
        codebase=build_codebase(root, slug),
        progress=journal,
        limits=settings.limits(),
        engine=settings.effective_engine,
        facts=RunFacts(request_id=str(uuid.uuid4()), started_at=at, triage_version=__version__, run_url=run_url),
        now=utc_now,
        clock=time.monotonic,
        started=began,
        supervisor=settings.supervisor,
        config=config or ProjectConfig(),
    )


def _kept_runs(
    settings: Settings, root: Path, journal: ProgressLog, gate: SecretRedactor
) -> tuple[ResponseCache | None, str | None]:
    """Where the answers and the state of an interrupted run are kept."""
    place = _kept(settings, root)
    if place is None:
        if settings.cache_dir:
            journal.info("Nothing is kept: the repository has a link on the way to cache-dir, which may lead anywhere.")
        return None, None
    from triage.adapters.cache.private_folder import make_private_file, make_private_folder
    from triage.adapters.cache.response_cache import SqliteResponseCache

    folder = make_private_folder(place / "runs")
    return RedactingResponseCache(SqliteResponseCache(folder, journal.info, utc_now), gate), str(
        make_private_file(folder / "state.sqlite")
    )


def find_index_cache(settings: Settings, root: Path) -> Path | None:
    """Where the index is kept, if it is."""
    place = _kept(settings, root)
    return place / "index" if place else None


def _kept(settings: Settings, root: Path) -> Path | None:
    """`cache-dir`; a relative one lies in the checkout's folder. None where a link of the checkout leads it away."""
    from triage.adapters.cache.private_folder import has_symlink

    place = root / settings.cache_dir if settings.cache_dir else None
    inside = ("index", "runs/state.sqlite")
    return None if place is None or any(has_symlink(root, place / name) for name in inside) else place


def _endpoint(
    settings: Settings,
    request_id: str,
    prices: Mapping[str, Price],
    replies: ResponseCache | None,
    network: Network,
    gate: SecretRedactor,
) -> tuple[Model | None, "Embeddings | None"]:
    """Model and embeddings under one purse, only when a model is to be asked: importing their SDK takes a second."""
    if settings.effective_engine == "rules":
        return None, None
    from triage.adapters.llm.budget import Budget
    from triage.adapters.llm.cached_replies import CachedReplies
    from triage.adapters.llm.chat_model import ChatModel
    from triage.adapters.llm.embeddings import MeteredEmbeddings
    from triage.adapters.llm.endpoint import OPENAI_URL, Endpoint
    from triage.adapters.llm.model_retry import RetryPolicy
    from triage.adapters.llm.prices import PriceTable
    from triage.adapters.llm.usage_meter import UsageMeter

    limits = settings.limits()
    accounts = UsageMeter(Budget(limits), PriceTable(prices), time.monotonic, utc_now)
    patience = RetryPolicy(time.monotonic)
    endpoint = Endpoint(settings.endpoint_key, request_id, settings.model_base_url or OPENAI_URL, network)
    models: dict[Tier, str] = {"main": settings.model, "fast": settings.fast_model}
    replays = CachedReplies(replies, endpoint.base_url)
    masked = gate.for_location("model's prompt"), gate.for_location("model's answer")
    chat = ChatModel(endpoint, models, settings.fallback_model, accounts, patience, replays, *masked)
    name = settings.effective_embedding_model
    if name == "local":
        return chat, None
    return chat, MeteredEmbeddings(endpoint, name, accounts, limits, patience, gate.for_location("texts for vectors"))


def _search(
    settings: Settings,
    base_url: str | None,
    journal: ProgressLog,
    replies: ResponseCache | None,
    network: Network,
    gate: SecretRedactor,
) -> Toolset | None:
    if not settings.tavily_api_key.get_secret_value():
        return None
    from triage.adapters.web.web_search_tool import build_search_tool
    from triage.graph.tool_runner import ToolRunner

    tool = build_search_tool(settings.tavily_api_key, base_url, replies, network, gate.for_location("search query"))
    bench = ToolRunner([tool], settings.limits().tool_seconds, journal, utc_now, time.monotonic)
    return RedactingTools(bench, gate)


def _code_tools(settings: Settings, checkout: Codebase, journal: ProgressLog, gate: SecretRedactor) -> Toolset | None:
    """What the codebase agent looks things up with; its twin by rules needs none."""
    if settings.effective_engine == "rules":
        return None
    from triage.agents.code_tools import build_code_tools
    from triage.graph.tool_runner import ToolRunner

    bench = ToolRunner(build_code_tools(checkout), settings.limits().tool_seconds, journal, utc_now, time.monotonic)
    return RedactingTools(bench, gate)


def _telemetry(
    collector: Collector | None, journal: ProgressLog, network: Network, gate: SecretRedactor
) -> Telemetry | None:
    """OpenTelemetry, only when somebody listens: nothing of it is imported otherwise."""
    if collector is None:
        return None
    from triage.adapters.telemetry.otlp_exporter import OtlpExporter

    return RedactingTelemetry(OtlpExporter(collector, journal, network), gate)


def doctor_probes(settings: Settings, place: RunnerEnvironment, root: Path, slug: str) -> list[tuple[str, Probe]]:
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
        told = place.collector_problem or "off (no OTEL_EXPORTER_OTLP_ENDPOINT)"
        return Check(name="telemetry", state="broken" if place.collector_problem else "missing", detail=told)
    from triage.adapters.telemetry.check_collector import check_collector

    return Check(name="telemetry", state="ok", detail=check_collector(place.collector, place.network))


def _checkout(settings: Settings, root: Path) -> Check:
    if not root.is_dir():
        return Check(name="checkout", state="broken", detail=f"{root} is not a folder")
    folder = root.resolve()
    facts = build_codebase(folder, folder.name, cache=find_index_cache(settings, folder)).index()
    commit = f"commit {facts.commit[:12]}" if facts.commit else "no git history"
    told = f"{facts.log_line} {facts.passages:,} passages, {commit}"
    return Check(name="checkout", state="ok" if facts.files else "missing", detail=told)


def _config(settings: Settings, root: Path) -> Check:
    path, own = settings.config_file, _written(settings, root)
    if own is None:
        return Check(name="project settings", state="missing", detail=f"no {path} in the commit: nothing is set")
    keys = ", ".join(own.model_dump(by_alias=True, exclude_defaults=True)) or "nothing"
    return Check(name="project settings", state="ok", detail=f"{path} sets {keys}")


def _tracker(settings: Settings, place: RunnerEnvironment, slug: str) -> Check:
    if not slug:
        has_token = bool(settings.github_token.get_secret_value())
        told = "a token is set; name a repository with --github to try it" if has_token else "no token (github-token)"
        return Check(name="GitHub", state="ok" if has_token else "missing", detail=told)
    labels = build_github(settings, slug, place.api_url, place.network).list_labels()
    return Check(name="GitHub", state="ok", detail=f"{slug} can be read; it has {len(labels)} labels")


def _model(settings: Settings, network: Network) -> Check:
    if settings.effective_engine == "rules":
        return Check(
            name="model", state="missing", detail="every agent answers by rules (no model-api-key, or engine: rules)"
        )
    from triage.adapters.llm.check_model import check_endpoint
    from triage.adapters.llm.endpoint import OPENAI_URL, Endpoint

    endpoint = Endpoint(settings.endpoint_key, "doctor", settings.model_base_url or OPENAI_URL, network)
    names = list(dict.fromkeys([settings.model, settings.fast_model, settings.fallback_model]))
    return Check(name="model", state="ok", detail=check_endpoint(endpoint, names))


def _web(settings: Settings, base_url: str | None, network: Network) -> Check:
    if not settings.tavily_api_key.get_secret_value():
        return Check(name="web search", state="missing", detail="no tavily-api-key: web search is off")
    from triage.adapters.web.check_search import check_search

    return Check(name="web search", state="ok", detail=check_search(settings.tavily_api_key, base_url, network))
