"""`examples/workflows/fix.yml`: which job may do what, and what its job `verify` makes of the tests."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs_pages import load_manifest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "examples/workflows/fix.yml").read_text(encoding="utf-8")
JOBS: dict[str, Any] = yaml.safe_load(TEXT)["jobs"]
READ = {"contents": "read", "issues": "read"}


def find_step(job: str, used: str) -> dict[str, Any]:
    (found,) = [step for step in JOBS[job]["steps"] if step.get("uses", "").startswith(used)]
    return dict(found)


def ours(job: str) -> dict[str, Any]:
    (found,) = [step for step in JOBS[job]["steps"] if "fix" in step.get("with", {})]
    return dict(found)


def test_what_each_job_may_do() -> None:
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "gate": READ,
        "propose": READ,
        "freeze": {"contents": "write", "issues": "read"},
        "verify": {"contents": "read"},
        "report": {"contents": "read", "issues": "write"},
        "apply": {"contents": "write", "issues": "write", "pull-requests": "write"},
    }
    assert yaml.safe_load(TEXT)["permissions"] == {}


def test_only_the_job_that_can_only_read_has_a_key() -> None:
    with_secrets = [name for name, job in JOBS.items() if "secrets." in yaml.safe_dump(job)]
    assert with_secrets == ["propose"]
    assert set(JOBS["propose"]["permissions"].values()) == {"read"}


def test_each_job_runs_its_part_of_the_flow() -> None:
    stages = {name: ours(name)["with"]["fix"] for name in JOBS if name != "verify"}
    assert stages == {name: name for name in JOBS if name != "verify"}


def test_nothing_but_the_gate_starts_by_itself() -> None:
    assert "needs" not in JOBS["gate"]
    for name, job in JOBS.items():
        needs = job.get("needs", [])
        assert name == "gate" or needs, f"{name} waits for nothing"
        if name != "gate":
            assert "needs." in job["if"]


def test_inputs_and_outputs_exist() -> None:
    manifest = load_manifest()
    for name in JOBS:
        if name != "verify":
            assert set(ours(name)["with"]) <= set(manifest["inputs"])
    used = set(re.findall(r"steps\.triage\.outputs\.([\w-]+)", TEXT))
    assert used <= set(manifest["outputs"])
    for job, output in re.findall(r"needs\.(\w+)\.outputs\.([\w-]+)", TEXT):
        assert output in JOBS[job]["outputs"], f"{job} has no output {output}"


def test_the_patched_code_has_no_network_and_no_token() -> None:
    script = JOBS["verify"]["steps"][-1]["run"]
    assert "--network none" in script
    assert "docker.sock" not in TEXT
    assert "GITHUB_TOKEN" not in TEXT
    checkouts = [step for step in JOBS["verify"]["steps"] if "checkout" in step.get("uses", "")]
    assert [step["with"]["path"] for step in checkouts] == ["base", "after", "before"]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize(
    ("failing", "has_test", "outcome"),
    [
        ("before", True, "proved"),
        ("", True, "unproved"),
        ("", False, "unproved"),
        ("after", True, "failed"),
        ("before after", True, "failed"),
        ("after", False, "failed"),
        ("before after base", True, "unclear"),
        ("before:125", True, "unproved"),
        ("after:137", True, "none"),
    ],
)
def test_what_verify_makes_of_the_tests(tmp_path: Path, failing: str, has_test: bool, outcome: str) -> None:
    """The script as the runner starts it, with a docker that fails for some of the folders."""
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(
        '#!/bin/sh\nfor one in $FAILING; do case "$*" in *"/${one%:*}:/patched:ro"*)\n'
        'case "$one" in *:*) exit "${one#*:}";; *) exit 1;; esac;; esac; done\necho ::error::x\nexit 0\n'
    )
    docker.chmod(0o755)
    for folder in ["after", *(["before"] if has_test else [])]:
        (tmp_path / folder).mkdir()
    output = tmp_path / "output"
    script = JOBS["verify"]["steps"][-1]["run"]
    environment = {"PATH": f"{docker.parent}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(output), "FAILING": failing}
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    first, *_, last = done.stdout.splitlines()
    assert first == f"::stop-commands::{last.strip(':')}", "what the tests print is no command to the runner"
    assert output.read_text() == f"tests={outcome}\n"
