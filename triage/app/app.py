"""What one process has: its settings, and the clients of the outside, each opened when something asks for it.

Clients are imported where they are opened: their SDKs take up to a second, and a skipped event needs none of them.
Features open their own clients beside it (`open_fix_job`, `open_past_services`).
"""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import SecretStr

from triage import __version__
from triage.app.settings.inputs import CONFIG_FILE, PLACEHOLDER_KEY, Settings
from triage.app.settings.runner_environment import RunnerEnvironment
from triage.base.errors import BadConfig, BadInput
from triage.base.strict_yaml import InvalidYaml, decode_strictly, parse_strictly
from triage.domain.project_config import ProjectConfig
from triage.domain.run import READING_SHARE
from triage.outside.output.job_output import read_event
from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.embeddings import Embeddings
    from langchain_core.tools import BaseTool

    from triage.agents.services import IteratePastIssues, Services
    from triage.agents.tool_runner import ToolRunner
    from triage.base.progress import ProgressLog
    from triage.domain.issue import Attachment, Issue
    from triage.domain.report import RunReport
    from triage.domain.run import Tier
    from triage.find.codebase import Codebase
    from triage.outside.github.issue_tracker import IssueTracker
    from triage.outside.github.repository_connection import RepositoryConnection
    from triage.outside.model.chat_model import ChatModel
    from triage.outside.model.endpoint import Endpoint
    from triage.run.job_context import JobContext, Output
    from triage.run.may_run.event import Event

WRITING_SECONDS = 15.0
"""Added to the run's time for writing. A comment takes one or two seconds, unless GitHub asks us to wait."""
MAX_CONFIG_BYTES = 64 * 1024
LOCAL_WRITE_SECONDS = 0.5
"""Reserved after a signal for the files on this machine."""
C = TypeVar("C", bound="RepositoryConnection")


def utc_now() -> datetime:
    return datetime.now(UTC)


def parse_project_config(data: bytes, path: str) -> ProjectConfig:
    """Return the settings in a file's bytes. Raises BadConfig: one line that has every error with its line."""
    try:
        return parse_strictly(decode_strictly(data, MAX_CONFIG_BYTES), ProjectConfig) or ProjectConfig()
    except InvalidYaml as error:
        raise BadConfig(path, error.line, f"{path} cannot be used: {error}.") from None


