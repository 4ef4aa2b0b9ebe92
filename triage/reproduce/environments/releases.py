"""The versions of a project, by its tags and files, and the Python that each was made for."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

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
PUBLISHED_AFTER = timedelta(days=14)
"""A tag's own package is not always uploaded on the same day, nor are all its wheels."""


_STAGE = r"(?:[-_.]?(?:alpha|beta|preview|post|pre|dev|rc|a|b|c)[-_.]?\d*)?"
_NUMBERS = re.compile(rf"((?:\d+(?:\.\d+)+|\d+(?:_\d+)+){_STAGE})(?:[-_.]?final)?", re.ASCII | re.IGNORECASE)
_WRITTEN = re.compile(rf"\d+(?:\.\d+)+(?:{_STAGE}(?![\w]))?", re.ASCII | re.IGNORECASE)


class Release(Value):
    version: str
    time: datetime
    commit: str
    """Of its tag, or whose files first say this version."""

    @property
    def number(self) -> Version:
        return Version(self.version)

    @property
    def is_final(self) -> bool:
        return not self.number.is_prerelease


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
    """Return the release that somebody means by `v2.4.1`, `2.4` or `pandas 2.4.1`."""
    found = (one for number in _list_numbers(written) for one in releases if one.number == number)
    return next(found, None)


def find_release_before(releases: Sequence[Release], written: str) -> Release | None:
    """Return the last release before a version that somebody wrote and that was never released."""
    number = next(_list_numbers(written), None)
    return next((one for one in reversed(releases) if number and one.number < number), None)


def find_number(written: str) -> str:
    """Return the first version in what somebody wrote; empty without one."""
    return next(iter(_WRITTEN.findall(written)), "")


def _list_numbers(written: str) -> Iterator[Version]:
    for number in _WRITTEN.findall(written) or re.findall(r"\d+", written):
        with suppress(ValueError):  # also of thousands of digits
            yield Version(number)


def list_mainline(releases: Sequence[Release], named: str) -> list[Release]:
    """Return the final releases, and among them the named one, without those that came after a higher version."""
    chosen: list[Release] = []
    for release in reversed(releases):
        is_next = release.is_final and (not chosen or release.time <= min(one.time for one in chosen))
        if release.version == named or is_next:
            chosen.insert(0, release)
    return chosen


def normalize_version(text: str) -> str:
    """Return the version at the end of a tag such as `pkg@2.4.0`, `release_2_4` or `2.4-final`; else empty."""
    match = _NUMBERS.search(text)
    try:
        return str(Version(match[1].replace("_", "."))) if match and match.end() == len(text) else ""
    except ValueError:
        return ""
