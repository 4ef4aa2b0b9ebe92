"""Generates parts of the pages: the table of commands, the picture of the graph, and the workflows of `examples/`.

Run by `make golden`, as `python -m tests.docs_pages`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from langgraph.graph import StateGraph

from tests.docs_yaml import ROOT, list_pages
from triage.cli import COMMANDS, load_command
from triage.graph.run_graph import add_nodes
from triage.graph.triage_state import BugTriageState

_WORKFLOW = re.compile(r"(<!-- (examples/workflows/[\w-]+\.yml) -->\n```yaml\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)


def load_manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((ROOT / "action.yml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    return loaded


def render_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in [head, *rows]).replace(
        "\n", f"\n|{'---|' * len(head)}\n", 1
    )


def load_workflow(path: Path) -> dict[str, Any]:
    """Returns a workflow, with what starts it under `on`: YAML 1.1 reads that word as true."""
    loaded: dict[Any, Any] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return {"on" if key is True else key: value for key, value in loaded.items()}


def list_reusable_workflows() -> dict[str, dict[str, Any]]:
    """Returns the workflows that other repositories call, by name."""
    loaded = {path.stem: load_workflow(path) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
    return {name: workflow for name, workflow in loaded.items() if "workflow_call" in workflow["on"]}


def render_commands() -> str:
    summaries = {name: load_command(name).help.split("\n\n")[0].replace("\n", " ") for name in COMMANDS}
    return render_table(("command", "does"), [(f"`{name}`", summary) for name, summary in summaries.items()])


def render_graph() -> str:
    """Returns the graph that a run compiles, as LangGraph draws it."""
    graph = StateGraph(BugTriageState)
    add_nodes(graph)
    drawn = graph.compile().get_graph().draw_mermaid(with_styles=False)
    return f"```mermaid\n{drawn.strip()}\n```\n"


PARTS: dict[str, Callable[[], str]] = {
    "commands": render_commands,
    "graph": render_graph,
}


def regenerate(text: str) -> str:
    """Returns a page with its generated parts replaced."""
    for name, render in PARTS.items():
        pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = pattern.sub(lambda found, render=render: found[1] + render() + found[2], text)  # type: ignore[misc]
    return _WORKFLOW.sub(lambda found: found[1] + (ROOT / found[2]).read_text(encoding="utf-8") + found[4], text)


def read_pages() -> Iterator[tuple[Path, str]]:
    for page in list_pages():
        yield page, page.read_text(encoding="utf-8")


def main() -> None:
    for page, text in read_pages():
        page.write_text(regenerate(text), encoding="utf-8")


if __name__ == "__main__":
    main()
