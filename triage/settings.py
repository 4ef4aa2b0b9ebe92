"""Every input: default, unit, meaning. The only reader of the environment.

The descriptions are those of `action.yml`, and the defaults too; a test holds them together.
"""

import difflib
import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from triage.domain.effect import LabelsMode, Policy
from triage.domain.run import Engine, Limits
from triage.domain.value import Value
from triage.errors import BadInput

PLACEHOLDER_KEY = "sk-no-key-required"
"""Sent to an endpoint that was given without a key; gateways that need none accept any."""
LONGEST_SHOWN_CHARS = 40
HIGHEST_ISSUE = 2**31 - 1
_TRUTH = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}


def _refuse(message: str) -> PydanticCustomError:
    return PydanticCustomError("input", "{message}", {"message": message})


def _shown(value: object) -> str:
    """The value on one line, short, with everything odd escaped."""
    text = str(value)
    return ascii(text if len(text) <= LONGEST_SHOWN_CHARS else text[:LONGEST_SHOWN_CHARS] + "...")


def _one_of(*allowed: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value in allowed:
            return value
        near = difflib.get_close_matches(str(value).lower(), allowed, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise _refuse(f"{_shown(value)} is not one of {', '.join(allowed)}{hint}")

    return BeforeValidator(check)


def _flag(value: Any) -> Any:
    """A boolean as YAML's core schema spells it, which is what GitHub's own toolkit takes."""
    if isinstance(value, bool):
        return value
    if value in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return value.lower() == "true"
    near = _TRUTH.get(str(value).lower())
    hint = f"; did you mean {near}?" if near else ""
    raise _refuse(f"{_shown(value)} is not one of true, false{hint}")


def _whole(lowest: int, highest: int, unit: str = "") -> BeforeValidator:
    def check(value: Any) -> Any:
        text = str(value)
        # int() alone would take other scripts' digits, underscores and a sign.
        if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,18}", text) or not lowest <= int(text) <= highest:
            hint = f"; did you mean {text[1:]}?" if re.fullmatch(r"#[1-9][0-9]{0,8}", text) else ""
            raise _refuse(f"{_shown(value)} is not a whole number{unit} from {lowest} to {highest}{hint}")
        return int(text)

    return BeforeValidator(check)


def _amount(lowest: float, highest: float, unit: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        text = str(value)
        if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", text):
            raise _refuse(f"{_shown(value)} is not a number{unit} such as 0.50")
        if not lowest <= float(text) <= highest:
            raise _refuse(f"{_shown(value)} is not a number{unit} from {lowest:g} to {highest:g}")
        return float(text)

    return BeforeValidator(check)


def _name(value: Any) -> Any:
    if not re.fullmatch(r"[!-~]{1,200}", str(value)):
        raise _refuse(f"{_shown(value)} is not a model's name: printable ASCII without spaces, at most 200 characters")
    return value


def _key(value: Any) -> Any:
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if text and not re.fullmatch(r"[!-~]+", text):
        raise _refuse("the value has a space, a line break or another character that no key has")
    return value


def _endpoint(value: Any) -> Any:
    """A base URL that a key may be sent to. The value is never shown: it might hold a password."""
    text = str(value)
    try:
        url = urlsplit(text)
        host, _ = url.hostname or "", url.port
    except ValueError:
        raise _refuse("the value is no URL") from None
    if not re.fullmatch(r"[!-~]+", text) or not host or url.scheme not in ("http", "https"):
        raise _refuse("the value is no URL that starts with https:// (or http:// for a private address)")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise _refuse("the URL must not hold a user name, a password, a query or a fragment")
    if url.scheme == "http" and not _is_private(host):
        raise _refuse("http:// is for loopback and private addresses; use https://")
    return text.rstrip("/")


def _is_private(host: str) -> bool:
    """Whether a name or an address can only be near: a key may go there without TLS."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # No dots, and no number in disguise (http://134744072 is 8.8.8.8). `.localhost` is RFC 6761,
        # `.internal` is reserved by ICANN for private use (host.docker.internal).
        return bool(re.fullmatch(r"[a-z][a-z0-9_-]*|([a-z0-9_-]+\.)+(localhost|internal)", host))
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    return address.is_loopback or (address.is_private and not (address.is_link_local or address.is_unspecified))


Flag = Annotated[bool, BeforeValidator(_flag)]
Secret = Annotated[SecretStr, BeforeValidator(_key)]
ModelName = Annotated[str, BeforeValidator(_name)]
Seconds = Annotated[int, _whole(1, 21_600, " of seconds")]
"""GitHub ends a job after six hours."""


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

    github_token: Secret = Field(SecretStr(""), description="Token that reads the issue and writes the comment.")
    issue_number: Annotated[int, _whole(1, HIGHEST_ISSUE)] | None = Field(
        None,
        description="Number of the issue to triage. Needed under workflow_dispatch, repository_dispatch and schedule; "
        "otherwise the event names it.",
    )
    engine: Annotated[Literal["auto", "model", "rules"], _one_of("auto", "model", "rules")] = Field(
        "auto",
        description="Who answers: model, rules, or auto (model when model-api-key or model-base-url is given, "
        "else rules).",
    )
    model_api_key: Secret = Field(SecretStr(""), description="Key of the OpenAI-compatible endpoint.")
    model_base_url: Annotated[str, BeforeValidator(_endpoint)] | None = Field(
        None,
        description="Base URL of any OpenAI-compatible endpoint (LiteLLM, vLLM, Azure, Ollama). Empty means OpenAI's.",
    )
    model: ModelName = Field("gpt-4o", description="Model for codebase search, critic and writer.")
    fast_model: ModelName = Field("gpt-4o-mini", description="Model for investigator and web search.")
    fallback_model: ModelName = Field(
        "gpt-4o-mini", description="Model that takes over once when the first stays rate-limited or unreachable."
    )
    embedding_model: ModelName = Field(
        "local", description="What makes the vectors: local, or the name of an embedding model at the endpoint."
    )
    tavily_api_key: Secret = Field(
        SecretStr(""),
        description="Key for web search with Tavily. Without it web search is off, and the report says so.",
    )
    max_iterations: Annotated[int, _whole(1, 100)] = Field(
        12, description="Most decisions of the supervisor in one run."
    )
    max_tokens: Annotated[int, _whole(1_000, 100_000_000)] = Field(
        100_000, description="Most tokens of one run, input and output of all calls together."
    )
    max_cost_usd: Annotated[float, _amount(0.01, 1_000, " of US dollars")] = Field(
        1.00, description="Most US dollars of one run."
    )
    timeout_seconds: Seconds = Field(300, description="Most seconds of the whole run.")
    agent_timeout_seconds: Seconds = Field(60, description="Most seconds of one agent.")
    tool_timeout_seconds: Seconds = Field(30, description="Most seconds of one tool call.")
    comment: Flag = Field(True, description="Whether to comment on the issue; false means summary and outputs only.")
    dry_run: Flag = Field(False, description="Decide everything, change nothing, show the plan.")
    labels: Annotated[LabelsMode, _one_of("off", "suggest", "apply")] = Field(
        "suggest",
        description="Labels: off, suggest (named in the comment), or apply (existing labels only, only ever added).",
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
        return cls._read(environ, lambda name: f"INPUT_{_kebab(name).upper()}", {})

    @classmethod
    def from_terminal(cls, environ: Mapping[str, str], **overrides: object) -> Self:
        """Inputs from `TRIAGE_GITHUB_TOKEN` and the like; an override that is not none wins.

        Raises:
            BadInput: As `from_runner`.
        """
        return cls._read(environ, lambda name: f"TRIAGE_{name.upper()}", overrides)

    @classmethod
    def _read(cls, environ: Mapping[str, str], variable: Any, overrides: Mapping[str, object]) -> Self:
        found = {name: environ.get(variable(name), "").strip() for name in cls.model_fields}
        given: dict[str, Any] = {name: text for name, text in found.items() if text}
        given |= {name: value for name, value in overrides.items() if value is not None}
        faults: list[str] = []
        settings = None
        try:
            settings = cls(**given)
        except ValidationError as error:
            faults = _faults(error)
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
    def engine_chosen(self) -> Engine:
        """Who answers in this run."""
        return "model" if self.engine == "model" or (self.engine == "auto" and self.has_endpoint) else "rules"

    @property
    def endpoint_key(self) -> SecretStr:
        """The key, or the placeholder for a gateway that asks for none."""
        return self.model_api_key if self.model_api_key.get_secret_value() else SecretStr(PLACEHOLDER_KEY)

    @property
    def embedding_chosen(self) -> str:
        """`local`, or the endpoint's model when there is an endpoint."""
        return self.embedding_model if self.has_endpoint else "local"

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
        by_rules = self.engine_chosen == "rules"
        named = [name for name in ("model", "fast_model", "fallback_model") if self._changed(name)]
        said = [
            (
                self.engine == "rules" and self._changed("model_api_key"),
                "model-api-key is not used: engine is rules.",
            ),
            (
                by_rules and bool(named),
                f"{' and '.join(map(_kebab, named))} not used: the rules engine answers.",
            ),
            (
                self.embedding_chosen != self.embedding_model,
                "embedding-model needs model-api-key or model-base-url: local vectors are used.",
            ),
            (
                not by_rules and self.fallback_model == self.model,
                "fallback-model equals model: nothing takes over when it fails.",
            ),
            (
                self.agent_timeout_seconds > self.timeout_seconds,
                "agent-timeout-seconds is longer than timeout-seconds, which ends the run first.",
            ),
            (
                self.tool_timeout_seconds > self.agent_timeout_seconds,
                "tool-timeout-seconds is longer than agent-timeout-seconds, which ends the agent first.",
            ),
        ]
        return [sentence for applies, sentence in said if applies]

    def _changed(self, name: str) -> bool:
        # Not `model_fields_set`: the runner passes every default of action.yml as if somebody had set it.
        return bool(getattr(self, name) != type(self).model_fields[name].default)


def _faults(error: ValidationError) -> list[str]:
    """All that is wrong with the inputs, without pydantic's words and without a secret's value."""
    return [f"{_kebab(str(fault['loc'][0]))}: {fault['msg']}" for fault in error.errors(include_input=False)]


class RunnerEnvironment(Value):
    """What GitHub's runner tells beside the inputs. Empty or none where it says nothing."""

    event_name: str = ""
    event_path: Path | None = None
    workspace: Path | None = None
    repository: str = ""
    """`owner/name`."""
    server_url: str = "https://github.com"
    api_url: str = "https://api.github.com"
    run_url: str = ""
    actor: str = ""
    summary_path: Path | None = None
    output_path: Path | None = None
    debug: bool = False
    id_token_granted: bool = False
    ca_file: Path | None = None
    """A private authority's certificates, for clients that do not look for them on their own."""
    tavily_base_url: str | None = None

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """The runner's variables.

        Raises:
            BadInput: `TAVILY_BASE_URL` is no URL that a key may be sent to.
        """

        def path(name: str) -> Path | None:
            return Path(environ[name]) if environ.get(name) else None

        said = {
            "event_name": environ.get("GITHUB_EVENT_NAME"),
            "repository": environ.get("GITHUB_REPOSITORY"),
            "server_url": environ.get("GITHUB_SERVER_URL", "").rstrip("/"),
            "api_url": environ.get("GITHUB_API_URL", "").rstrip("/"),
            "actor": environ.get("GITHUB_ACTOR"),
            "run_url": _run_url(environ),
            "tavily_base_url": _tavily_base_url(environ),
            "event_path": path("GITHUB_EVENT_PATH"),
            "workspace": path("GITHUB_WORKSPACE"),
            "summary_path": path("GITHUB_STEP_SUMMARY"),
            "output_path": path("GITHUB_OUTPUT"),
            "ca_file": path("REQUESTS_CA_BUNDLE") or path("SSL_CERT_FILE"),
            "debug": environ.get("RUNNER_DEBUG") == "1",
            "id_token_granted": bool(environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")),
        }
        return cls.model_validate({name: value for name, value in said.items() if value})

    @property
    def warnings(self) -> list[str]:
        """What the workflow grants and should not, one sentence each."""
        if not self.id_token_granted:
            return []
        return ["The job grants `id-token: write`, which this action never uses; take it out of `permissions:`."]


def _run_url(environ: Mapping[str, str]) -> str:
    server, slug, run = (environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    if not (server and slug and run):
        return ""
    return f"{server.rstrip('/')}/{slug}/actions/runs/{run}/attempts/{environ.get('GITHUB_RUN_ATTEMPT') or '1'}"


def _tavily_base_url(environ: Mapping[str, str]) -> str | None:
    value = environ.get("TAVILY_BASE_URL", "").strip()
    try:
        return str(_endpoint(value)) if value else None
    except PydanticCustomError as error:
        raise BadInput(f"TAVILY_BASE_URL: {error.message()}") from None
