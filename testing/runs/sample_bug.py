"""A small repository with a bug, and the issue about it, for runs from end to end."""

import json
from pathlib import Path

from testing.checkouts.git_repositories import commit
from testing.runs.action_run import JobResult
from testing.runs.job import Job

TITLE = "KeyError when the basket is empty"
TRACE = """```
Traceback (most recent call last):
  File "shop/basket.py", line 6, in total
    return sum(prices[name] for name in self.names)
KeyError: 'pear'
```
"""
BODY = f"Checkout of an empty basket crashes.\n\n{TRACE}"
BASKET = """class Basket:
    def __init__(self, names):
        self.names = names

    def total(self, prices):
        return sum(prices[name] for name in self.names)
"""

TRAP = 'open(__file__ + ".imported", "w").close()\n'
TRAP_MODULES = [
    "chromadb/__init__.py",
    "conftest.py",
    "github.py",
    "json.py",
    "langgraph/__init__.py",
    "openai/__init__.py",
    "pathlib.py",
    "sitecustomize.py",
    "triage/__init__.py",
    "triage/action.py",
    "usercustomize.py",
]
"""Modules that leave a file if they are imported."""


def write_plain_checkout(workspace: Path) -> None:
    """Writes the repository with the bug."""
    (workspace / "shop").mkdir()
    (workspace / "shop" / "basket.py").write_text(BASKET, encoding="utf-8")


def commit_plain_checkout(workspace: Path) -> None:
    """Commits the repository with the bug."""
    write_plain_checkout(workspace)
    commit(workspace)


def write_hostile_checkout(workspace: Path) -> None:
    """Writes the repository, and files that a careless program imports, runs or reads as settings."""
    write_plain_checkout(workspace)
    for name in TRAP_MODULES:
        file = workspace / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(TRAP, encoding="utf-8")
    # Chroma reads this file when it is imported, and fails.
    (workspace / ".env").write_text("CHROMA_SERVER_NOFILE=many\nINPUT_ENGINE=model\n", encoding="utf-8")
    program = workspace / "git"
    program.write_text('#!/bin/sh\ntouch "$0.imported"\n', encoding="utf-8")
    program.chmod(0o755)


def add_git_config_traps(workspace: Path) -> None:
    """Makes git's configuration run a program, as another step of the workflow may."""
    with (workspace / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write("[core]\n\tfsmonitor = ./git\n\tpager = ./git\n[diff]\n\texternal = ./git\n")


def find_executed_traps(workspace: Path) -> list[str]:
    """Returns the traps that were executed."""
    return sorted(str(file.relative_to(workspace)) for file in workspace.rglob("*.imported"))


def assert_report(job: Job, done: JobResult) -> None:
    """Asserts that the run found the file, wrote one comment and set the outputs."""
    assert done.exit_code == 0, done.log
    assert done.outputs["status"] == "complete", done.log
    assert done.outputs["engine"] == "rules"
    assert json.loads(done.outputs["suspect-files"])[0] == "shop/basket.py"
    assert "basket.py" in done.summary
    assert len(job.github.comments) == 1
    assert "/shop/basket.py#L" in job.github.comments[0]["body"]
    assert "Traceback (most recent call last)" not in done.log
    report = json.loads((job.workspace / done.outputs["report-file"]).read_text(encoding="utf-8"))
    assert report["suspects"][0]["path"] == "shop/basket.py"
