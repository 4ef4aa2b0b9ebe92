"""Opens the clients of a triage. Features open their own clients beside it.

It imports them where it opens them: their SDKs take up to a second, and a skipped event needs none of them.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from triage import __version__
from triage.app.settings import RunnerEnvironment, Settings, collect_own_secrets
from triage.base.errors import BadInput
from triage.domain.project_config import ProjectConfig
from triage.domain.run import RunFacts
from triage.ports import (
    Codebase,
    GitHub,
    Model,
    PastIssueSource,
    ProgressLog,
    ResponseCache,
    Services,
    Telemetry,
    Tier,
    Toolset,
)
from triage.proposal_ports import IssueApprovals
from triage.safety.secrets.redactor import SecretRedactor
from triage.writes.redacting import (
    RedactingGitHub,
    RedactingPastIssues,
    RedactingResponseCache,
    RedactingTelemetry,
    RedactingTools,
)
from triage.writes.redacting_proposals import RedactingIssueApprovals

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.tools import BaseTool

    from triage.code.codebase import GitCodebase
    from triage.model.endpoint import Endpoint
    from triage.output.terminal import TerminalProgress, TerminalRunner

BuildCodebase = Callable[["RunSetup", "Embeddings | None"], Codebase]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class RunSetup:
    settings: Settings
    environment: RunnerEnvironment
    root: Path
    repository: str
    """`owner/name`, or the name of the checkout's folder when it has no remote `origin`."""
    progress: ProgressLog
    redactor: SecretRedactor
    config: ProjectConfig = field(default_factory=ProjectConfig)
    started: float = field(default_factory=time.monotonic)
    """Start of the run, by `time.monotonic`."""

    @classmethod
    def from_terminal(
        cls, environ: Mapping[str, str], root: Path, repository: str, progress: ProgressLog, engine: str | None = None
    ) -> "RunSetup":
        """A setup from `TRIAGE_*` variables, for the command line and the server. Raises BadInput."""
        return cls(
            settings=Settings.from_terminal(environ, engine=engine),
            environment=RunnerEnvironment.read(environ),
            root=root,
            repository=repository,
            progress=progress,
            redactor=SecretRedactor(collect_own_secrets(environ)),
        )

    def with_project_config(self) -> "RunSetup":
        """The same setup under the project's own settings. Raises as `read_project_config`."""
        return replace(self, config=read_project_config(self.settings, self.root) or ProjectConfig())

    def with_rules_engine(self) -> "RunSetup":
        return replace(self, settings=self.settings.with_rules_engine())


def open_terminal(report_path: Path | None, *, verbose: bool = False) -> "tuple[TerminalRunner, TerminalProgress]":
    """A terminal in place of the runner: progress on standard error, results stored for printing."""
    from triage.output.terminal import TerminalProgress, TerminalRunner, progress_console

    console = progress_console()
    return TerminalRunner(console, report_path), TerminalProgress(console, verbose=verbose)


def build_server_log() -> ProgressLog:
    from triage.output.line_logs import ServerLog

    return ServerLog()


def read_project_config(settings: Settings, root: Path) -> ProjectConfig | None:
    """The project's own settings, from the commit that will be indexed; none without a file.

    Raises:
        BadConfig: The file has errors.
        BadInput: The path is no readable file, or the workflow names a file that does not exist.
    """
    from triage.app.settings.project_file import MAX_BYTES, parse_project_config
    from triage.code.files.project_files import read_file

    path = settings.config_file
    data = read_file(root, path, MAX_BYTES)
    if data is not None:
        return parse_project_config(data, path)
    if settings.has_custom_config_file:
        raise BadInput(f"config-file: {path} is not in the checked-out commit. Fix the path, or check the file out.")
    return None