@dataclass(frozen=True)
class App:
    settings: Settings
    environment: RunnerEnvironment
    root: Path
    repository: str
    """`owner/name`, or the name of the checkout's folder when it has no remote `origin`."""
    progress: ProgressLog
    redactor: SecretRedactor
    """Every client and writer gets it, and masks our secrets by it."""
    config: ProjectConfig = field(default_factory=ProjectConfig)
    started: float = field(default_factory=time.monotonic)
    """Start of the run, by `time.monotonic`."""

    @property
    def workspace(self) -> Path:
        """The folder of a job's own files. The checkout may lie below it."""
        return self.environment.workspace or self.root

    def with_project_config(self) -> App:
        """Return the app with the project's own settings, read by git. Raises as `read_project_config`."""
        return replace(self, config=self.read_project_config() or ProjectConfig())

    def with_checkout_folder(self) -> App:
        """Return the app for the repository that the job has checked out, which may lie below the workspace."""
        from triage.git.commit import find_checkout

        root = find_checkout(self.root, self.repository)
        if root != self.root:
            self.progress.info(f"The repository is read in {root.relative_to(self.root)}/, below the workspace.")
        return replace(self, root=root)

    def read_project_config(self) -> ProjectConfig | None:
        """Return the project's own settings, from the commit that will be indexed; None without a file.

        Raises:
            BadConfig: The file has errors.
            BadInput: The path is no readable file, or the workflow names a file that does not exist.
        """
        from triage.find.files.project_files import read_file

        path = self.settings.config_file
        data = read_file(self.root, path, MAX_CONFIG_BYTES)
        if data is not None:
            return parse_project_config(data, path)
        if path != CONFIG_FILE:  # the runner sets every input, also those with the default
            raise BadInput(
                f"config-file: {path} is not in the checked-out commit. Fix the path, or check the file out."
            )
        return None

    def read_event(self) -> dict[str, Any]:
        """Return the payload of the runner's event. Raises BadInput if there is none."""
        payload: dict[str, Any] = self.redactor.redactor_for("event")(read_event(self.environment.event_path))
        return payload

    # GitHub

    @cached_property
    def github(self) -> IssueTracker:
        """The repository on GitHub. Raises BadInput if its name is not `owner/name`."""
        from triage.outside.github.issue_tracker import IssueTracker

        return self.open_github(IssueTracker)

    def open_github(self, client: type[C], **options: Any) -> C:
        """Return a client of the repository. Raises BadInput as `github`."""
        token = self.settings.github_token.get_secret_value()
        return client(token, self.repository, self.environment.api_url, redactor=self.redactor, **options)

    def open_past_issues(self) -> IteratePastIssues | None:
        """Return what reads past issues; None without a token or a repository on GitHub, or when it is off."""
        token, limit = self.settings.github_token.get_secret_value(), self.config.past_issues
        if not token or not limit or "/" not in self.repository:
            return None
        from triage.run.job_context import iterate_visible

        return partial(iterate_visible, partial(self.github.iterate_past_issues, limit))

    # What a job and one triage act through

    def make_job_context(
        self,
        output: Output,
        event: Event | None,
        cancelled: asyncio.Event,
        seconds_until_killed: Callable[[], float],
    ) -> JobContext:
        """Return what a job acts through, with the times that the settings and a signal leave it."""
        from triage.domain.issue import Repository
        from triage.run.job_context import JobContext

        run_seconds = self.settings.limits().run_seconds

        def github_seconds_left() -> float:
            return max(1.0, self.started + run_seconds * READING_SHARE - time.monotonic())

        def seconds_left() -> float:
            after_run = self.started + run_seconds + WRITING_SECONDS - time.monotonic()
            return min(after_run, seconds_until_killed() - LOCAL_WRITE_SECONDS)

        return JobContext(
            github=self.github,
            output=output,
            progress=self.progress,
            policy=self.settings.policy(),
            repository=Repository(slug=self.repository, server_url=self.environment.server_url),
            open_services=self.open_services,
            max_model_runs=self.settings.max_model_runs_per_day if self.settings.effective_engine == "model" else None,
            now=utc_now,
            cancelled=cancelled,
            event=event,
            config=self.config,
            seconds_left=seconds_left,
            github_seconds_left=github_seconds_left,
        )

    def open_services(
        self, build_codebase: Callable[[App, Embeddings | None], Codebase] | None = None, *, by_rules: bool = False
    ) -> Services:
        """Open everything that acts in one triage. Takes seconds.

        `build_codebase` replaces the checkout's newest commit; `by_rules` opens no model, whatever the settings say.
        """
        if by_rules:
            settings = self.settings.model_copy(update={"engine": "rules"})
            return replace(self, settings=settings).open_services(build_codebase)
        from triage.agents.code_tools import build_code_tools
        from triage.agents.services import Services
        from triage.domain.run import RunIdentity

        identity = RunIdentity(
            request_id=str(uuid.uuid4()),
            started_at=utc_now() - timedelta(seconds=time.monotonic() - self.started),
            triage_version=__version__,
            run_url=self.environment.run_url,
            feature_flags=self.settings.feature_flags()
            | {"web_search": bool(self.web_search), "memory": self.config.past_issues > 0},
        )
        model, embeddings = self.open_models(identity.request_id)
        codebase = build_codebase(self, embeddings) if build_codebase else self.open_codebase(embeddings)
        return Services(
            codebase=codebase,
            progress=self.progress,
            limits=self.settings.limits(),
            engine=self.settings.effective_engine,
            identity=identity,
            now=utc_now,
            clock=time.monotonic,
            started=self.started,
            config=self.config,
            searches_for_features=self.settings.policy().comment == "always",
            model=model,
            web_tools=self._open_web_tools(),
            read_attachments=self._open_attachment_reader(model),
            iterate_past_issues=self.open_past_issues(),
            code_tools=self._make_tool_runner(build_code_tools(codebase)) if model else None,
            export_report=self._open_span_export(),
        )

    def open_codebase(self, embeddings: Embeddings | None) -> Codebase:
        """Return the checkout's index. Without `embeddings`, its vectors are made and stored on this machine."""
        from triage.find.codebase import Codebase

        return Codebase(
            self.root,
            self.repository,
            embeddings,
            self.settings.effective_embedding_model if embeddings else "local",
            ignore=self.config.ignore,
        )

    def open_models(self, request_id: str) -> tuple[ChatModel | None, Embeddings | None]:
        """Return the chat model and the one for vectors; None for what runs by rules or on this machine."""
        settings, redactor = self.settings, self.redactor
        if settings.effective_engine == "rules":
            return None, None
        from triage.outside.model.budget import Budget
        from triage.outside.model.chat_model import ChatModel
        from triage.outside.model.embeddings import MeteredEmbeddings
        from triage.outside.model.endpoint import RetryPolicy

        budget = Budget(settings.limits(), self.config.prices, time.monotonic, utc_now)
        retry = RetryPolicy(time.monotonic)
        endpoint = self.open_endpoint(request_id)
        models: dict[Tier, str] = {"main": settings.model, "fast": settings.fast_model}
        redact = redactor.redactor_for("model's prompt"), redactor.redactor_for("model's answer")
        chat = ChatModel(endpoint, models, settings.fallback_model or "", budget, retry, *redact)
        name = settings.effective_embedding_model
        if name == "local":
            return chat, None
        redact_texts = redactor.redactor_for("texts for vectors")
        return chat, MeteredEmbeddings(endpoint, name, budget, retry, redact_texts)

    def open_endpoint(self, request_id: str) -> Endpoint:
        from triage.outside.model.endpoint import OPENAI_URL, Endpoint

        settings = self.settings
        key = settings.model_api_key if settings.model_api_key.get_secret_value() else SecretStr(PLACEHOLDER_KEY)
        return Endpoint(key, request_id, settings.model_base_url or OPENAI_URL, settings.reasoning_effort)

    @cached_property
    def web_search(self) -> Literal["tavily", "github", ""]:
        """Where the web is searched; empty for nowhere.

        Words of a private repository's issues go to GitHub's search only if web-search says so.
        """
        settings = self.settings
        if settings.web_search == "auto" and settings.tavily_api_key.get_secret_value():
            return "tavily"
        repository = self.read_event().get("repository") if self.environment.event_path else None
        in_public = isinstance(repository, dict) and repository.get("private") is False
        is_wanted = settings.web_search == "github" or (settings.web_search == "auto" and in_public)
        has_access = self.environment.server_url == "https://github.com" and settings.github_token.get_secret_value()
        return "github" if is_wanted and has_access else ""

    def _open_web_tools(self) -> ToolRunner | None:
        environment, settings = self.environment, self.settings
        redact = self.redactor.redactor_for("web search")
        if self.web_search == "tavily":
            from triage.outside.web.web_search_tool import build_search_tool

            key, url = settings.tavily_api_key, environment.tavily_base_url
            return self._make_tool_runner([build_search_tool(key, url, redact)])
        if self.web_search == "github":
            from triage.outside.github.issue_search import IssueSearch
            from triage.outside.web.github_search import build_github_search

            return self._make_tool_runner([build_github_search(self.open_github(IssueSearch), redact)])
        return None

    def _open_attachment_reader(self, model: ChatModel | None) -> Callable[[Issue], list[Attachment]] | None:
        if not self.config.attachments or not self.environment.server_url:
            return None
        from triage.outside.github.attachment_reader import AttachmentReader

        redact = self.redactor.redactor_for("attachment")
        return AttachmentReader(self.environment.server_url, redact, model is not None and model.takes_pictures).read

    def _make_tool_runner(self, tools: list[BaseTool]) -> ToolRunner:
        from triage.agents.tool_runner import ToolRunner

        return ToolRunner(tools, self.settings.limits().tool_seconds, self.progress, utc_now, time.monotonic)

    def _open_span_export(self) -> Callable[[RunReport], None] | None:
        collector = self.environment.collector
        if collector is None:
            return None
        from triage.outside.output.telemetry import export_spans

        return partial(export_spans, collector, self.progress, self.redactor)
