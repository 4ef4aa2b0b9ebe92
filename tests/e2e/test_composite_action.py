"""`composite/action.yml` as the runner runs it: its steps in bash, with the environment of each, without an image.

Actions of others are replaced by their outputs. `tests/composite` tests the installation, which is skipped here.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from testing.runner_grammar import parse_outputs
from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.runs.job import MOUNTS, ROOT, Job
from testing.servers.github_api import ApiFault, serve_issue

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "composite" / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")
CONDITION = re.compile(r"([\w.-]+) != '(\w+)'")
BASH = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"]
"""How the runner starts `shell: bash` (ScriptHandlerHelpers.cs)."""


@dataclass
class Composite:
    """The steps of the action in one job."""

    job: Job
    python: str = sys.executable
    contexts: dict[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)

    def run(self) -> JobResult:
        """Runs all steps, and returns the result with the outputs that the action hands on."""
        done = self.finish(self.start())
        outputs = {name: self.resolve(entry["value"]) for name, entry in ACTION["outputs"].items()}
        return JobResult(done.exit_code, done.log, outputs, done.summary)

    def start(self) -> "subprocess.Popen[bytes]":
        """Runs the steps before the last one, and starts that."""
        given = {name: entry["default"] for name, entry in ACTION["inputs"].items()} | self.job.inputs
        self.contexts |= {f"inputs.{name}": value for name, value in given.items()}
        self.contexts["steps.python.outputs.python-path"] = self.python
        *before, last = ACTION["runs"]["steps"]
        for step in before:
            if self.is_due(step) and "run" in step:
                assert self.finish(self.start_step(step)).exit_code == 0, self.job.log.read_text()
        return self.start_step(last)

    def is_due(self, step: dict[str, Any]) -> bool:
        condition = step.get("if", "")
        parts = [part.strip() for part in condition.split("&&")] if condition else []
        found = [CONDITION.fullmatch(part) for part in parts]
        assert all(found), f"this test cannot read {condition}"
        return all(self.contexts.get(part[1], "") != part[2] for part in found if part)

    def start_step(self, step: dict[str, Any]) -> "subprocess.Popen[bytes]":
        assert step["shell"] == "bash"
        self.ran.append(step["name"])
        script = self.job.folder / "temp" / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        folders = {name: str(self.job.folder / name) for name in MOUNTS}
        runner = {name: v for name, v in self.job.environment(folders).items() if not name.startswith("INPUT_")}
        own = {name: self.resolve(text) for name, text in step["env"].items()}
        action = {"GITHUB_ACTION_PATH": str(ROOT / "composite"), "PATH": os.environ["PATH"]}
        with self.job.log.open("wb") as log:
            return subprocess.Popen(
                [*BASH, str(script)],
                cwd=self.job.workspace,
                env=runner | action | own,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def finish(self, running: "subprocess.Popen[bytes]") -> JobResult:
        done = self.job.wait(running)
        step = {"Name the folders": "plan", "Triage": "triage"}.get(self.ran[-1], "")
        written = parse_outputs((self.job.folder / "temp" / "output").read_bytes())
        self.contexts |= {f"steps.{step}.outputs.{name}": value for name, value in written.items()}
        return done

    def resolve(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: self.contexts.get(found[1], ""), text)


@pytest.fixture
def composite(tmp_path: Path) -> Iterator[Composite]:
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        job = Job(tmp_path, github)
        composite = Composite(job)
        install_packages_of_this_python(composite)
        yield composite


def check_out(composite: Composite, write: Callable[[Path], None] = sample_bug.write_plain_checkout) -> None:
    write(composite.job.workspace)
    composite.job.commit()


def install_packages_of_this_python(composite: Composite) -> None:
    """Leaves what an earlier step of the job would have installed: here the environment of these tests."""
    home = composite.job.folder / "temp" / "bug-triage"
    home.mkdir()
    (home / "venv").symlink_to(sys.prefix)
    script = f"import runpy; run = runpy.run_path({str(ROOT / 'composite/install.py')!r}); "
    code = script + "print(run['make_mark'](run['REQUIREMENTS'].read_bytes()), end='')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (home / "installed").write_text(done.stdout)


def test_an_input_is_no_command(composite: Composite) -> None:
    check_out(composite)
    composite.job.inputs["config-file"] = '$(touch trapped) "; touch trapped; `touch trapped`'
    done = composite.run()
    assert "config-file" in done.log
    assert not list(composite.job.folder.rglob("trapped"))


def test_an_opened_issue_is_answered_and_a_hostile_checkout_changes_nothing(composite: Composite) -> None:
    job = composite.job
    check_out(composite, sample_bug.write_hostile_checkout)
    sample_bug.add_git_config_traps(job.workspace)
    done = composite.run()
    assert sample_bug.find_executed_traps(job.workspace) == []
    sample_bug.assert_report(job, done)
    assert done.outputs["report-file"] == ".triage/report.json"
    assert set(done.outputs) == set(ACTION["outputs"])
    assert composite.ran == ["Name the folders", "Triage"]


@pytest.mark.parametrize(("name", "value"), [("engine", "magic"), ("fix", "gate")])
def test_a_wrong_input_fails_the_step(composite: Composite, name: str, value: str) -> None:
    check_out(composite)
    composite.job.inputs[name] = value
    done = composite.run()
    assert done.exit_code == 1
    assert "::error::" in done.log
    assert done.outputs["status"] == "failed"


def test_a_cancelled_step_ends_with_a_report(composite: Composite) -> None:
    """The runner signals the process that it started, which is bash unless Python takes its place."""
    check_out(composite)
    composite.job.github.faults = [ApiFault(".", delay_seconds=3600)]
    running = composite.start()
    until = time.monotonic() + 60
    while not composite.job.github.requests and running.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    done = composite.finish(running)
    assert done.exit_code == 130, done.log
    assert "Bug triage" in done.summary


def test_without_installed_packages_all_steps_are_due(composite: Composite) -> None:
    (composite.job.folder / "temp" / "bug-triage" / "installed").unlink()
    plan = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "plan")
    composite.contexts["steps.python.outputs.python-path"] = composite.python
    composite.finish(composite.start_step(plan))
    assert composite.contexts["steps.plan.outputs.ready"] == "false"
    assert all(composite.is_due(step) for step in ACTION["runs"]["steps"])


def test_no_step_restores_a_cache() -> None:
    """`actions/cache` unpacks absolute paths, and so could replace the files of the action before they run."""
    used = [step["uses"].partition("@")[0] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used == ["actions/setup-python"]
    assert all("cache" not in str(step.get("with", {})) for step in ACTION["runs"]["steps"])