def build_github(setup: RunSetup) -> GitHub:
    """The setup's repository on GitHub. Raises BadInput if its name is not `owner/name`."""
    from triage.github.issue_tracker import IssueTracker

    token = setup.settings.github_token.get_secret_value()
    environment = setup.environment
    tracker = IssueTracker(token, setup.repository, environment.api_url, network=environment.network)
    return RedactingGitHub(tracker, setup.redactor)


def open_services(setup: RunSetup, build_codebase: "BuildCodebase | None" = None) -> Services:
    """Open everything that acts in one run. Takes seconds. `build_codebase` replaces the checkout's newest commit."""
    from triage.agents.code_tools import build_code_tools

    unstarted = open_offline_services(setup)
    responses = _open_response_cache(setup)
    model, embeddings = open_model(setup, unstarted.facts.request_id, responses)
    codebase = (build_codebase or open_checkout)(setup, embeddings)
    return replace(
        unstarted,
        codebase=codebase,
        model=model,
        web_tools=_open_web_tools(setup),
        past_issues=open_past_issues(setup),
        code_tools=_run_tools(setup, build_code_tools(codebase)) if model else None,
        telemetry=_open_telemetry(setup),
    )


def open_offline_services(setup: RunSetup) -> Services:
    """Services of a run that is cancelled before it begins: quick to open, and none of them acts."""
    settings = setup.settings
    started_at = utc_now() - timedelta(seconds=time.monotonic() - setup.started)
    return Services(
        codebase=build_local_codebase(setup),
        progress=setup.progress,
        limits=settings.limits(),
        engine=settings.effective_engine,
        facts=RunFacts(
            request_id=str(uuid.uuid4()),
            started_at=started_at,
            triage_version=__version__,
            run_url=setup.environment.run_url,
        ),
        now=utc_now,
        clock=time.monotonic,
        started=setup.started,
        supervisor=settings.supervisor,
        config=setup.config,
    )


def find_repository_name(root: Path) -> str:
    """Return `owner/name` of the checkout's remote `origin`, else the name of its folder."""
    from triage.code.git.git import read_origin

    return read_origin(root) or root.name


def build_local_codebase(setup: RunSetup) -> Codebase:
    """The checkout's index, with vectors made and stored on this machine."""
    settings = setup.settings.with_rules_engine().model_copy(update={"chroma_url": None})
    return open_checkout(replace(setup, settings=settings), None)


def open_checkout(setup: RunSetup, embeddings: "Embeddings | None") -> "GitCodebase":
    from triage.code.codebase import GitCodebase
    from triage.code.vectors.chroma_connection import connect_to_chroma, open_embedded_chroma

    settings, url = setup.settings, setup.settings.chroma_url
    folder = find_cache_folder(setup)
    return GitCodebase(
        setup.root,
        setup.repository,
        embeddings,
        settings.effective_embedding_model,
        chroma=partial(connect_to_chroma, url, setup.environment.network) if url else open_embedded_chroma,
        ignore=setup.config.ignore,
        thresholds=setup.config.thresholds,
        vector_folder=folder and folder / "vectors",
    )


def find_cache_folder(setup: RunSetup) -> Path | None:
    """Folder of what was paid for; none when nothing is cached."""
    from triage.base.private_folder import has_symlink

    if not setup.settings.cache_dir:
        return None
    folder = setup.root / setup.settings.cache_dir
    # A link in the checkout may lead anywhere on this machine.
    return None if any(has_symlink(setup.root, folder / name) for name in ("runs", "scorecard", "vectors")) else folder


def _open_response_cache(setup: RunSetup) -> ResponseCache | None:
    from triage.base.private_folder import make_private_folder
    from triage.model.response_cache import FileResponseCache

    folder = find_cache_folder(setup)
    if folder is None:
        if setup.settings.cache_dir:
            setup.progress.info("Nothing is cached: cache-dir leads through a symbolic link of the repository.")
        return None
    cache = FileResponseCache(make_private_folder(folder / "runs"), setup.progress.info, utc_now)
    return RedactingResponseCache(cache, setup.redactor)


