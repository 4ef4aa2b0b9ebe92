"""The section of a release in the changelog, and the text of the release's page."""

import re
from functools import partial

from release.facts import Release, ReleaseError

MAX_CHARS = 125_000
"""Of the text of a release (GitHub's limit)."""
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_RELATIVE_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]+)\)")
_CONTINUED = re.compile(r"(?<=[^\n|])\n *(?=[^\s|#*-])")
"""The end of a line within a paragraph or an item. A release's page would show it."""


def check_changelog(text: str, version: str) -> None:
    """Raises ReleaseError unless the first section is that of the version, without a date."""
    found = _HEADING.search(text)
    wanted = f"{version} (unreleased)"
    if not found or found[1] != wanted:
        raise ReleaseError(
            f"CHANGELOG.md does not begin with the section `## {wanted}`. Write what changes for users there. "
            "If another version is to be released, change triage/__init__.py."
        )


def write_date(text: str, release: Release) -> str:
    """Returns the changelog with the date of the release. Raises ReleaseError."""
    check_changelog(text, release.version)
    return text.replace(f"## {release.version} (unreleased)\n", f"## {release.version} ({release.date})\n", 1)


def render_notes(text: str, release: Release, commit: str) -> str:
    """Returns the text of the release's page: how to pin it, then its section. Raises ReleaseError.

    Args:
        text: The changelog with the date of the release.
        release: The release.
        commit: The commit of the release.
    """
    pin = f"{commit} # {release.tag}"
    notes = (
        f"```yaml\n- uses: {release.repository}@{pin}\n# or without Docker:\n"
        f"- uses: {release.repository}/composite@{pin}\n```\n\nImage: `{release.image}`\n\n"
        + _CONTINUED.sub(" ", _RELATIVE_LINK.sub(partial(_complete_link, release), _cut_section(text, release)))
    )
    if len(notes) > MAX_CHARS:
        raise ReleaseError(f"The section of CHANGELOG.md is longer than {MAX_CHARS} characters. Shorten it.")
    return notes


def _complete_link(release: Release, found: "re.Match[str]") -> str:
    path = f"CHANGELOG.md{found[1]}" if found[1].startswith("#") else found[1]
    return f"]({release.server_url}/{release.repository}/blob/{release.tag}/{path})"


def _cut_section(text: str, release: Release) -> str:
    heading = f"## {release.version} ({release.date})\n"
    section = text.partition(heading)[2]
    following = _HEADING.search(section)
    return (section[: following.start()] if following else section).strip() + "\n"
