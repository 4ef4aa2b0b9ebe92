"""Workflows on the pages, in `examples/` and in `.github/` are valid and safe.

zizmor finds dangers, GitHub's schema finds mistakes, and a few rules are ours.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from testing.each_row import each_row
from tests.docs_pages import list_reusable_workflows
from tests.docs_yaml import ROOT, Block, list_blocks, parse_blocks

BIN = Path(sys.executable).parent
BLOCKS = list_blocks()
WORKFLOWS = [
    Block(path.stem, path.read_text(encoding="utf-8"))
    for folder in (".github/workflows", "examples/workflows")
    for path in sorted((ROOT / folder).glob("*.yml"))
]
PINNED = re.compile(r"[\w./-]+@[0-9a-f]{40}|\./(?:composite)?|\$/(?:composite|container)")


def run_linters(folder: Path, *blocks: Block) -> list["subprocess.CompletedProcess[str]"]:
    """zizmor and the schema; both name the files in which they find something."""
    paths = [folder / ".github" / "workflows" / f"{block.location}.yml" for block in blocks]
    paths[0].parent.mkdir(parents=True)
    for path, block in zip(paths, blocks, strict=True):
        path.write_text(block.pinned, encoding="utf-8")
    return [
        subprocess.run([BIN / command[0], *command[1:], *paths], capture_output=True, text=True, check=False)
        for command in (
            ["zizmor", "--offline", "--no-progress", "--quiet", "--persona", "pedantic"],
            ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
        )
    ]


def test_there_are_blocks():
    assert {"README", "telemetry"} <= {block.location.partition("-")[0] for block in BLOCKS}


def test_linters_find_nothing(tmp_path: Path):
    assert len({block.location for block in BLOCKS}) == len(BLOCKS)
    for done in run_linters(tmp_path, *BLOCKS):
        assert done.returncode == 0, done.stdout + done.stderr


@each_row("block", BLOCKS)
def test_a_block_takes_no_more_than_is_needed(block: Block):
    assert block.parsed["permissions"] == {}
    for job in block.jobs:
        assert job["permissions"].items() <= {"contents": "read", "issues": "write", "actions": "read"}.items()
        assert "uses" in job or job["timeout-minutes"] <= 15
    triggers = block.parsed[True]
    assert set(triggers) <= {"issues", "issue_comment", "workflow_dispatch", "push"}


@each_row("block", [*BLOCKS, *WORKFLOWS])
def test_runs_of_one_issue_wait_for_each_other(block: Block):
    """A later event must not cancel a run that is writing."""
    workflow = block.parsed
    if "uses" in (job := block.jobs[0]):
        workflow = list_reusable_workflows()[job["uses"].partition(".yml@")[0].rpartition("/")[2]]
    group = workflow.get("concurrency", {})
    if "issues" in block.parsed[True]:
        assert "github.event.issue.number" in group["group"]
        assert group["cancel-in-progress"] is False


@each_row("block", [*BLOCKS, *WORKFLOWS])
def test_everything_is_pinned_and_no_token_stays(block: Block):
    for step in Block(block.location, block.pinned).steps:
        used = step.get("uses", "./")
        assert PINNED.fullmatch(used), used
        if used.startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", ""), "what an expression says belongs into env:"


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_no_cache_is_restored_where_something_is_released(path: Path):
    """A stranger's run may have filled it."""
    if "release" in path.name:
        assert "actions/cache" not in path.read_text(encoding="utf-8")
        assert "cache-from" not in path.read_text(encoding="utf-8")


def test_pages_show_outputs_through_the_environment_only():
    for block in BLOCKS:
        assert "outputs." not in "".join(step.get("run", "") for step in block.steps)


def test_a_piece_of_a_workflow_does_not_go_unchecked():
    with pytest.raises(ValueError, match="nothing checks"):
        list(parse_blocks("```yaml\non: push\n```\n", "page"))
    assert not list(parse_blocks("```yaml\nignore: [a]\n```\n", "page"))


def test_the_image_and_its_requirements_are_pinned():
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    bases = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert bases[0].count("@sha256:") == 1
    assert set(bases[1:]) <= {"base", "scratch"}
    assert "--require-hashes" in dockerfile
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        wanted = re.findall(r"^[\w.-]+(?:\[[\w,]+\])?==", text, re.MULTILINE)
        assert len(re.findall(r" \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", text)) == len(wanted) > 20
        assert "index-url" not in text


def test_the_action_takes_no_argument_from_an_event():
    """`args:` of a Docker action is a command line; a title must not get into it."""
    runs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]
    assert set(runs) == {"using", "image"}
