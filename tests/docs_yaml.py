"""The YAML blocks of the pages, as the workflows that people make of them."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from triage import __version__

ROOT = Path(__file__).parent.parent
PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "bench/*.md", "release/*.md", "tests/*.md")
_BLOCK = re.compile(r"^```ya?ml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_OWN_VERSION = re.compile(
    rf"^(.*uses: [\w.-]+/[\w.-]+(?:/composite|/\.github/workflows/[\w-]+\.yml)?)@v{re.escape(__version__)}$",
    re.MULTILINE,
)
STEPS_WORKFLOW = """\
name: example
on:
  issues:
    types: [opened]
permissions: {}
concurrency:
  group: example-${{ github.event.issue.number }}
  cancel-in-progress: false
jobs:
  example:
    name: example
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: read # to read the code
      issues: write # to write the comment
    steps:
"""
"""The workflow around blocks that are steps only."""


@dataclass(frozen=True)
class Block:
    """A block of a page as a whole workflow."""

    location: str
    workflow: str

    @property
    def pinned(self) -> str:
        """The workflow with a commit in place of our version: a release's own commit cannot name itself."""
        return _OWN_VERSION.sub(rf"\1@{'0' * 40} # v{__version__}", self.workflow) if is_release() else self.workflow

    @property
    def is_complete(self) -> bool:
        """Whether the page shows the whole workflow, not only steps."""
        return not self.workflow.startswith(STEPS_WORKFLOW)

    @property
    def parsed(self) -> dict[Any, Any]:
        """The YAML. The key `on` is read as true."""
        loaded: dict[Any, Any] = yaml.load(self.workflow, yaml.CSafeLoader)
        return loaded

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return list(self.parsed["jobs"].values())

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Its steps; a job that calls another workflow counts as the step that it is for whoever reads the file."""
        return [step for job in self.jobs for step in job.get("steps", [{"uses": job.get("uses", "")}])]


def is_release() -> bool:
    """Whether this is the tree of a release, whose action names a finished image."""
    return "image: docker://" in (ROOT / "action.yml").read_text(encoding="utf-8")


def list_pages() -> list[Path]:
    return sorted(page for pattern in PAGES for page in ROOT.glob(pattern))


def parse_blocks(markdown: str, name: str) -> Iterator[Block]:
    """Yields the blocks of a page that are workflows or steps. Other YAML, such as project settings, is left out.

    Raises:
        ValueError: A block is a part of a workflow that nothing could check.
    """
    for found in _BLOCK.finditer(markdown):
        loaded = yaml.safe_load(found[1])
        location = f"{name}-{markdown[: found.start()].count(chr(10)) + 1}"
        if isinstance(loaded, list):
            yield Block(location, STEPS_WORKFLOW + textwrap.indent(textwrap.dedent(found[1]), " " * 6))
        elif "jobs" in loaded:
            yield Block(location, found[1])
        elif "on" in loaded or True in loaded or "steps" in loaded:
            raise ValueError(f"{location}: a part of a workflow that nothing checks")


def list_blocks() -> list[Block]:
    """Returns the blocks of all pages."""
    texts = [(page, page.read_text(encoding="utf-8")) for page in list_pages()]
    return [block for page, text in texts for block in parse_blocks(text, page.stem)]
