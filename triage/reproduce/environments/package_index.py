"""Asks the registry of a language for the releases of a package, and reads its answer."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from packaging.version import Version
from pydantic import BaseModel, Field

from triage.base.errors import AnswerTooLarge, TriageError
from triage.outside.http_client import RequestFailed, send_request
from triage.reproduce.environments.releases import PYTHONS, Release, is_python_allowed, normalize_version
from triage.reproduce.example.example import Project

SECONDS = 60.0
MAX_BYTES = 64_000_000
"""Packages with thousands of releases have 20 MB."""
_PYPI = "https://pypi.org/simple"
_NPM = "https://registry.npmjs.org"

_SAME_RELEASE = timedelta(days=14)
"""A file that is uploaded later belongs to another Python."""
MAX_NAME_CHARS = 200
"""Of a wheel's name: those of scipy have 90."""
_WHEEL = re.compile(
    r"[^-]+-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<pythons>[^-]+)-(?P<abis>[^-]+)-[^-]+\.whl", re.ASCII | re.IGNORECASE
)
_SOURCE = re.compile(r".+-(?P<version>\d[^-]*)\.(?:tar\.gz|tar\.bz2|zip)", re.ASCII | re.IGNORECASE)
_NPM_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}", re.ASCII)


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


class _File(BaseModel):
    filename: str
    upload_time: str | None = Field(None, alias="upload-time")
    requires_python: str | None = Field(None, alias="requires-python")
    yanked: bool | str = False


class PypiIndex(BaseModel):
    """An index's answer about one package (PEP 691 and 700)."""

    files: list[_File]


class NpmPackage(BaseModel):
    """The npm registry's answer about one package."""

    versions: dict[str, Any]
    time: dict[str, Any]


def read_pypi_releases(index: PypiIndex) -> list[Release]:
    """Return the final releases, oldest first. One without a wheel runs on each Python that it allows."""
    files: dict[str, list[tuple[datetime, list[str], bool]]] = {}
    for file in index.files:
        name, time, requires = file.filename[:MAX_NAME_CHARS], _parse_time(file.upload_time), file.requires_python or ""
        wheel = _WHEEL.fullmatch(name)
        match = wheel or _SOURCE.fullmatch(name)
        if match and time and not file.yanked and (version := normalize_version(match["version"])):
            pythons = _list_pythons(wheel, requires) if wheel else _list_allowed(requires)
            files.setdefault(version, []).append((time, pythons, wheel is not None))
    releases = [_make_release(version, found) for version, found in files.items()]
    return sorted(releases, key=lambda release: Version(release.version))


def _make_release(version: str, files: Sequence[tuple[datetime, list[str], bool]]) -> Release:
    times = sorted(time for time, _, _ in files)
    last = max(time for time in times if time - times[0] <= _SAME_RELEASE)
    has_wheel = any(is_wheel for _, _, is_wheel in files)
    supported = {python for _, pythons, is_wheel in files if is_wheel == has_wheel for python in pythons}
    return Release(version=version, time=last, pythons=[python for python in PYTHONS if python in supported])


def _list_allowed(requires: str) -> list[str]:
    return [python for python in PYTHONS if is_python_allowed(requires[:MAX_NAME_CHARS], python)]


def _list_pythons(wheel: re.Match[str], requires: str) -> list[str]:
    tags, is_stable = wheel["pythons"].split("."), "abi3" in wheel["abis"].split(".")
    numbers = [int(tag[3:]) for tag in tags if is_stable and tag[3:].isdecimal()]
    since = min(numbers, default=math.inf)
    return [
        python
        for python, minor in ((python, int(python.partition(".")[2])) for python in _list_allowed(requires))
        if {"py3", f"cp3{minor}"} & {*tags} or since <= minor
    ]


def _parse_time(text: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    # Without its zone, which can make it greater than the greatest.
    return time.replace(tzinfo=UTC) if time.tzinfo is None or time.utcoffset() else time


def read_npm_releases(package: NpmPackage) -> list[Release]:
    """Return the final releases, oldest first."""
    found = {
        version: time
        for version in package.versions
        if _NPM_VERSION.fullmatch(version) and (time := _parse_time(package.time.get(version)))
    }
    ordered = sorted(found, key=lambda version: [int(part) for part in version.split(".")])
    return [Release(version=version, time=found[version]) for version in ordered]
