"""The script of the job `verify` in `examples/enterprise/fix.yml`, as the runner runs it, with another `docker`."""

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

_WORKFLOW = Path(__file__).parents[2] / "examples/enterprise/fix.yml"
STEPS: list[dict[str, Any]] = yaml.safe_load(_WORKFLOW.read_text(encoding="utf-8"))["jobs"]["verify"]["steps"]
(VERIFY,) = (step for step in STEPS if step.get("id") == "tests")
RUNNING_DOCKER = """#!/bin/sh
# Runs the script of the container here, in folders of its own.
for word; do case "$word" in *:/patched:ro) patched=${word%%:*};; *:/example:ro) example=${word%%:*};; esac; script=$word; done
own=$(mktemp -d "$PWD/container-XXXX"); mkdir "$own/project" "$own/tmp"
TEST_COMMAND=$(echo "$TEST_COMMAND" | sed "s#=/tmp/#=$own/tmp/#"); export TEST_COMMAND
cd "$own/project" && exec sh -c "$(echo "$script" | sed "s#/tmp/#$own/tmp/#g; s#/patched/#$patched/#; s#/project/#$own/project/#g; s#/example/#$example/#")"
"""


def run_verify(folder: Path, docker: str, **environment: str) -> tuple[str, str]:
    """Runs the script with this program as `docker`. Returns its outcome and what it printed.

    The folder has the checkouts, and `.triage` of the job before.
    """
    program = folder / "bin" / "docker"
    program.parent.mkdir(exist_ok=True)
    program.write_text(docker)
    program.chmod(0o755)
    output = folder / "output"
    known = {"PATH": f"{program.parent}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(output)} | environment
    done = subprocess.run(
        ["bash", "-e", "-c", VERIFY["run"]], cwd=folder, env=known, check=True, capture_output=True, text=True
    )
    return output.read_text().strip(), done.stdout
