"""The pages agree with the code: generated tables, workflows, links, and the messages that they quote."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
import yaml

from testing.each_row import each_row
from tests.docs_pages import list_reusable_workflows, load_manifest, read_pages, regenerate
from tests.docs_yaml import ROOT, list_blocks

PAGES = dict(read_pages())
EXAMPLES = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
DIFF = re.compile(r"<!-- (examples/workflows/[\w-]+\.yml) -->\n```diff\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HREF = re.compile(r'(?:href|src)="([^"]+)"')
HEADING = re.compile(r"<h\d>(.*?)</h\d>")
TAG = re.compile(r"<[^>]+>")
MESSAGE_ROW = re.compile(r"^- (`[^`]+`(?:[^:`]|`[^`]+`)*):", re.MULTILINE)
NOT_A_MESSAGE = {"`permissions: issues: write`", "`status: skipped`", "`status: complete`", "`/triage`", "`comment`"}


def render_html(markdown: str) -> str:
    html: str = cmarkgfm.github_flavored_markdown_to_html(markdown)
    return html


def list_anchors(page: Path) -> set[str]:
    """Returns the anchors of the headings, as GitHub makes them."""
    titles = [TAG.sub("", found).lower() for found in HEADING.findall(render_html(page.read_text(encoding="utf-8")))]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def find_broken_links(page: Path, markdown: str) -> Iterator[str]:
    for link in HREF.findall(render_html(markdown)):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in list_anchors(target)):
            yield link


@cache
def read_strings_of_the_code() -> str:
    """Returns every string of the program, its templates and its workflows, but no docstring. An f-string gives its
    fixed parts."""
    files = [*sorted((ROOT / "triage").rglob("*.j2")), *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
    texts = [path.read_text(encoding="utf-8") for path in files]
    for path in sorted((ROOT / "triage").rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        strings = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in alone]
        texts += [node.value for node in strings if isinstance(node.value, str)]
    return "\n".join(texts)


def find_quoted_messages(markdown: str) -> list[str]:
    """Returns the fixed parts of the messages with which the items of the troubleshooting page begin."""
    cells = MESSAGE_ROW.findall(markdown)
    quoted = [piece for cell in cells for piece in re.findall(r"`[^`]+`", cell) if piece not in NOT_A_MESSAGE]
    return [part.strip() for piece in quoted for part in re.split("…", piece.strip("`")) if len(part.strip()) > 5]


@each_row("page", PAGES)
def test_generated_parts_are_current(page: Path) -> None:
    assert regenerate(PAGES[page]) == PAGES[page], "run `make golden`"


@pytest.mark.parametrize(
    ("page", "old"),
    [("docs/reference.md", "| `backtest` |"), ("README.md", "issue_comment:"), ("docs/server.md", "-.-> critic")],
)
def test_a_changed_part_is_generated_again(page: str, old: str) -> None:
    text = PAGES[ROOT / page]
    assert old in text
    assert regenerate(text.replace(old, "changed")) == text


@each_row("name", load_manifest()["inputs"])
def test_the_reference_names_every_input(name: str) -> None:
    assert f"`{name}`" in PAGES[ROOT / "docs" / "reference.md"]


@each_row("path", EXAMPLES)
def test_every_example_is_linked_or_shown(path: Path) -> None:
    assert any(f"examples/workflows/{path.name}" in text for text in PAGES.values())


def lists_new_issues(workflow: dict[Any, Any]) -> bool:
    return "issues" in workflow[True]  # YAML 1.1 reads the key `on` as true


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_a_workflow_that_comments_on_new_issues_hears_the_commands_that_the_comment_offers(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not lists_new_issues(workflow):
        return
    assert workflow[True]["issue_comment"] == {"types": ["created"]}
    if "uses" in workflow["jobs"]["triage"]:
        workflow = list_reusable_workflows()["triage"]
    assert workflow["concurrency"]["queue"] == "max"
    assert "!github.event.issue.pull_request" in workflow["jobs"]["triage"]["if"]


def test_there_are_workflows_that_comment_on_new_issues() -> None:
    found = [path.name for path in EXAMPLES if lists_new_issues(yaml.safe_load(path.read_text(encoding="utf-8")))]
    assert {"triage.yml", "triage-with-model.yml", "triage-by-label.yml"} <= set(found)


def test_every_whole_workflow_on_a_page_is_an_example() -> None:
    examples = {path.read_text(encoding="utf-8") for path in EXAMPLES}
    shown = [block for block in list_blocks() if block.is_complete]
    assert shown
    assert {block.workflow for block in shown} <= examples


@pytest.mark.parametrize(("path", "diff"), [found for text in PAGES.values() for found in DIFF.findall(text)])
def test_a_diff_turns_the_minimal_example_into_another_one(path: str, diff: str) -> None:
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] != "+")
    after = "".join(line[1:] for line in lines if line[0] != "-")
    minimal = (ROOT / "examples" / "workflows" / "triage.yml").read_text(encoding="utf-8")
    assert minimal.count(before) == 1
    assert minimal.replace(before, after) == (ROOT / path).read_text(encoding="utf-8")


@each_row("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(find_broken_links(page, PAGES[page]))


def test_broken_links_are_found() -> None:
    page = ROOT / "docs" / "telemetry.md"
    assert list(find_broken_links(page, "[a](none.md) [b](memory.md#none) [c](#telemetry) ![d](none.png)")) == [
        "none.md",
        "memory.md#none",
        "none.png",
    ]


@each_row("message", find_quoted_messages(PAGES[ROOT / "docs" / "troubleshooting.md"]))
def test_a_quoted_message_is_one_of_the_code(message: str) -> None:
    assert any(message in " ".join(text.split()) for text in read_strings_of_the_code().split("\n"))


def test_messages_are_quoted() -> None:
    page = "- `The token may not …: x` of a job: see `a`\n- plain `word`: b\n"
    assert find_quoted_messages(page) == ["The token may not"]
    assert "unheard-of message" not in read_strings_of_the_code()
    assert "Exit code 2 at a terminal." not in read_strings_of_the_code()


def test_contributing_describes_every_package() -> None:
    packages = {
        path.stem for path in (ROOT / "triage").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    cells = re.findall(r"^\| ((?:`\w+` ?)+)\|", PAGES[ROOT / "CONTRIBUTING.md"], re.MULTILINE)
    described = {name for cell in cells for name in re.findall(r"\w+", cell)}
    assert described == packages - {"__init__", "__main__"}


PATH_IN_TEXT = re.compile(
    r"`((?:triage|tests|testing|bench|trust|docs|examples|agents|graph|safety|jobs|fix|writes|backlog|events|comment|base)/[\w/-]+\.\w+)`"
)


@each_row("page", [page for page in PAGES if page.parent.name != "examples"])
def test_files_that_a_page_names_exist(page: Path) -> None:
    paths = PATH_IN_TEXT.findall(PAGES[page])
    assert [path for path in paths if not (ROOT / path).exists() and not (ROOT / "triage" / path).exists()] == []
