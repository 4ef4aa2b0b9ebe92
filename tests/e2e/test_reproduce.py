"""`/triage reproduce` job by job: real HTTP, git, wheels and runs. Containers are virtual environments here."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing import command_line
from testing.checkouts.git_repositories import commit, git
from testing.runs.reproduce_workflow import ReproduceWorkflow
from testing.servers.github_api import serve_github_api
from testing.servers.issue_writes_api import IssueWritesApi
from tests.reproduce.small_shop import BACKEND, BAD, GOOD, ISSUE, PYTHON, make_repository, serve_packages, variables
from triage.reproduce.environments.virtual import VirtualEnvironments
from triage.reproduce.jobs import run_reproduce_job

VERSIONS = {"1.0": GOOD, "1.1": BAD}
TEXT = ISSUE.partition("\n\n")[2].replace("shop 1.4", "shop 1.1")


@pytest.fixture
def workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReproduceWorkflow]:
    monkeypatch.setattr(run_reproduce_job, "DockerEnvironments", VirtualEnvironments)
    make_repository(tmp_path / "checkout", VERSIONS)
    with serve_packages(VERSIONS) as url, serve_github_api() as api:
        known = variables(url, tmp_path)
        for name, value in known.items():  # the registry and the programs, which a job has in its own environment
            monkeypatch.setenv(name, value)
        api.add_issue(title="total() fails", body=TEXT)
        api.roles["mona"] = {"role_name": "triage", "permission": "read"}
        api.viewer = "github-actions[bot]"
        yield ReproduceWorkflow(tmp_path, api, IssueWritesApi(api), known)


def test_the_next_triage_knows_where_the_example_fails(workflow: ReproduceWorkflow) -> None:
    checkout = workflow.folder / "checkout"
    money = BAD.replace("total", "add_up")
    through = "from shop.money import add_up\n\n\ndef total(items):\n    return add_up(items)\n"
    config = {".github/triage.yml": "ignore: [wheels.py, backend.py, .triage]\n"}
    commit(checkout, {"shop/money.py": money, "shop/__init__.py": through, **config})
    workflow.api.issues[7]["title"] = "Empty carts fail"
    workflow.api.issues[7]["body"] = (
        "In shop 1.1 this fails, a `ValueError`:\n\n```python\nimport shop\nshop.total([])\n```\n"
    )
    workflow.say("/triage reproduce")
    block = workflow.run_all()
    assert block.startswith("**Still happens on `main`")
    assert workflow.parts.report == ""
    assert not (checkout / ".triage/report.json").exists(), "nothing is triaged by the way"
    head = commit(checkout, {"README.md": "A commit later."})
    workflow.say("/triage", by=workflow.api.issues[7]["user"]["login"])
    workflow.run_task("triage")
    where = f"[`shop/money.py`](https://github.com/octo/shop/blob/{head}/shop/money.py), `add_up`"
    assert workflow.parts.report.startswith(f"**When the example is run, it fails in {where}.**")
    assert workflow.parts.reproduction == block
    report = json.loads((checkout / ".triage/report.json").read_text())
    assert (report["found"]["is_of_run"], report["found"]["line"]) == (True, 3)
    workflow.event_name, workflow.event = "schedule", {}
    assert workflow.run("select")["next-job"] == "run", "what failed is run again each week"


def test_the_jobs_say_what_the_terminal_says_also_of_a_version_that_cannot_be_installed(
    workflow: ReproduceWorkflow,
) -> None:
    folder = workflow.folder / "checkout"
    pyproject = (folder / "pyproject.toml").read_text()
    oldest = pyproject.replace(PYTHON, ">=3.6")  # the Python of the named version counts, not of the oldest
    for version, files in (
        ("0.9", {"pyproject.toml": oldest}),
        ("1.2", {"pyproject.toml": pyproject, "backend.py": "raise ValueError('no tools')\n"}),
        ("1.3", {"backend.py": BACKEND, "shop/__init__.py": GOOD}),
    ):
        commit(folder, files)
        git(folder, "tag", f"v{version}")
    (workflow.folder / "issue.md").write_text(f"# total() fails\n\n{TEXT}")
    arguments = ["reproduce", "--repo", str(folder), "--issue", "issue.md", "--no-container", "--bisect"]
    terminal = command_line.run_command(arguments, workflow.variables, workflow.folder).stdout
    workflow.say("/triage reproduce")
    block = workflow.run_all()
    said = "Changed between `1.1` and `1.3`; `1.2` could not be installed: ValueError: no tools"
    assert said.replace("`", "") in " ".join(terminal.split())
    assert said in block
    assert "Does that version work for you" not in block
    assert runtimes(block) == runtimes(terminal)


def runtimes(text: str) -> list[str]:
    return re.findall(r"Python 3[\d.]+", text)
