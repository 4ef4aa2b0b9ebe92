"""What a fix gets of a report's example: what a model is shown, how it is run, and what two runs on each side say."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from testing.checkouts.git_repositories import commit, write
from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.domain.project_config import ReproduceConfig
from triage.domain.proposal import ExampleResult
from triage.reproduce.environments.source import has_entry_files
from triage.reproduce.fix_example import FixExample, open_fix_example

PYTHON = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "src/shop/__init__.py": "def total(prices):\n    return sum(prices) / len(prices)\n",
}
NODE = {
    "package.json": '{"name": "@acme/shop", "main": "./lib"}',
    "lib/index.js": "exports.total = (prices) => prices.reduce((sum, one) => sum + one);\n",
}
REPORT = "It fails:\n\n```python\n>>> import shop\n>>> shop.total([])\nZeroDivisionError: division by zero\n```\n"
NODE_REPORT = '```js\nconst { total } = require("@acme/shop");\nrequire("dep");\ntotal([]);\n```\n'


def open_example(root: Path, files: Mapping[str, str], body: str) -> FixExample | None:
    commit(root, files)
    return open_fix_example(root, ReproduceConfig(), Issue(title="An empty cart", body=body))


def run(example: FixExample, project: Path) -> bytes:
    folder = project.parent / "example"
    write(folder, example.files)
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(project.parent)}
    command = ["sh", str(folder / "example.sh")]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    ("files", "report", "fixed", "error"),
    [
        (PYTHON, REPORT, {"src/shop/__init__.py": "def total(prices):\n    return sum(prices)\n"}, "division by zero"),
        (
            NODE | {"node_modules/dep/index.js": ""},
            NODE_REPORT,
            {"lib/index.js": "exports.total = (prices) => prices.reduce((sum, one) => sum + one, 0);\n"},
            "Reduce of empty array",
        ),
    ],
    ids=["python", "node"],
)
def test_it_is_run_in_the_folder_of_the_project(
    tmp_path: Path, files: dict[str, str], report: str, fixed: dict[str, str], error: str
) -> None:
    root = tmp_path / "shop"
    example = open_example(root, files, report)
    assert example
    before = run(example, root)
    assert error in before.decode()
    assert example.compare(before, before).outcome == "still"
    write(root, fixed)
    assert example.compare(before, run(example, root)).outcome == "fixed"
    assert not list(tmp_path.glob("tmp*")), "nothing stays"


def test_what_the_model_is_told_without_a_run(tmp_path: Path) -> None:
    example = open_example(tmp_path / "shop", PYTHON, REPORT)
    assert example
    assert example.describe() == (
        "import shop\nshop.total([])\n\n"
        "Changed in the reporter's text:\nTook prompts and shown output away.\nThe values of bare expressions are printed, as at a prompt.\n\n"
        "The report shows:\nZeroDivisionError: division by zero"
    )


@pytest.mark.parametrize(
    ("files", "body"), [(PYTHON, "It fails.\n"), ({"notes.txt": "x"}, REPORT)], ids=["no code", "no project"]
)
def test_there_is_none(tmp_path: Path, files: dict[str, str], body: str) -> None:
    assert open_example(tmp_path / "shop", files, body) is None


def record(error: str = "", output: str = "", path: str = "/env/shop/cart.py") -> bytes:
    """What the recorder prints of one run."""
    kind, _, message = error.partition(": ")
    found = {"type": kind, "message": message, "frames": [["<example>", 2, ""], [path, 3, "total"]]}
    known: dict[str, Any] = {"errors": [found] if error else [], "executed": [], "folders": ["/env/shop"]}
    return json.dumps({"code": 1 if error else 0, "late": False, "output": output, "record": known}).encode()


FAILS, PASSES = record("ZeroDivisionError: division by zero"), record(output="0\n")
MISSING = record("ModuleNotFoundError: No module named 'numpy'")


@each_row(
    ("before", "after", "outcome", "reason"),
    [
        (FAILS, PASSES, "fixed", ""),
        (FAILS, FAILS, "still", ""),
        (FAILS, record("TypeError: no items"), "other", ""),
        (PASSES, FAILS, "broken", ""),
        (PASSES, PASSES, "unchanged", ""),
        (PASSES, record(output="1\n"), "changed", ""),
        (MISSING, PASSES, "not-run", "an import fails"),
        (MISSING, MISSING, "not-run", "an import fails"),
        (FAILS, MISSING, "not-run", "an import fails, with this change"),
        (b"", b"", "not-run", "the runner did not start"),
        (b"\xff", FAILS, "not-run", "the runner did not start"),
        (record("KeyError: 1", path="/env/other.py"), PASSES, "not-run", "it failed before it used the project"),
    ],
)
def test_what_two_sides_say(tmp_path: Path, before: bytes, after: bytes, outcome: str, reason: str) -> None:
    example = open_example(tmp_path / "shop", PYTHON, REPORT)
    assert example
    found = example.compare(b"\n".join([before] * 2), b"\n".join([after] * 2))
    assert (found.outcome, found.reason) == (outcome, reason)


def test_what_ends_in_two_ways_says_nothing(tmp_path: Path) -> None:
    example = open_example(tmp_path / "shop", PYTHON, REPORT)
    assert example
    for other in (FAILS, record(output="7\n")):
        found = example.compare(b"\n".join([PASSES, other]), PASSES)
        assert found == ExampleResult(outcome="not-run", reason="it does not end the same way twice")
    random = b"\n".join(record("ZeroDivisionError: division by zero", output=f"0.{number}\n") for number in (1, 2))
    assert example.compare(random, b"\n".join([PASSES] * 2)).outcome == "fixed", (
        "what it prints before is its own matter"
    )


@each_row(
    ("manifest", "expected"),
    [
        ('{"main": "lib/index.js"}', True),
        ('{"main": "./lib"}', True),
        ("{}", False),
        ('{"main": "dist/index.js"}', False),
        ('{"exports": {".": {"types": "./dist/index.d.ts", "import": "./lib/index.js"}}}', True),
        ('{"main": "lib/index.js", "exports": {"import": "./lib/index.js", "require": "./dist/index.cjs"}}', False),
        ('{"exports": "./dist/*.js", "main": "lib"}', True),
        ("[]", False),
        ("{", False),
    ],
)
def test_files_that_are_built_would_be_those_of_the_base(manifest: str, expected: bool) -> None:
    assert has_entry_files(manifest, ["package.json", "lib/index.js"]) is expected


def test_a_package_that_is_built_is_shown_and_not_run(tmp_path: Path) -> None:
    example = open_example(tmp_path / "shop", NODE | {"package.json": '{"name": "@acme/shop"}'}, NODE_REPORT)
    assert example
    assert example.files == {}
    assert "total([])" in example.describe()
