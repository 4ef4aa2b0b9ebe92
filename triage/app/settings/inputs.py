"""The action's inputs, with default and description. A test compares them with `action.yml`."""

from collections.abc import Callable, Iterator, Mapping
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
from triage.domain.proposal import Approvers, ProposalTests
from triage.domain.run import AGENT_SHARE, Engine, Limits, ReasoningEffort
from triage.domain.task import BACKLOG_QUERY, TaskName

PLACEHOLDER_KEY = "sk-no-key-required"
"""Sent to an endpoint without a key; gateways that need none accept any."""
MAX_ISSUE_NUMBER = 2**31 - 1
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

    github_token: Secret = Field(SecretStr(""), description="Token used to read the issue and to write the comment.")
    issue_number: Annotated[int, Field(ge=1, le=MAX_ISSUE_NUMBER)] | None = Field(
        None,
        description="Number of the issue. Needed where the event brings none: workflow_dispatch, repository_dispatch, "
        "schedule.",
    )
    task: TaskName = Field(
        "triage",
        description="What the job does: triage; fix-gate, fix-propose, fix-store, fix-report or fix-apply "
        "(docs/fix.md); reproduce-select, reproduce-run or reproduce-report (docs/reproduce.md); backlog-list, "
        "backlog-run or backlog-merge (docs/scale.md); scorecard (docs/scorecard.md); or doctor, which tries what the "
        "action needs of GitHub with the job's token.",
    )
    engine: Literal["auto", "model", "rules"] = Field(
        "auto",
        description="Who answers: model, rules, or auto, which is a model when model-api-key or model-base-url is set.",
    )
    model_api_key: Secret = Field(
        SecretStr(""), description="API key for OpenAI, or for the endpoint in model-base-url."
    )
    model_base_url: EndpointUrl | None = Field(
        None,
        description="Base URL of an OpenAI-compatible endpoint (LiteLLM, vLLM, Azure, Ollama). Empty uses OpenAI.",
    )
    model: ModelName = Field("gpt-6.1-terra", description="Model for the codebase search and critic agents.")
    fast_model: ModelName = Field(
        "gpt-6-luna", description="Model for the investigator, for the web search, and for the ticket."
    )
    fallback_model: ModelName | None = Field(
        None,
        description="Model that is asked when one fails. Empty: model and fast-model stand in for each other.",
    )
    reasoning_effort: ReasoningEffort = Field(
        "low",
        description="How long models think before they answer: none, low, medium or high. A model that does not know "
        "it is asked without.",
    )
    embedding_model: ModelName = Field(
        "local", description="Source of the code vectors: local, or the name of an embedding model at the endpoint."
    )
    tavily_api_key: Secret = Field(
        SecretStr(""),
        description="API key for web search with Tavily. Without it, see web-search.",
    )
    web_search: Literal["auto", "github", "off"] = Field(
        "auto",
        description="Where an error is looked up. auto: by Tavily with a key, else, for a public repository, in the "
        "issues of the package whose code raised it. github: the latter, also for a private repository. off: nowhere.",
    )
    max_tokens: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = Field(
        None,
        description="Maximum tokens, counting input and output of all model calls. Empty: 100000 for a triage, 300000 "
        "for fix-propose with its triage.",
    )
    max_cost_usd: Annotated[float, Field(ge=0, le=1_000)] | None = Field(
        None,
        description="Maximum cost in US dollars; 0 disables the model. Empty: 1.00 for a triage or a batch of a "
        "backlog, 2.00 for fix-propose with its triage.",
    )
    max_model_runs_per_day: Annotated[int, Field(ge=0, le=100_000)] = Field(
        50,
        description="Maximum issues opened within 24 hours that a model triages, each at most five times a day; rules "
        "do the rest. /triage of a person with write access is exempt.",
    )
    timeout_seconds: Seconds | None = Field(
        None,
        description="Timeout for an issue, in seconds; an agent has a fifth of it. Raise it for a slow local model. "
        "Empty: 300, and 1500 for fix-propose.",
    )
    comment: Annotated[CommentMode, boolean_as("always", "never")] = Field(
        "auto",
        description="When to comment: auto (when there is something to tell or to ask, or a person asked for the run), "
        "always, or never. true is always, and false is never.",
    )
    dry_run: bool = Field(
        False, description="Whether to write nothing to GitHub. The job summary shows what would be written."
    )
    labels: LabelsMode = Field(
        "suggest",
        description="What to do with labels: off, suggest (in GitHub's panel, or in the comment where there is none), "
        "or apply (add existing labels; only needs-info-label is ever taken off).",
    )
    approvers: Approvers = Field(
        "write",
        description="Who may approve a patch: write (anybody with write access), or owners (those of them whom "
        "CODEOWNERS names for each changed file).",
    )
    proposal_tests: ProposalTests = Field(
        "",
        description="For the task fix-report: what the project's tests said, as the job verify found it (docs/fix.md).",
    )
    selection: Annotated[str, Field(max_length=64)] = Field(
        "",
        description="For the task reproduce-report: the output reproduce-selection of the job with reproduce-select.",
    )
    backlog_query: Annotated[str, Field(max_length=250)] = Field(
        BACKLOG_QUERY, description="Search of GitHub that chooses the issues of a backlog, newest first."
    )
    backlog_batch: Annotated[int, Field(ge=1, le=256)] | None = Field(
        None, description="For the task backlog-run: the number of its batch."
    )
    config_file: RepositoryPath = Field(
        ".github/triage.yml",
        description="Path of the project settings, read from the indexed commit. The file is optional.",
    )

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
            problems = _describe_errors(error)
            kind = WrongUsage if any(problem["loc"][0] in options for problem in error.errors()) else BadInput
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
    def endpoint_key(self) -> SecretStr:
        return self.model_api_key if self.model_api_key.get_secret_value() else SecretStr(PLACEHOLDER_KEY)

    @property
    def effective_embedding_model(self) -> str:
        """The embedding model; always `local` with the rules engine, which sends no code to an endpoint."""
        return self.embedding_model if self.effective_engine == "model" else "local"

    @property
    def has_custom_config_file(self) -> bool:
        return self._is_changed("config_file")

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
        return list(self._find_warnings())

    def _find_warnings(self) -> Iterator[str]:
        if self.engine == "rules" and self._is_changed("model_api_key"):
            yield "model-api-key is not used: engine is rules."
        if self._wants_model and not self.limits().usd:
            yield "max-cost-usd is 0: every agent answers by rules."

    def _is_changed(self, name: str) -> bool:
        # `model_fields_set` cannot be used: the runner sets every input, also those with the default of action.yml.
        return bool(getattr(self, name) != type(self).model_fields[name].default)


def _describe_errors(error: ValidationError) -> list[str]:
    return [f"{_kebab(str(problem['loc'][0]))}: {problem['msg']}" for problem in error.errors(include_input=False)]
