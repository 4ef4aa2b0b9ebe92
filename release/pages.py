"""Writes the repository's name and a release into the pages and examples.

Before the first release they have placeholders, because a commit knows neither its repository nor itself.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from release.facts import Release, name_image

PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "examples/**/*.yml", "bench/*.md")
_OWNER = "OWNER"
_NAME = "bug-triage"
_BEFORE = re.compile(
    r"^<!-- before the first release -->\n.*?^<!-- /before the first release -->\n", re.DOTALL | re.MULTILINE
)


def rewrite_pages(root: Path, release: Release, commit: str = "") -> dict[str, str]:
    """Returns the changed pages by path. They use the version, or the commit of the release if it is given."""
    texts = {path: path.read_text(encoding="utf-8") for path in _list_pages(root)}
    changed = {path: rewrite_page(text, release, commit) for path, text in texts.items()}
    return {str(path.relative_to(root)): text for path, text in changed.items() if text != texts[path]}


def rewrite_page(text: str, release: Release, commit: str = "") -> str:
    """Returns a page as of a release: which action to use, which image it runs, and who owns both."""
    text = _BEFORE.sub("", text)
    for start, remark in ((r"(?<=uses: )", f" # {release.tag}"), (r"(?<!uses: )\b", "")):
        reference = f"{commit}{remark}" if commit else release.tag
        text = re.sub(start + _match_reference(release), rf"{release.repository}\g<folder>@{reference}", text)
    text = text.replace(f"ghcr.io/{_OWNER}/{_NAME}", name_image(release.repository))
    text = re.sub(
        rf"({re.escape(name_image(release.repository))})@sha256:(?:DIGEST|[0-9a-f]{{64}})\b",
        rf"\1@{release.digest}",
        text,
    )
    owner = release.repository.partition("/")[0]
    text = text.replace(f"ghcr.io/{_OWNER}/", f"ghcr.io/{owner.lower()}/")
    text = re.sub(rf"\b{_OWNER}/{_NAME}\b", release.repository, text)
    return re.sub(rf"\b{_OWNER}\b", owner, text)


def _match_reference(release: Release) -> str:
    # Also what an earlier release has written. A remark stands in YAML only: in a command it would end the line.
    names = f"{_OWNER}/{_NAME}|{re.escape(release.repository)}"
    remark = r"(?: # (?:the commit of a release|v\d+\.\d+\.\d+))?"
    folder = r"(?P<folder>(?:/composite|/\.github/workflows/[\w-]+\.yml)?)"
    return rf"(?:{names}){folder}@(?:[0-9a-f]{{40}}|v\d+\.\d+\.\d+)\b{remark}"


def _list_pages(root: Path) -> Iterator[Path]:
    for pattern in PAGES:
        yield from (path for path in sorted(root.glob(pattern)) if path.is_file())
