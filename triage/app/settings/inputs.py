"""The action's inputs, each with its default and what is allowed. `action.yml` describes them; a test compares both.

An error message says what is allowed, and never shows a secret.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError

from triage.base.errors import BadInput, WrongUsage
from triage.base.text import quote_value
from triage.domain.effect import CommentMode, LabelsMode, Policy
from triage.domain.proposal import Approvers, TestsOutcome
from triage.domain.run import AGENT_SHARE, Engine, Limits, ReasoningEffort
from triage.domain.task import BACKLOG_QUERY, JobName

PLACEHOLDER_KEY = "sk-no-key-required"
"""Sent to an endpoint without a key; gateways that need none accept any."""
CONFIG_FILE = ".github/triage.yml"
FIX_LIMITS = Limits(tokens=300_000, usd=2.0, run_seconds=1_500)
"""Of `fix-propose`, the triage before the patch included."""
_PRIVATE_BLOCKS = [
    ipaddress.ip_network(block)
    for block in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
]
"""Loopback, RFC 1918 and RFC 4193. `ipaddress.is_private` includes more, such as Teredo addresses, which lead to any
host."""


def input_error(message: str) -> PydanticCustomError:
    """An error whose message pydantic does not change."""
    return PydanticCustomError("input", "{message}", {"message": message})


def _check_model_name(value: Any) -> Any:
    if not re.fullmatch(r"[!-~]{1,200}", str(value)):
        raise input_error(
            f"{quote_value(value)} is not a model's name: printable ASCII without spaces, at most 200 characters"
        )
    return value


def _check_secret(value: Any) -> Any:
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if text and not re.fullmatch(r"[!-~]+", text):
        raise input_error("the value has a space, a line break or another character that keys do not have")
    return value


def parse_endpoint_url(value: Any) -> Any:
    """A base URL that receives keys or our data. An error never shows it, because it may contain a password."""
    text = str(value)
    try:
        url = urlsplit(text)
        host, _ = url.hostname or "", url.port
    except ValueError:
        raise input_error("the value is not a URL") from None
    # Clients interpret characters that URLs do not have, such as a backslash, in different ways.
    if not re.fullmatch(r"[!-~]+", text) or "\\" in text or not host or url.scheme not in ("http", "https"):
        raise input_error("the value is not a URL that starts with https:// (or http:// for a private address)")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise input_error("the URL must not contain a user name, a password, a query or a fragment")
    if url.scheme == "http" and not _is_private_host(host):
        raise input_error("http:// is allowed for loopback and private addresses only; use https://")
    return text.rstrip("/")


def read_url_variable(environ: Mapping[str, str], name: str) -> str:
    """The base URL in a variable without a slash at its end; empty if the variable is. Raises BadInput."""
    value = environ.get(name, "").strip()
    try:
        return str(parse_endpoint_url(value)) if value else ""
    except PydanticCustomError as error:
        raise BadInput(f"{name}: {error.message()}") from None


def _is_private_host(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # A name without dots must not be a number (http://134744072 is 8.8.8.8). `.localhost` is RFC 6761, `.local` is
        # RFC 6762 (svc.cluster.local), `.internal` is reserved by ICANN for private use (host.docker.internal).
        return bool(re.fullmatch(r"[a-z][a-z0-9_-]*|([a-z0-9_-]+\.)+(localhost|local|internal)", host))
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in block for block in _PRIVATE_BLOCKS)


def _check_repository_path(value: Any) -> Any:
    text = str(value).removeprefix("./")
    if not text.isprintable() or "\\" in text or not all(part not in ("", ".", "..") for part in text.split("/")):
        raise input_error(f"{quote_value(value)} is not a path inside the repository, such as .github/triage.yml")
    return text


Secret = Annotated[SecretStr, BeforeValidator(_check_secret)]
ModelName = Annotated[str, BeforeValidator(_check_model_name)]
Seconds = Annotated[int, Field(ge=1, le=21_600)]
"""GitHub ends a job after six hours."""


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
    issue_number: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    task: JobName = "triage"
    engine: Literal["auto", "model", "rules"] = "auto"
    model_api_key: Secret = SecretStr("")
    model_base_url: Annotated[str, BeforeValidator(parse_endpoint_url)] | None = None
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
    comment: Annotated[
        CommentMode, BeforeValidator(lambda value: {"true": "always", "false": "never"}.get(str(value).lower(), value))
    ] = "auto"
    dry_run: bool = False
    labels: LabelsMode = "suggest"
    approvers: Approvers = "write"
    proposal_tests: TestsOutcome = ""
    selection: Annotated[str, Field(max_length=64)] = ""
    backlog_query: Annotated[str, Field(max_length=250)] = BACKLOG_QUERY
    backlog_batch: Annotated[int, Field(ge=1, le=256)] | None = None
    config_file: Annotated[str, BeforeValidator(_check_repository_path), Field(max_length=1_000)] = CONFIG_FILE

    @classmethod
    def from_runner(cls, environ: Mapping[str, str]) -> Self:
        """Inputs from the runner's variables, such as `INPUT_GITHUB-TOKEN`.

        `composite/action.yml` sets `INPUT_GITHUB_TOKEN`, because a shell may drop names with a hyphen.

        Raises BadInput: one line that names every invalid input and what is allowed.
        """

        def read(name: str) -> str:
            return environ.get(f"INPUT_{_kebab(name).upper()}", environ.get(f"INPUT_{name.upper()}", ""))

        return cls._from_variables(read, {})

    @classmethod
    def from_terminal(cls, environ: Mapping[str, str], *, task: JobName = "triage", **overrides: object) -> Self:
        """As `from_runner`, from variables such as `TRIAGE_GITHUB_TOKEN`, with what the command line sets.

        The task is that of the command, whatever `TRIAGE_TASK` says.
        """
        return cls._from_variables(lambda name: environ.get(f"TRIAGE_{name.upper()}", ""), overrides | {"task": task})

    @classmethod
    def _from_variables(cls, read: Callable[[str], str], overrides: Mapping[str, object]) -> Self:
        """Return the settings; `read` returns the text of a setting's variable. An override that is not none wins."""
        texts = {name: read(name).strip() for name in cls.model_fields}
        given: dict[str, Any] = {name: text for name, text in texts.items() if text}
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
        """The engine that answers: rules where there is no endpoint for a model, or nothing may be spent."""
        has_endpoint = self.model_api_key.get_secret_value() or self.model_base_url  # a gateway may need no key
        is_wanted = self.engine == "model" or (self.engine == "auto" and has_endpoint)
        return "model" if is_wanted and self.limits().usd else "rules"

    @property
    def effective_embedding_model(self) -> str:
        """The embedding model; always `local` with the rules engine, which sends no code to an endpoint."""
        return self.embedding_model if self.effective_engine == "model" else "local"

    def limits(self) -> Limits:
        """Return the limits of the task: those that are set, and the task's own."""
        default = FIX_LIMITS if self.task == "fix-propose" else Limits()
        given = {"tokens": self.max_tokens, "usd": self.max_cost_usd, "run_seconds": self.timeout_seconds}
        limits = default.model_copy(update={name: value for name, value in given.items() if value is not None})
        agent_seconds = limits.run_seconds * AGENT_SHARE
        tool_seconds = min(default.tool_seconds, agent_seconds / 2)
        return limits.model_copy(update={"agent_seconds": agent_seconds, "tool_seconds": tool_seconds})

    def policy(self) -> Policy:
        return Policy(comment=self.comment, dry_run=self.dry_run, labels=self.labels)

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
