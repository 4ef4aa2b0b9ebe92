"""The action's inputs, each with its default and what is allowed. `action.yml` describes them; a test compares both."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from triage.app.settings.field_checks import (
    EndpointUrl,
    ModelName,
    RepositoryPath,
    Seconds,
    Secret,
    boolean_as,
)
from triage.base.errors import BadInput, WrongUsage
from triage.domain.effect import CommentMode, LabelsMode, Policy
from triage.domain.proposal import Approvers, TestsOutcome
from triage.domain.run import AGENT_SHARE, Engine, Limits, ReasoningEffort
from triage.domain.task import BACKLOG_QUERY, TaskName

PLACEHOLDER_KEY = "sk-no-key-required"
"""Sent to an endpoint without a key; gateways that need none accept any."""
MAX_ISSUE_NUMBER = 2**31 - 1
CONFIG_FILE = ".github/triage.yml"
FIX_LIMITS = Limits(tokens=300_000, usd=2.0, run_seconds=1_500)
"""Of `fix-propose`, the triage before the patch included."""


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class Settings(BaseModel):
    """The inputs. Created by `from_runner` or `from_terminal`."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=_kebab,
        populate_by_name=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )

    github_token: Secret = SecretStr("")
    issue_number: Annotated[int, Field(ge=1, le=MAX_ISSUE_NUMBER)] | None = None
    task: TaskName = "triage"
    engine: Literal["auto", "model", "rules"] = "auto"
    model_api_key: Secret = SecretStr("")
    model_base_url: EndpointUrl | None = None
    model: ModelName = "gpt-6.1-terra"
    fast_model: ModelName = "gpt-6-luna"
    fallback_model: ModelName | None = None
    reasoning_effort: ReasoningEffort = "low"
    embedding_model: ModelName = "local"
    tavily_api_key: Secret = SecretStr("")
    web_search: Literal["auto", "github", "off"] = "auto"
    max_tokens: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = None
    max_cost_usd: Annotated[float, Field(ge=0, le=1_000)] | None = None
    max_model_runs_per_day: Annotated[int, Field(ge=0, le=100_000)] = 50
    timeout_seconds: Seconds | None = None
    comment: Annotated[CommentMode, boolean_as("always", "never")] = "auto"
    dry_run: bool = False
    labels: LabelsMode = "suggest"
    approvers: Approvers = "write"
    proposal_tests: TestsOutcome = ""
    selection: Annotated[str, Field(max_length=64)] = ""
    backlog_query: Annotated[str, Field(max_length=250)] = BACKLOG_QUERY
    backlog_batch: Annotated[int, Field(ge=1, le=256)] | None = None
    config_file: RepositoryPath = CONFIG_FILE

    @classmethod
    def from_runner(cls, environ: Mapping[str, str]) -> Self:
        """Inputs from the runner's variables, such as `INPUT_GITHUB-TOKEN`.

        `composite/action.yml` sets `INPUT_GITHUB_TOKEN`, because a shell may drop names with a hyphen.

        Raises:
            BadInput: One line that names every invalid input and what is allowed.
        """

        def read(name: str) -> str:
            return environ.get(f"INPUT_{_kebab(name).upper()}", environ.get(f"INPUT_{name.upper()}", ""))

        return cls._from_variables(read, {})

    @classmethod
    def from_terminal(cls, environ: Mapping[str, str], *, task: TaskName = "triage", **overrides: object) -> Self:
        """As `from_runner`, from variables such as `TRIAGE_GITHUB_TOKEN`; an override that is not none wins.

        The task is that of the command, whatever `TRIAGE_TASK` says.
        """
        return cls._from_variables(lambda name: environ.get(f"TRIAGE_{name.upper()}", ""), overrides | {"task": task})

    @classmethod
    def _from_variables(cls, read: Callable[[str], str], overrides: Mapping[str, object]) -> Self:
        found = {name: read(name).strip() for name in cls.model_fields}
        given: dict[str, Any] = {name: text for name, text in found.items() if text}
        options = {name: value for name, value in overrides.items() if value is not None}
        given |= options
        problems, kind = list[str](), BadInput
        settings = None
        try:
            settings = cls(**given)
        except ValidationError as error:
            details = error.errors(include_input=False)
            problems = [f"{_kebab(str(problem['loc'][0]))}: {problem['msg']}" for problem in details]
            kind = WrongUsage if any(problem["loc"][0] in options for problem in details) else BadInput
        if given.get("engine") == "model" and not ({"model_api_key", "model_base_url"} & given.keys()):
            problems.append("engine: 'model' needs model-api-key, or model-base-url for a gateway without a key")
        if problems or settings is None:
            raise kind("; ".join(problems))
        return settings

    @property
    def effective_engine(self) -> Engine:
        return "model" if self.limits().usd and self._wants_model else "rules"

    @property
    def _wants_model(self) -> bool:
        has_endpoint = bool(self.model_api_key.get_secret_value() or self.model_base_url)  # a gateway may need no key
        return self.engine == "model" or (self.engine == "auto" and has_endpoint)

    @property
    def effective_embedding_model(self) -> str:
        """The embedding model; always `local` with the rules engine, which sends no code to an endpoint."""
        return self.embedding_model if self.effective_engine == "model" else "local"

    def limits(self) -> Limits:
        """Return the limits of the task: those that are set, and the task's own."""
        default = FIX_LIMITS if self.task == "fix-propose" else Limits()
        run_seconds = default.run_seconds if self.timeout_seconds is None else self.timeout_seconds
        agent_seconds = run_seconds * AGENT_SHARE
        return default.model_copy(
            update={
                "tokens": default.tokens if self.max_tokens is None else self.max_tokens,
                "usd": default.usd if self.max_cost_usd is None else self.max_cost_usd,
                "run_seconds": run_seconds,
                "agent_seconds": agent_seconds,
                "tool_seconds": min(default.tool_seconds, agent_seconds / 2),
            }
        )

    def policy(self) -> Policy:
        return Policy(comment=self.comment, dry_run=self.dry_run, labels=self.labels)

    def choose_search(self, server_url: str, *, in_public: bool) -> Literal["tavily", "github", ""]:
        """Return where the web is searched, empty for nowhere.

        Words of a private repository's issues go to GitHub's search only if web-search says so.
        """
        if self.web_search == "auto" and self.tavily_api_key.get_secret_value():
            return "tavily"
        is_wanted = self.web_search == "github" or (self.web_search == "auto" and in_public)
        has_access = server_url == "https://github.com" and self.github_token.get_secret_value()
        return "github" if is_wanted and has_access else ""

    def feature_flags(self) -> dict[str, bool]:
        """Return what is on, by name, for the report. The web search and the memory are the app's to say."""
        by_model = self.effective_engine == "model"
        return {
            "model": by_model,
            "embedding_model": self.effective_embedding_model != "local",
            "comment": self.comment != "never",
            "labels": self.labels != "off",
            "dry_run": self.dry_run,
        }

    @property
    def warnings(self) -> list[str]:
        """Inputs without effect, and combinations that are probably mistakes, one sentence each."""
        found = {
            "model-api-key is not used: engine is rules.": self.engine == "rules" and self.model_api_key,
            "max-cost-usd is 0: every agent answers by rules.": self._wants_model and not self.limits().usd,
        }
        return [warning for warning, is_due in found.items() if is_due]
