"""The files that differ between the commit that is released, the commit of the release, and the one after it."""

import re
from pathlib import Path

from release.changelog import write_date
from release.facts import Release, ReleaseError
from release.pages import rewrite_pages

CHANGELOG = "CHANGELOG.md"
ACTIONS = ("action.yml", "container/action.yml")
_DOCKERFILE = re.compile(r"^( *image: *)[\"']?(?:\.\./)?Dockerfile[\"']? *(?:#.*)?$", re.MULTILINE)


def write_release_files(root: Path, release: Release) -> dict[str, str]:
    """Returns the changed files of the release's commit, by path. Raises ReleaseError.

    The action runs the finished image. Pages and examples name the version, because a commit cannot name itself.
    """
    return _write_pages(root, release) | {path: _name_image(root / path, release) for path in ACTIONS}


def write_following_files(root: Path, release: Release, commit: str) -> dict[str, str]:
    """Returns the changed files of the next commit on main: pages and examples name the commit of the release."""
    return _write_pages(root, release, commit)


def _write_pages(root: Path, release: Release, commit: str = "") -> dict[str, str]:
    pages = rewrite_pages(root, release, commit)
    changelog = pages.get(CHANGELOG) or (root / CHANGELOG).read_text(encoding="utf-8")
    return pages | {CHANGELOG: write_date(changelog, release)}


def _name_image(path: Path, release: Release) -> str:
    text, count = _DOCKERFILE.subn(rf"\g<1>docker://{release.image}", path.read_text(encoding="utf-8"))
    if count != 1:
        raise ReleaseError(f"{path} does not name the Dockerfile once, so the image cannot be put in its place.")
    return text
