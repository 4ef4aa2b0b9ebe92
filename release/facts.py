"""What is known about a release, and the mistakes that stop one."""

import re
from dataclasses import dataclass
from pathlib import Path

VERSION_FILE = "triage/__init__.py"
_VERSION = re.compile(r'^__version__ = "(\d+\.\d+\.\d+)"$', re.MULTILINE)


class ReleaseError(Exception):
    """Says what could not be done, and what to do about it."""


@dataclass(frozen=True)
class Release:
    """A version of this repository with its finished image."""

    repository: str
    """`owner/name`."""
    version: str
    """Without `v`."""
    digest: str
    """Of the image for all platforms: `sha256:` and 64 digits."""
    date: str
    """Year, month and day in UTC, such as `2026-11-30`."""
    server_url: str = "https://github.com"

    @property
    def tag(self) -> str:
        return f"v{self.version}"

    @property
    def major_tag(self) -> str:
        return self.tag.partition(".")[0]

    @property
    def image(self) -> str:
        """The image by digest."""
        return f"{name_image(self.repository)}@{self.digest}"


def parse_version(text: str) -> tuple[int, ...]:
    """The three numbers of a tag or a version, for a comparison; empty for any other text."""
    found = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)", text)
    return tuple(int(number) for number in found.groups()) if found else ()


def name_image(repository: str) -> str:
    """The image of a repository in GitHub's registry, which takes no capital letters."""
    return f"ghcr.io/{repository.lower()}"


def read_version(root: Path) -> str:
    """The version of the program. Raises ReleaseError."""
    found = _VERSION.search((root / VERSION_FILE).read_text(encoding="utf-8"))
    if not found:
        raise ReleaseError(f"{VERSION_FILE} has no version of three numbers. Set __version__, such as 1.2.3.")
    return found[1]
