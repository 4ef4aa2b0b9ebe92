"""The action's inputs: default, unit, meaning.

The descriptions are those of `action.yml`, and the defaults too; a test holds them together.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from triage.domain.effect import LabelsMode, Policy
from triage.domain.run import Engine, Limits
from triage.errors import BadInput
from triage.settings.field_checks import (
    EndpointUrl,
    FilePath,
    Flag,
    ModelName,
    RepositoryPath,
    Seconds,
    Secret,
    decimal_number,
    one_of,
    whole_number,
)

PLACEHOLDER_KEY = "sk-no-key-required"
"""Sent to an endpoint that was given without a key; gateways that need none accept any."""
MAX_ISSUE_NUMBER = 2**31 - 1


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class Settings(BaseSettings):
    """The inputs. Built by `from_runner` or `from_terminal`, never from the process's environment behind our back."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=_kebab,
        populate_by_name=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )

    github_token: Secret = Field(SecretStr(""), description="Token used to read the issue and to write the comment.")
    issue_number: Annotated[int, whole_number(1, MAX_ISSUE_NUMBER)] | None = Field(
        None,
        description="Number of the issue to triage. Required for workflow_dispatch, repository_dispatch and schedule "
        "events; other events name the issue themselves.",
    )
    engine: Annotated[Literal["auto", "model", "rules"], one_of("auto", "model", "rules")] = Field(
        "auto",
        description="Which engine answers: model, rules, or auto. auto uses a model when model-api-key or "
        "model-base-url is set, and rules otherwise.",
    )
    model_api_key: Secret = Field(
        SecretStr(""), description="API key for OpenAI or for the OpenAI-compatible endpoint in model-base-url."
    )
    model_base_url: EndpointUrl | None = Field(
        None,
        description="Base URL of an OpenAI-compatible endpoint (LiteLLM, vLLM, Azure, Ollama). Empty uses OpenAI.",
    )
    model: ModelName = Field("gpt-4o", description="Model for the codebase search, critic and writer agents.")
    fast_model: ModelName = Field(
        "gpt-4o-mini", description="Model for the investigator and web search agents and for the supervisor."
    )
    fallback_model: ModelName = Field(
        "gpt-4o-mini", description="Model to ask once when the first model stays rate-limited or unreachable."
    )
    supervisor: Annotated[Engine, one_of("rules", "model")] = Field(
        "rules",
        description="Who proposes the next agents: rules, or model (the fast model; the routing rules still decide "
        "what is allowed).",
    )
    embedding_model: ModelName = Field(
        "local", description="Source of the code vectors: local, or the name of an embedding model at the endpoint."
    )
    tavily_api_key: Secret = Field(
        SecretStr(""),
        description="API key for web search with Tavily. Empty disables web search.",
    )
    max_iterations: Annotated[int, whole_number(1, 100)] = Field(
        12, description="Maximum supervisor decisions per run."
    )
    max_tokens: Annotated[int, whole_number(1_000, 100_000_000)] = Field(
        100_000, description="Maximum tokens per run, counting input and output of all model calls."
    )
    max_cost_usd: Annotated[float, decimal_number(0, 1_000, " of US dollars")] = Field(
        1.00, description="Maximum cost per run in US dollars. 0 disables the model."
    )
    max_model_runs_per_day: Annotated[int, whole_number(0, 100_000)] = Field(
        50,
        description="Maximum issues opened within 24 hours that a model triages; rules triage the rest. A model "
        "triages the same issue at most five times a day. /triage from a user with write access is exempt.",
    )
    timeout_seconds: Seconds = Field(300, description="Timeout for the whole run, in seconds.")
    agent_timeout_seconds: Seconds = Field(60, description="Timeout for one agent, in seconds.")
    tool_timeout_seconds: Seconds = Field(30, description="Timeout for one tool call, in seconds.")
    comment: Flag = Field(
        True, description="Whether to comment on the issue. false writes only the job summary and the outputs."
    )
    dry_run: Flag = Field(
        False, description="Whether to decide everything but write nothing to GitHub. The job summary shows the plan."
    )
    labels: Annotated[LabelsMode, one_of("off", "suggest", "apply")] = Field(
        "suggest",
        description="What to do with labels: off, suggest (name them in the comment), or apply (add existing labels, "
        "never remove any).",
    )
    config_file: RepositoryPath = Field(
        ".github/triage.yml",
        description="Path of the project settings file, read from the indexed commit. The file is optional.",
    )
    cache_dir: FilePath | None = Field(
        None,
        description="Folder for the index and for paid model replies, to be kept between jobs with actions/cache. "
        "Empty disables caching.",
    )
    chroma_url: EndpointUrl | None = Field(
        None,
        description="URL of a Chroma server for the vectors, for shared or very large indexes. Empty keeps the "
        "vectors in memory.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """No variable and no `.env` of the workspace is read unless a constructor below names it."""
        del settings_cls
        return (init_settings,)

    @classmethod
    def from_runner(cls, environ: Mapping[str, str]) -> Self:
        """Inputs as GitHub's runner passes them: `INPUT_GITHUB-TOKEN`, upper case with hyphens.

        Raises:
            BadInput: One line that names every input at fault, its value unless it is a secret, and what is allowed.
        """
        return cls._from_variables(environ, lambda name: f"INPUT_{_kebab(name).upper()}", {})

    @classmethod
    def from_terminal(cls, environ: Mapping[str, str], **overrides: object) -> Self:
        """Inputs from `TRIAGE_GITHUB_TOKEN` and the like; an override that is not none wins.

        Raises:
            BadInput: As `from_runner`.
        """
        return cls._from_variables(environ, lambda name: f"TRIAGE_{name.upper()}", overrides)

    @classmethod
    def _from_variables(cls, environ: Mapping[str, str], variable: Any, overrides: Mapping[str, object]) -> Self:
        found = {name: environ.get(variable(name), "").strip() for name in cls.model_fields}
        given: dict[str, Any] = {name: text for name, text in found.items() if text}
        given |= {name: value for name, value in overrides.items() if value is not None}
        faults: list[str] = []
        settings = None
        try:
            settings = cls(**given)
        except ValidationError as error:
            faults = _describe_errors(error)
        if given.get("engine") == "model" and not ({"model_api_key", "model_base_url"} & given.keys()):
            faults.append("engine: 'model' needs model-api-key, or model-base-url for a gateway that asks for no key")
        if faults or settings is None:
            raise BadInput("; ".join(faults))
        return settings

    @property
    def has_endpoint(self) -> bool:
        """Whether there is a model endpoint to ask: a key, or a gateway that may do without."""
        return bool(self.model_api_key.get_secret_value() or self.model_base_url)

    @property
    def effective_engine(self) -> Engine:
        """Who answers in this run."""
        if not self.max_cost_usd:
            return "rules"
        return "model" if self.engine == "model" or (self.engine == "auto" and self.has_endpoint) else "rules"

    def with_rules_engine(self) -> Self:
        """The same inputs, and no model is asked."""
        return self.model_copy(update={"engine": "rules"})

    @property
    def endpoint_key(self) -> SecretStr:
        """The key, or the placeholder for a gateway that asks for none."""
        return self.model_api_key if self.model_api_key.get_secret_value() else SecretStr(PLACEHOLDER_KEY)

    @property
    def effective_embedding_model(self) -> str:
        """`local`, or the endpoint's model when a model answers: by rules, code stays on this machine."""
        return self.embedding_model if self.effective_engine == "model" else "local"

    @property
    def has_custom_config_file(self) -> bool:
        """Whether the workflow names a file of its own for the project's settings."""
        return self._is_changed("config_file")

    @property
    def secrets(self) -> list[str]:
        """Values that must appear nowhere; the placeholder is none."""
        held = (self.github_token, self.model_api_key, self.tavily_api_key)
        return [text for text in (secret.get_secret_value() for secret in held) if text]

    def limits(self) -> Limits:
        """What the run may spend."""
        return Limits(
            iterations=self.max_iterations,
            tokens=self.max_tokens,
            usd=self.max_cost_usd,
            run_seconds=self.timeout_seconds,
            agent_seconds=self.agent_timeout_seconds,
            tool_seconds=self.tool_timeout_seconds,
        )

    def policy(self) -> Policy:
        """What the run may write."""
        return Policy(comment=self.comment, dry_run=self.dry_run, labels=self.labels)

    @property
    def warnings(self) -> list[str]:
        """Combinations that do not do what they look like, one sentence each."""
        by_rules = self.effective_engine == "rules"
        named = [name for name in ("model", "fast_model", "fallback_model") if self._is_changed(name)]
        said = [
            (
                self.engine == "rules" and self._is_changed("model_api_key"),
                "model-api-key is not used: engine is rules.",
            ),
            (
                not self.max_cost_usd and (self.engine == "model" or (self.engine == "auto" and self.has_endpoint)),
                "max-cost-usd is 0: every agent answers by rules.",
            ),
            (
                by_rules and self.supervisor == "model",
                "supervisor: model is not used: the rules engine answers.",
            ),
            (
                by_rules and bool(named),
                f"{' and '.join(map(_kebab, named))} not used: the rules engine answers.",
            ),
            (
                self.effective_embedding_model != self.embedding_model,
                "embedding-model is used by the model engine only: local vectors are used.",
            ),
            (
                not by_rules and self.fallback_model == self.model,
                "fallback-model equals model: nothing takes over when it fails.",
            ),
            (
                self._is_changed("agent_timeout_seconds") and self.agent_timeout_seconds > self.timeout_seconds,
                "agent-timeout-seconds is longer than timeout-seconds, which ends the run first.",
            ),
            (
                self._is_changed("tool_timeout_seconds") and self.tool_timeout_seconds > self.agent_timeout_seconds,
                "tool-timeout-seconds is longer than agent-timeout-seconds, which ends the agent first.",
            ),
        ]
        return [sentence for applies, sentence in said if applies]

    def _is_changed(self, name: str) -> bool:
        # Not `model_fields_set`: the runner passes every default of action.yml as if somebody had set it.
        return bool(getattr(self, name) != type(self).model_fields[name].default)


def _describe_errors(error: ValidationError) -> list[str]:
    """All that is wrong with the inputs, without pydantic's words and without a secret's value."""
    return [f"{_kebab(str(fault['loc'][0]))}: {fault['msg']}" for fault in error.errors(include_input=False)]
