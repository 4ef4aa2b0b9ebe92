"""The versions of a project, by its tags and as its registry lists them, and the Python that each was made for."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import Field

from triage.base.errors import WrongUsage
from triage.domain.value import Value
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Project

if TYPE_CHECKING:
    from triage.reproduce.environments.source import Source

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


class Versions:
    """Makes a target of a version's name."""

    def __init__(self, source: "Source", project: Project, wheels: Sequence[Release], head: str) -> None:
        """Take the releases of the registry, oldest first. Tags of further versions are releases too."""
        self._source, self._project = source, project
        self._has_registry = bool(wheels) or project.language == "other"
        self.tags = source.list_version_tags()
        until = source.read_time(head) + DEPENDENCIES_AFTER
        self.releases = [release for release in merge_tags(wheels, self.tags) if release.time <= until]

    def make_release_target(self, release: Release, like: Target | None = None) -> Target:
        """Return the target of a release, on the Python of another one if it can run there."""
        if release.commit:
            return self._make_target(release.version, release.commit, like)
        time, pythons = release.time + DEPENDENCIES_AFTER, self._order_pythons(release.time, release.pythons, like)
        return Target(on=release.version, version=release.version, time=time, pythons=pythons)

    def make_commit_target(self, name: str, on: str, like: Target | None = None) -> Target:
        """Return the target of a commit, tag or branch. Raises WrongUsage if there is none."""
        commit = self._source.resolve(name)
        if commit is None:
            more = "" if self._has_registry else f" {IN_REGISTRY}"
            raise WrongUsage(f"{on} is neither a release nor a tag, branch or commit of this repository.{more}")
        return self._make_target(on, commit, like)

    def _make_target(self, on: str, commit: str, like: Target | None) -> Target:
        time = self._source.read_time(commit) + DEPENDENCIES_AFTER
        pythons = self._order_pythons(time, self._source.list_pythons(commit), like)
        version = self._source.describe_version(commit)
        return Target(on=on, commit=commit, time=time, pythons=pythons, source_version=version)

    def _order_pythons(self, time: datetime, supported: Sequence[str], like: Target | None) -> list[str]:
        if self._project.language != "python":
            return []
        return order_pythons(time, supported, "".join(like.pythons[:1]) if like else "")

    def find(self, written: str, like: Target | None = None) -> Target:
        """Return the target of what somebody wrote: a version, a tag, a branch or a commit. Raises WrongUsage."""
        release = find_release(self.releases, written) if normalize_version(written) else None
        return self.make_release_target(release, like) if release else self.make_commit_target(written, written, like)
