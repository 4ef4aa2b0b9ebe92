"""What GitHub's runner tells beside the inputs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic_core import PydanticCustomError

from triage.domain.collector import Collector
from triage.domain.value import Value
from triage.errors import BadInput
from triage.settings.fields import endpoint_url
from triage.settings.telemetry import read_collector, secrets_of


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
    summary_path: Path | None = None
    output_path: Path | None = None
    id_token_granted: bool = False
    ca_file: Path | None = None
    """A private authority's certificates, for clients that do not look for them on their own."""
    tavily_base_url: str | None = None
    collector: Collector | None = None
    """Where telemetry goes; none when it is off."""
    collector_fault: str = ""
    """Why telemetry is off although an endpoint is named."""

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
            "run_url": _run_url(environ),
            "tavily_base_url": _tavily_base_url(environ),
            **_telemetry(environ),
            "event_path": path("GITHUB_EVENT_PATH"),
            "workspace": path("GITHUB_WORKSPACE"),
            "summary_path": path("GITHUB_STEP_SUMMARY"),
            "output_path": path("GITHUB_OUTPUT"),
            "ca_file": path("REQUESTS_CA_BUNDLE") or path("SSL_CERT_FILE"),
            "id_token_granted": bool(environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")),
        }
        return cls.model_validate({name: value for name, value in said.items() if value})

    @property
    def warnings(self) -> list[str]:
        """What the workflow grants and should not, or sets in vain, one sentence each."""
        said = [f"Telemetry is off. {self.collector_fault}"] if self.collector_fault else []
        if self.id_token_granted:
            grant = "The job grants `id-token: write`, which this action never uses; take it out of `permissions:`."
            said.append(grant)
        return said

    @property
    def secrets(self) -> list[str]:
        """Values that must appear nowhere."""
        return secrets_of(self.collector) if self.collector else []


def _run_url(environ: Mapping[str, str]) -> str:
    server, slug, run = (environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    if not (server and slug and run):
        return ""
    return f"{server.rstrip('/')}/{slug}/actions/runs/{run}/attempts/{environ.get('GITHUB_RUN_ATTEMPT') or '1'}"


def _telemetry(environ: Mapping[str, str]) -> dict[str, object]:
    """A fault in it is told and costs no triage."""
    try:
        return {"collector": read_collector(environ)}
    except BadInput as error:
        return {"collector_fault": str(error)}


def _tavily_base_url(environ: Mapping[str, str]) -> str | None:
    value = environ.get("TAVILY_BASE_URL", "").strip()
    try:
        return str(endpoint_url(value)) if value else None
    except PydanticCustomError as error:
        raise BadInput(f"TAVILY_BASE_URL: {error.message()}") from None
