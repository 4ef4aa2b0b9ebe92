"""The versions of a project, by its tags and as its registry lists them, and the Python that each was made for."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import Field

from triage.domain.value import Value

IN_REGISTRY = "If it is on PyPI or npm, set reproduce: package: in .github/triage.yml."
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


_NUMBERS = re.compile(r"(\d+(?:\.\d+)+(?:\.post\d+)?|\d+(?:_\d+)+)(?:[-_.]?final)?", re.ASCII | re.IGNORECASE)


class Release(Value):
    version: str
    time: datetime
    """When its last file was uploaded, of those that came within two weeks of the first."""
    pythons: list[str] = Field(default_factory=list)
    """Those that have a wheel of it, such as `3.9`, oldest first. Empty for Node, and for a commit."""
    commit: str = ""
    """Of its tag, which it is built from; empty for a release of the registry."""


def is_python_allowed(requires: str, python: str) -> bool:
    """Return whether `requires-python` allows a Python such as `3.9`. What cannot be read allows it."""
    try:
        return SpecifierSet(requires).contains(f"{python}.20")
    except InvalidSpecifier:
        return True


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


def merge_tags(wheels: Sequence[Release], tags: Mapping[str, Release]) -> list[Release]:
    """Return the releases of the registry, and those of the tags that it has no wheel of, by their numbers."""
    known = {_drop_zeros(release.version) for release in wheels}
    tagged = [one for version, one in tags.items() if _drop_zeros(version) not in known]
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
