"""Asks the registry of a language for the releases of a package."""

import re
from collections.abc import Mapping

from triage.base.errors import AnswerTooLarge, TriageError
from triage.outside.http_client import RequestFailed, send_request
from triage.reproduce.environments.releases import NpmPackage, PypiIndex, Release, read_npm_releases, read_pypi_releases
from triage.reproduce.example.example import Project

SECONDS = 60.0
MAX_BYTES = 64_000_000
"""Packages with thousands of releases have 20 MB."""
_PYPI = "https://pypi.org/simple"
_NPM = "https://registry.npmjs.org"


def list_releases(project: Project, environ: Mapping[str, str]) -> list[Release]:
    """Return the final releases that the registry has, oldest first; none if it does not know the package.

    `environ` may name another registry, by the variables of uv, pip and npm.

    Raises:
        TriageError: The registry does not answer.
    """
    if project.language == "node":
        base = environ.get("npm_config_registry") or _NPM
        url, accept = f"{base.rstrip('/')}/{project.package.replace('/', '%2F')}", "application/json"
    else:
        base = environ.get("UV_DEFAULT_INDEX") or environ.get("UV_INDEX_URL") or environ.get("PIP_INDEX_URL") or _PYPI
        name = re.sub(r"[-_.]+", "-", project.package).lower()
        url, accept = f"{base.rstrip('/')}/{name}/", "application/vnd.pypi.simple.v1+json"
    try:
        answer = send_request("GET", url, seconds=SECONDS, max_bytes=MAX_BYTES, headers={"Accept": accept})
    except (RequestFailed, AnswerTooLarge) as error:
        raise TriageError(f"The package registry does not answer: {error}.") from None
    if answer.status == 404:
        return []
    try:
        if answer.status != 200:
            raise ValueError
        if project.language == "node":
            return read_npm_releases(NpmPackage.model_validate_json(answer.body))
        return read_pypi_releases(PypiIndex.model_validate_json(answer.body))
    except ValueError:
        raise TriageError(f"The package registry's answer cannot be used (status {answer.status}).") from None
