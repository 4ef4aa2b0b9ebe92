"""The releases of a project, as its registry lists them, and the Python that each was made for."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pydantic import Field

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


class Release(Value):
    version: str
    time: datetime
    """When its last file was uploaded, of those that came within two weeks of the first."""
    pythons: list[str] = Field(default_factory=list)
    """Those that can install it, such as `3.9`, oldest first. Empty for Node, and without a wheel."""
    is_pure: bool = False
    """It has a wheel for any machine: nothing is compiled."""
    tag: str = ""
    """Of a version that the registry has no wheel of: it is built from its commit."""


def read_pypi_releases(index: Mapping[str, Any]) -> list[Release]:
    """Return the final releases in an index's answer (PEP 691 and 700), oldest first."""
    files: dict[str, list[Mapping[str, Any]]] = {}
    for file in index.get("files", []):
        version = _find_version(str(file.get("filename", "")))
        if version and not file.get("yanked") and _parse_time(file.get("upload-time")):
            files.setdefault(version, []).append(file)
    releases = [_make_release(version, found) for version, found in files.items()]
    return sorted(releases, key=lambda release: Version(release.version))


def _find_version(name: str) -> str:
    """Return the version in the name of a wheel; empty for a pre-release, and for another file."""
    try:
        version = parse_wheel_filename(name)[1]
    except (InvalidWheelFilename, InvalidVersion):
        return ""
    return "" if version.is_prerelease else str(version)


def _make_release(version: str, files: Sequence[Mapping[str, Any]]) -> Release:
    times = sorted(time for file in files if (time := _parse_time(file["upload-time"])))
    last = max(time for time in times if time <= times[0] + _SAME_RELEASE)
    pythons = [python for python in PYTHONS if any(_supports(file, python) for file in files)]
    is_pure = any(str(file["filename"]).endswith("-none-any.whl") for file in files)
    return Release(version=version, time=last, pythons=pythons, is_pure=is_pure)


def _supports(file: Mapping[str, Any], python: str) -> bool:
    if not is_python_allowed(str(file.get("requires-python") or ""), python):
        return False
    minor = python.partition(".")[2]
    return any(
        tag.interpreter in ("py3", f"cp3{minor}")
        or (tag.abi == "abi3" and tag.interpreter[3:].isdigit() and int(tag.interpreter[3:]) <= int(minor))
        for tag in parse_wheel_filename(str(file["filename"]))[3]
    )


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
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def read_npm_releases(document: Mapping[str, Any]) -> list[Release]:
    """Return the final releases in a package's document of the npm registry, oldest first."""
    times, versions = document.get("time", {}), document.get("versions", {})
    found = {
        version: time
        for version in versions
        if re.fullmatch(r"\d+\.\d+\.\d+", version) and (time := _parse_time(times.get(version)))
    }
    ordered = sorted(found, key=lambda version: [int(part) for part in version.split(".")])
    return [Release(version=version, time=found[version], is_pure=True) for version in ordered]


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
        exact = next((one for one in releases if one.version in (number, f"{number}.0")), None)
        if exact:
            return exact
    return None


def merge_tags(releases: Sequence[Release], tags: Mapping[str, str], times: Callable[[str], datetime]) -> list[Release]:
    """Return the releases, and those of the tags that are no such release, by their numbers."""
    known = {release.version for release in releases}
    tagged = [
        Release(version=version, time=times(tag), tag=tag, is_pure=True)
        for version, tag in tags.items()
        if version not in known
    ]
    return sorted([*releases, *tagged], key=lambda release: Version(release.version))


def list_mainline(releases: Sequence[Release], named: str) -> list[Release]:
    """Return the releases, and among them the named one, without those that came after a higher version."""
    chosen: list[Release] = []
    for release in reversed(releases):
        if release.version == named or not chosen or release.time <= min(one.time for one in chosen):
            chosen.insert(0, release)
    return chosen


def normalize_version(text: str) -> str:
    """Return the version of a tag such as `v2.4.0`, `release-2.4.0` or `pkg-2.4`; empty if it has none."""
    match = re.search(r"(?:^|[^\d.])v?(\d+(?:\.\d+)+(?:\.post\d+)?)$", text)
    try:
        return str(Version(match[1])) if match else ""
    except InvalidVersion:
        return ""
