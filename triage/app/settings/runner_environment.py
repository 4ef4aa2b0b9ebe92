"""Variables beside the inputs: the runner's, and where a server finds its checkouts."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from triage.app.settings.inputs import Settings, read_url_variable
from triage.base.errors import BadInput
from triage.domain.run import Collector
from triage.domain.value import Value


class RunnerEnvironment(Value):
    """The runner's variables beside the inputs. Empty or none if a variable is not set."""

    event_name: str = ""
    event_path: Path | None = None
    workspace: Path | None = None
    repository: str = ""
    """`owner/name`."""
    server_url: str = "https://github.com"
    api_url: str = "https://api.github.com"
    run_url: str = ""
    id_token_granted: bool = False
    tavily_base_url: str | None = None
    collector: Collector | None = None
    collector_problem: str = ""
    """Why telemetry is off although an endpoint is set."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """Return what the runner's variables say. Raises BadInput if a URL cannot be used."""
        server_url, api_url = _read_servers(environ)
        found = {
            "event_name": environ.get("GITHUB_EVENT_NAME"),
            "repository": environ.get("GITHUB_REPOSITORY"),
            "server_url": server_url,
            "api_url": api_url,
            "run_url": _run_url(environ, server_url),
            "tavily_base_url": read_url_variable(environ, "TAVILY_BASE_URL"),
            "event_path": environ.get("GITHUB_EVENT_PATH"),
            "workspace": environ.get("GITHUB_WORKSPACE"),
            **_read_telemetry(environ),
            "id_token_granted": bool(environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")),
        }
        return cls.model_validate({name: value for name, value in found.items() if value})

    @property
    def warnings(self) -> list[str]:
        """Permissions that are not needed, and why telemetry is off, one sentence each."""
        unneeded = "The job grants `id-token: write`, which this action never uses. Remove it."
        return [*([unneeded] if self.id_token_granted else []), *filter(None, [self.collector_problem])]


def _read_servers(environ: Mapping[str, str]) -> tuple[str, str]:
    """URLs of GitHub's pages and of its API.

    If only one is set, the other is derived from it, so that the token is sent to no other host. Enterprise Server has
    its API below its pages, `ghe.com` on a host of its own (GitHub's docs, `GITHUB_API_URL`).
    """
    server, api = read_url_variable(environ, "GITHUB_SERVER_URL"), read_url_variable(environ, "GITHUB_API_URL")
    if server and not api:
        scheme, _, host = server.partition("://")
        is_enterprise_server = host not in ("github.com", "www.github.com") and not host.endswith(".ghe.com")
        api = f"{server}/api/v3" if is_enterprise_server else f"{scheme}://api.{host.removeprefix('www.')}"
    if api and not server:
        server = api.removesuffix("/api/v3") if api.endswith("/api/v3") else api.replace("://api.", "://", 1)
    return server, api


def _run_url(environ: Mapping[str, str], server: str) -> str:
    slug, run = (environ.get(f"GITHUB_{name}", "") for name in ("REPOSITORY", "RUN_ID"))
    if not (server and slug and run):
        return ""
    return f"{server}/{slug}/actions/runs/{run}/attempts/{environ.get('GITHUB_RUN_ATTEMPT') or '1'}"


def _read_telemetry(environ: Mapping[str, str]) -> dict[str, object]:
    """Return the fields that say where spans are sent, or why nowhere; none if nobody wants any."""
    try:
        endpoint = read_url_variable(environ, "OTEL_EXPORTER_OTLP_ENDPOINT")
    except BadInput as error:  # a triage does not need telemetry
        return {"collector_problem": f"Telemetry is off. {error}."}
    if environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":  # the exporter itself does not read it
        return {}
    headers = environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    return {"collector": Collector(endpoint=f"{endpoint}/v1/traces", headers=headers)} if endpoint else {}


_SLUG = re.compile(r"[A-Za-z0-9-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_PREFIX = "TRIAGE_"


def find_checkout_folder(environ: Mapping[str, str], repository: str) -> Path:
    """Return where a server has the checkout of a repository.

    `TRIAGE_REPOS` names a folder with a checkout as `owner/name` for each; without it `TRIAGE_REPO` names the only one,
    by default the working directory.

    Raises BadInput if the checkout does not exist, or the name is not `owner/name`.
    """
    repo, repos = (environ.get(name, "").strip() for name in ("TRIAGE_REPO", "TRIAGE_REPOS"))
    if repository and not _SLUG.fullmatch(repository):
        raise BadInput("repository: must be owner/name.")
    if repos and not repository:
        raise BadInput("repository: this server has several checkouts; set owner/name.")
    folder = (Path(repos) / repository if repos else Path(repo)).resolve()
    if not folder.is_dir():
        raise BadInput("repository: this server has no such checkout." if repos else "TRIAGE_REPO: not a folder.")
    return folder


def check_input_names(environ: Mapping[str, str]) -> None:
    """Raise BadInput for inputs that this version lacks: without one, the job would do or spend something else."""
    known = {name.replace("_", "-") for name in Settings.model_fields}
    given = {
        name.removeprefix("INPUT_").replace("_", "-").lower()  # `composite/action.yml` sets names with underscores
        for name, value in environ.items()
        if name.startswith("INPUT_") and value.strip()
    }
    if unknown := sorted(given - known):
        raise BadInput(f"{', '.join(unknown)}: not an input of this version. CHANGELOG.md says which ones are gone.")


def find_unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A warning for each unknown `TRIAGE_` variable, with the most similar setting. Never shows a value."""
    settings = ["REPO", "REPOS", *(name.upper() for name in Settings.model_fields)]
    names = {name.removeprefix(_PREFIX) for name in environ if name.startswith(_PREFIX)}
    warnings = []
    for name in sorted(names.difference(settings)):
        nearest = difflib.get_close_matches(name, settings, n=1)
        hint = f"; did you mean {_PREFIX}{nearest[0]}?" if nearest else "."
        warnings.append(f"{_PREFIX}{name} is not a setting{hint}")
    return warnings
