"""The image as the runner runs it: as root, workspace mounted, everything told by variables.

Needs an engine and a built image: `make image try`. Marked `container`, and left out unless asked for.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from testing.runs import external_services, sample_bug
from testing.runs.fix_workflow import serve_fix_workflow
from testing.runs.job import Job
from testing.servers.github_api import ApiFault, serve_issue

pytestmark = pytest.mark.container

LARGEST_IMAGE_BYTES = 400_000_000
MAX_SECONDS = 7.5
"""Seconds between the runner's SIGINT and SIGTERM (ProcessInvoker.cs); includes the container engine's share."""
ENGINE = os.environ.get("TRY_ENGINE") or shutil.which("docker") or shutil.which("podman") or "docker"
IMAGE = os.environ.get("TRY_IMAGE") or "localhost/bug-triage:dev"


def inside(*command: str) -> str:
    """Returns the output of a command in the image."""
    run = [ENGINE, "run", "--rm", "--network", "none", "--entrypoint", command[0], IMAGE, *command[1:]]
    return subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture
def github():
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as server:
        yield server


@pytest.fixture
def job(tmp_path, github):
    return Job(tmp_path, github)


def test_an_opened_issue_is_answered_once(job):
    sample_bug.commit_plain_checkout(job.workspace)
    sample_bug.assert_report(job, job.run_in_container(ENGINE, IMAGE))
    again = job.run_in_container(ENGINE, IMAGE)
    assert again.exit_code == 0, again.log
    assert len(job.github.comments) == 1


def test_no_file_of_the_workspace_is_imported_or_executed(job):
    sample_bug.write_hostile_checkout(job.workspace)
    job.commit()
    sample_bug.add_git_config_traps(job.workspace)
    done = job.run_in_container(ENGINE, IMAGE)
    assert sample_bug.find_executed_traps(job.workspace) == []
    sample_bug.assert_report(job, done)


def test_variables_of_the_workflow_do_not_import_code(job):
    sample_bug.write_hostile_checkout(job.workspace)
    job.commit()
    command = job.container_command(ENGINE, IMAGE)
    command[-1:-1] = ["-e", "PYTHONPATH=/github/workspace", "-e", "PYTHONSTARTUP=/github/workspace/json.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sample_bug.find_executed_traps(job.workspace) == []


@pytest.mark.parametrize(("sent", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_cancelled_job_ends_before_it_is_killed(job, sent, exit_code):
    sample_bug.commit_plain_checkout(job.workspace)
    job.github.faults = [ApiFault(".", delay_seconds=3600)]
    with subprocess.Popen(job.container_command(ENGINE, IMAGE), stdout=subprocess.DEVNULL) as running:
        until = time.monotonic() + 60
        while not job.github.requests and running.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
        assert job.github.requests, "the run never asked GitHub anything"
        cancelled = time.monotonic()
        subprocess.run([ENGINE, "kill", "--signal", sent.name, job.name], check=True, capture_output=True)
        assert running.wait(timeout=30) == exit_code
    assert time.monotonic() - cancelled < MAX_SECONDS
    assert (job.folder / "temp" / "summary").read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(5))
def test_a_job_that_is_cancelled_at_any_moment_leaves_a_report(tmp_path, seed):
    """From the time at which the process exists."""
    chance = random.Random(seed)
    seconds, sent = chance.uniform(0, 4) * min(seed, 1), chance.choice([signal.SIGINT, signal.SIGTERM])
    with external_services.serve_all(tmp_path / "job") as (_, job):
        with job.start_in_container(ENGINE, IMAGE) as running:
            time.sleep(seconds)
            job.signal_container(ENGINE, sent, running)
            cancelled = time.monotonic()
            done = job.wait(running, 30)
            taken = time.monotonic() - cancelled
        assert taken < MAX_SECONDS
        assert "Traceback (most recent call last)" not in done.log
        assert "Bug triage" in done.summary
        is_over = done.exit_code == 0
        assert is_over or done.exit_code == 128 + sent, done.log
        # A signal after everything was written changes only the exit code.
        assert done.outputs["status"] in (["complete"] if is_over else ["degraded", "complete"])


def test_the_image_is_small_and_starts_as_root():
    shown = subprocess.run([ENGINE, "image", "inspect", IMAGE], capture_output=True, text=True, check=True)
    facts = json.loads(shown.stdout)[0]
    assert facts["Size"] < LARGEST_IMAGE_BYTES
    assert not facts["Config"].get("User"), "only root can write the runner's files"
    assert not facts["Config"].get("WorkingDir") or facts["Config"]["WorkingDir"] == "/"


def test_the_image_has_no_tools_to_install_build_or_test():
    tools = inside(
        "sh", "-c", "for name in pip pip3 apt-get perl gcc cc make curl wget; do command -v $name; done; true"
    )
    assert tools == ""
    assert inside("sh", "-c", "find / -xdev -type d -name tests -path '*site-packages*'") == ""
    assert sorted(inside("ls", "/app").split()) == ["entrypoint.py", "triage"]


UNCOMPILED = """
import sys
from pathlib import Path
sys.path.insert(0, "/app")
sys.dont_write_bytecode = True
import triage.action, triage.run.triage_issue, triage.graph.run_graph, triage.find.codebase, triage.outside.model.chat_model, triage.outside.github.issue_tracker
cached = [getattr(module.__spec__, "cached", None) for module in list(sys.modules.values())]
print([path for path in cached if path and not Path(path).exists()])
"""


def test_all_modules_of_a_run_are_compiled():
    assert inside("/opt/venv/bin/python", "-c", UNCOMPILED).strip() == "[]"


def test_the_fix_flow_ends_in_a_draft_pull_request(tmp_path):
    def run_image(environment):
        command = [
            ENGINE,
            "run",
            "--rm",
            "--network",
            "host",
            "-v",
            f"{tmp_path}:{tmp_path}",
            "--workdir",
            str(tmp_path),
        ]
        command += [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        done = subprocess.run([*command, IMAGE], capture_output=True, text=True, check=False, timeout=120)
        return done.returncode, done.stdout + done.stderr

    with serve_fix_workflow(tmp_path) as workflow:
        workflow.run_action = run_image
        workflow.say("/triage fix")
        assert workflow.run("gate")["next-job"] == "propose"
        workflow.propose()
        frozen = workflow.run("store")
        workflow.run("report", proposal_tests="proved")
        workflow.say(f"/triage approve {frozen['proposal-id']}")
        assert workflow.run("apply")["proposal-status"] == "approved"
        (pull,) = workflow.pulls.pulls
        assert workflow.git.refs[f"refs/heads/{pull['head']['ref']}"] == frozen["proposal-sha"]