def open_past_issues(setup: RunSetup) -> PastIssueSource | None:
    settings, environment = setup.settings, setup.environment
    token, limit = settings.github_token.get_secret_value(), settings.memory_issues
    if not token or not limit or "/" not in setup.repository:
        return None
    from triage.github.issue_tracker import IssueTracker

    # It only reads, but GraphQL's questions are POST requests, before which PyGithub would wait as before writes.
    tracker = IssueTracker(
        token, setup.repository, environment.api_url, seconds_between_writes=0.0, network=environment.network
    )
    return RedactingPastIssues(partial(tracker.iterate_past_issues, limit), setup.redactor)


def build_issue_approvals(setup: RunSetup) -> IssueApprovals:
    """What approving suggestions asks of the setup's repository. Raises BadInput as `build_github`."""
    from triage.github.issue_approvals import GitHubIssueApprovals

    token, environment = setup.settings.github_token.get_secret_value(), setup.environment
    approvals = GitHubIssueApprovals(token, setup.repository, environment.api_url, network=environment.network)
    return RedactingIssueApprovals(approvals, setup.redactor)


def open_model(
    setup: RunSetup, request_id: str, responses: ResponseCache | None
) -> tuple[Model | None, "Embeddings | None"]:
    settings, redactor = setup.settings, setup.redactor
    if settings.effective_engine == "rules":
        return None, None
    from triage.model.budget import Budget
    from triage.model.cached_replies import CachedReplies
    from triage.model.chat_model import ChatModel
    from triage.model.embeddings import MeteredEmbeddings
    from triage.model.endpoint_features import EndpointFeatures
    from triage.model.model_retry import RetryPolicy
    from triage.model.token_count import PriceTable

    limits = settings.limits()
    budget = Budget(limits, PriceTable(setup.config.prices), time.monotonic, utc_now)
    retry = RetryPolicy(time.monotonic)
    endpoint = build_endpoint(setup, request_id)
    models: dict[Tier, str] = {"main": settings.model, "fast": settings.fast_model}
    replies = CachedReplies(responses, endpoint.base_url)
    redact = redactor.redactor_for("model's prompt"), redactor.redactor_for("model's answer")
    features = EndpointFeatures(endpoint.base_url)
    chat = ChatModel(endpoint, models, settings.fallback_model, budget, retry, replies, *redact, features)
    name = settings.effective_embedding_model
    if name == "local":
        return chat, None
    redact_texts = redactor.redactor_for("texts for vectors")
    return chat, MeteredEmbeddings(endpoint, name, budget, limits, retry, redact_texts)


def build_endpoint(setup: RunSetup, request_id: str) -> "Endpoint":
    from triage.model.endpoint import OPENAI_URL, Endpoint

    base_url = setup.settings.model_base_url or OPENAI_URL
    return Endpoint(setup.settings.endpoint_key, request_id, base_url, setup.environment.network)


def _open_web_tools(setup: RunSetup) -> Toolset | None:
    key, environment = setup.settings.tavily_api_key, setup.environment
    if not key.get_secret_value():
        return None
    from triage.web.web_search_tool import build_search_tool

    redact = setup.redactor.redactor_for("search query")
    return _run_tools(setup, [build_search_tool(key, environment.tavily_base_url, environment.network, redact)])


def _run_tools(setup: RunSetup, tools: "list[BaseTool]") -> Toolset:
    from triage.graph.tool_runner import ToolRunner

    seconds = setup.settings.limits().tool_seconds
    return RedactingTools(ToolRunner(tools, seconds, setup.progress, utc_now, time.monotonic), setup.redactor)


def _open_telemetry(setup: RunSetup) -> Telemetry | None:
    collector = setup.environment.collector
    if collector is None:
        return None
    from triage.output.telemetry.otlp_exporter import OtlpExporter

    exporter = OtlpExporter(collector, setup.progress, setup.environment.network)
    return RedactingTelemetry(exporter, setup.redactor)
