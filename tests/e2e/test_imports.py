"""What a process loads: a run without a key no model's SDK and no gRPC; a skipped event no flow at all."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.runs.job import ENTRYPOINT, MOUNTS, ROOT, Job
from testing.servers.github_api import serve_issue

UNWANTED = {"openai", "grpc", "langchain_openai", "langchain_tavily"}
LIST_MODULES = """
import os, runpy, sys

sys.argv.pop(0)
listing = LISTING
def leave(code, leave=os._exit):
    with open(listing, "w") as file:
        file.writelines(f"{name}\\n" for name, module in list(sys.modules.items()) if getattr(module, "__file__", None))
    leave(code)

def fail(program, words, kept):
    assert not [value for value in kept.values() if KEY in value]
    raise PermissionError(1, "Operation not permitted")

os._exit, os.execve = leave, fail  # the action would start again in the same process
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    leave(0)
"""
"""Runs a file as Python does, and lists the modules that were loaded from a file in the end."""


@pytest.fixture
def job(tmp_path: Path):
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        job = Job(tmp_path / "job", github)
        sample_bug.commit_plain_checkout(job.workspace)
        yield job


def run_action(job: Job) -> tuple[JobResult, set[str]]:
    """The result of the action, which cannot start anew, and the modules that it has loaded in the end."""
    listing, program = job.folder / "modules", job.folder / "list_modules.py"
    code = LIST_MODULES.replace("LISTING", repr(str(listing))).replace("KEY", repr(job.inputs["github-token"].encode()))
    program.write_text(code, encoding="utf-8")
    variables = job.environment({name: str(job.folder / name) for name in MOUNTS})
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, str(program), str(ENTRYPOINT)]
    done = subprocess.run(command, env=environment, cwd=job.workspace, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result = job.read_result(done.returncode, done.stdout + done.stderr)
    return result, set(listing.read_text(encoding="utf-8").split())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_without_a_handover_it_warns_and_removes_the_keys_and_without_a_model_it_loads_no_sdk_and_no_grpc(job: Job):
    done, modules = run_action(job)
    sample_bug.assert_report(job, done)
    assert "::warning::The environment could not be cleaned (operation not permitted)" in done.log
    loaded = packages(modules)
    assert loaded & UNWANTED == set()
    assert {"langgraph", "chromadb"} <= loaded, "the graph runs, and Chroma has the vectors"


def test_a_skipped_event_loads_neither_flows_nor_graph(job: Job):
    job.variables["GITHUB_EVENT_NAME"] = "push"
    _, loaded = run_action(job)
    assert (
        packages(loaded) & (UNWANTED | {"langgraph", "langchain_core", "chromadb", "numpy", "github", "httpx"}) == set()
    )
    unneeded = (
        "triage.run.triage_issue",
        "triage.graph",
        "triage.find",
        "triage.read",
        "triage.agents",
    )
    assert [name for name in loaded if name.startswith(unneeded)] == []
    assert "triage.run.may_run.route" in loaded


def test_the_modules_that_the_image_compiles_exist():
    command = re.search(r"python -c 'import ([^']+)'", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert command
    assert [name for name in command[1].split(", ") if find_spec(name) is None] == []
