"""The releases of a project, by its tags and as its registry lists them, and the Python that each was made for."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import BaseModel, Field

from triage.domain.value import Value

PYTHONS = {
    "3.6": datetime(2016, 12, 23, tzinfo=UTC),
    "3.7": datetime(2018, 6, 27, tzinfo=UTC),
    "3.8": datetime(2019, 10, 14, tzinfo=UTC),
    "3.9": datetime(2020, 10, 5, tzinfo=UTC),
    "3.10": datetime(2021, 10, 4, tzinfo=UTC),
    "3.11": datetime(2022, 10, 24, tzinfo=UTC),
    "3.12": datetime(2023, 10, 2, tzinfo=UTC),
    "3.13": datetime(2024, 10, 7, tzinfo=UTC),
    "3.14": datetime(2025, 10, 7, tzinfo=UTC),
}
"""When each Python was released (peps.python.org)."""
WHEELS_AFTER = timedelta(days=120)
"""numpy, scipy and pandas had wheels for 3.9 to 3.13 at most four months after the Python."""
DEPENDENCIES_AFTER = timedelta(days=1)
"""Packages that are released together are not uploaded in one moment."""
_SAME_RELEASE = timedelta(days=14)
"""A file that is uploaded later belongs to another Python."""


MAX_NAME_CHARS = 200
"""Of a wheel's name: those of scipy have 90."""
_WHEEL = re.compile(
    r"[^-]+-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<pythons>[^-]+)-(?P<abis>[^-]+)-[^-]+\.whl", re.ASCII | re.IGNORECASE
)
_NUMBERS = re.compile(r"(\d+(?:\.\d+)+(?:\.post\d+)?|\d+(?:_\d+)+)(?:[-_.]?final)?", re.ASCII | re.IGNORECASE)
_NPM_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}", re.ASCII)


class Tag(NamedTuple):
    commit: str
    """Full SHA."""
    time: datetime
    """Of the commit."""


class Release(Value):
    version: str
    time: datetime
    """When its last file was uploaded, of those that came within two weeks of the first."""
    pythons: list[str] = Field(default_factory=list)
    """Those that have a wheel of it, such as `3.9`, oldest first. Empty for Node, and for a commit."""
    commit: str = ""
    """Of its tag, which it is built from; empty for a release of the registry."""


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
    """Return the final releases with wheels, oldest first."""
    wheels: dict[str, list[tuple[datetime, list[str]]]] = {}
    for file in index.files:
        wheel, time = _WHEEL.fullmatch(file.filename[:MAX_NAME_CHARS]), _parse_time(file.upload_time)
        if wheel and time and not file.yanked and (version := normalize_version(wheel["version"])):
            wheels.setdefault(version, []).append((time, _list_pythons(wheel, file.requires_python or "")))
    releases = [_make_release(version, found) for version, found in wheels.items()]
    return sorted(releases, key=lambda release: Version(release.version))


def _make_release(version: str, wheels: Sequence[tuple[datetime, list[str]]]) -> Release:
    times = sorted(time for time, _ in wheels)
    last = max(time for time in times if time - times[0] <= _SAME_RELEASE)
    pythons = [python for python in PYTHONS if any(python in supported for _, supported in wheels)]
    return Release(version=version, time=last, pythons=pythons)


def _list_pythons(wheel: re.Match[str], requires: str) -> list[str]:
    tags, is_stable = wheel["pythons"].split("."), "abi3" in wheel["abis"].split(".")
    numbers = [int(tag[3:]) for tag in tags if is_stable and tag[3:].isdecimal()]
    since = min(numbers, default=math.inf)
    return [
        python
        for python, minor in ((python, int(python.partition(".")[2])) for python in PYTHONS)
        if {"py3", f"cp3{minor}"} & {*tags} or since <= minor
        if is_python_allowed(requires[:MAX_NAME_CHARS], python)
    ]


def is_python_allowed(requires: str, python: str) -> bool:
    """Return whether `requires-python` allows a Python such as `3.9`. What cannot be read allows it."""
    try:
        return SpecifierSet(requires).contains(f"{python}.20")
    except InvalidSpecifier:
        return True


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


def order_pythons(time: datetime, supported: Sequence[str], preferred: str = "") -> list[str]:
    """Return the supported Pythons, the best first: the newest that packages of this time had wheels for.

    Those that came later follow, oldest first. `preferred` comes first if packages of this time had wheels for it: so
    two versions run on the same Python.
    """
    ready = [python for python in reversed(supported) if PYTHONS[python] + WHEELS_AFTER <= time]
    later = [python for python in supported if python not in ready]
    ordered = [*ready[:1], *later, *ready[1:]]
    return sorted(ordered, key=lambda python: python != preferred or python not in ready)


def find_release(releases: Sequence[Release], written: str) -> Release | None:
    """Return the release that somebody means by `v2.4.1`, `2.4` or `pandas 2.4.1`; of 2.4 the first."""
    numbers = re.findall(r"\d+(?:\.\d+)+(?:(?:rc|a|b|\.post)\d+)?", written) or re.findall(r"\d+", written)
    for number in numbers:
        exact = next((one for one in releases if _drop_zeros(one.version) == _drop_zeros(number)), None)
        if exact:
            return exact
    return None


def _drop_zeros(version: str) -> str:
    return re.sub(r"(?:\.0)+$", "", version)


def merge_tags(wheels: Sequence[Release], tags: Mapping[str, Tag]) -> list[Release]:
    """Return the releases of the registry, and those of the tags that it has no wheel of, by their numbers."""
    known = {_drop_zeros(release.version) for release in wheels}
    tagged = [
        Release(version=version, time=tag.time, commit=tag.commit)
        for version, tag in tags.items()
        if _drop_zeros(version) not in known
    ]
    return sorted([*wheels, *tagged], key=lambda release: Version(release.version))


def list_mainline(releases: Sequence[Release], named: str) -> list[Release]:
    """Return the releases, and among them the named one, without those that came after a higher version."""
    chosen: list[Release] = []
    for release in reversed(releases):
        if release.version == named or not chosen or release.time <= min(one.time for one in chosen):
            chosen.insert(0, release)
    return chosen


def normalize_version(text: str) -> str:
    """Return the version of a tag by its first numbers, such as `pkg@2.4.0`, `release_2_4` or `2.4-final`; else empty.

    Nothing but `final` may follow: 2.4rc1 is not yet 2.4.
    """
    match = _NUMBERS.search(text)
    try:
        return str(Version(match[1].replace("_", "."))) if match and match.end() == len(text) else ""
    except InvalidVersion:
        return ""
