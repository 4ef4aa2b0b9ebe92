"""The YAML blocks of what people read, as the workflows that they become when somebody copies them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"^```ya?ml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_AROUND_STEPS = """\
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


@dataclass(frozen=True)
class Block:
    """One block: where it stands, and its text as a whole workflow; steps alone get a plain one around them."""

    place: str
    workflow: str

    @property
    def parsed(self) -> dict[Any, Any]:
        """Its YAML. `on` is read as true."""
        loaded: dict[Any, Any] = yaml.safe_load(self.workflow)
        return loaded

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return list(self.parsed["jobs"].values())

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [step for job in self.jobs for step in job["steps"]]


def pages() -> list[Path]:
    """What people read."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def blocks(markdown: str, name: str) -> Iterator[Block]:
    """The page's blocks that are workflows or steps; the project's own settings are none."""
    for found in _BLOCK.finditer(markdown):
        loaded = yaml.safe_load(found[1])
        place = f"{name}-{markdown[: found.start()].count(chr(10)) + 1}"
        if isinstance(loaded, list):
            yield Block(place, _AROUND_STEPS + "".join(f"      {line}\n" for line in _dedented(found[1])))
        elif "jobs" in loaded:
            yield Block(place, found[1])
        elif "on" in loaded or True in loaded or "steps" in loaded:
            raise ValueError(f"{place}: a piece of a workflow that nothing checks")


def all_blocks() -> list[Block]:
    """Of all pages."""
    found = ((page, page.read_text(encoding="utf-8")) for page in pages())
    return [block for page, text in found for block in blocks(text, page.stem)]


def _dedented(text: str) -> list[str]:
    lines = text.splitlines()
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return [line[margin:] for line in lines]
