"""`examples/enterprise/fix.yml`: which job may do what, and what its job `verify` makes of the tests."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from testing.runs.verify_job import RUNNING_DOCKER, VERIFY, run_verify

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "examples/enterprise/fix.yml").read_text(encoding="utf-8")
JOBS: dict[str, Any] = yaml.safe_load(TEXT)["jobs"]
READ = {"contents": "read", "issues": "read"}


def ours(job: str) -> dict[str, Any]:
    (found,) = [step for step in JOBS[job]["steps"] if "task" in step.get("with", {})]
    return dict(found)


def test_what_each_job_may_do() -> None:
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "gate": READ,
        "propose": READ,
        "store": {"contents": "write", "issues": "read"},
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
    stages = {name: ours(name)["with"]["task"] for name in JOBS if name != "verify"}
    assert stages == {name: f"fix-{name}" for name in JOBS if name != "verify"}


def test_nothing_but_the_gate_starts_by_itself() -> None:
    assert "needs" not in JOBS["gate"]
    for name, job in JOBS.items():
        needs = job.get("needs", [])
        assert name == "gate" or needs, f"{name} waits for nothing"
        if name != "gate":
            assert "needs." in job["if"]


def test_the_patched_code_has_no_network_and_no_token() -> None:
    script = VERIFY["run"]
    assert "--network none" in script
    assert "docker.sock" not in TEXT
    assert "GITHUB_TOKEN" not in TEXT
    checkouts = [step for step in JOBS["verify"]["steps"] if "checkout" in step.get("uses", "")]
    assert [step["with"]["path"] for step in checkouts] == ["base", "after", "test-only"]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nobody_can_drop_the_command_of_somebody_else() -> None:
    """GitHub replaces a run that waits by the next one of its group, unless the group has `queue: max`."""
    issue = "fix-${{ github.event.issue.number || inputs.issue-number }}"
    called = yaml.safe_load((ROOT / ".github/workflows/fix.yml").read_text(encoding="utf-8"))
    assert called["concurrency"] == {
        "group": f"{issue}-${{{{ github.actor }}}}",
        "cancel-in-progress": False,
        "queue": "max",
    }
    jobs = called["jobs"]
    writing = [name for name, job in jobs.items() if "write" in job["permissions"].values()]
    assert [name for name, job in jobs.items() if "concurrency" in job] == writing
    assert all(jobs[name]["concurrency"] == {"group": issue, "queue": "max"} for name in writing)


def test_no_job_follows_the_gate_without_a_task() -> None:
    """A stranger's command has none."""
    for name in ("propose", "report", "apply"):
        condition = JOBS[name]["if"]
        assert condition.count("needs.gate.outputs.next == '") == condition.count("needs.gate.outputs.next") > 0


FAILING_DOCKER = """#!/bin/sh
# Prints for each folder how many tests ran, and fails for some.
for word; do case "$word" in *:/patched:ro) folder=${word%%:*}; folder=${folder##*/};; esac; done
echo ::error::x >&2
ran=5; for one in $RAN; do [ "${one%%:*}" = "$folder" ] && ran=${one#*:}; done
echo "$ran" | tr , '\n'
code=0; for one in $FAILING; do case "$one" in "$folder":*) code=${one#*:};; "$folder") code=1;; esac; done
exit $code
"""


@pytest.mark.parametrize(
    ("failing", "ran", "has_test", "outcome"),
    [
        ("test-only", "", True, "proved"),
        ("", "", True, "unproved"),
        ("", "", False, "unproved"),
        ("base", "", False, "unproved"),
        ("after", "", True, "failed"),
        ("test-only after base", "", True, "unclear"),
        ("test-only:125", "", True, "unproved"),
        ("after:137", "", True, "none"),
        ("test-only", "after:6 test-only:6", True, "proved"),
        ("test-only", "test-only:1", True, "proved"),  # it could not be imported
        ("test-only", "after:0", True, "uncounted"),
        ("test-only", "after:0 test-only:0 base:0", True, "uncounted"),
        ("test-only", "after:4", True, "uncounted"),
        ("test-only", "after:5 test-only:6", True, "uncounted"),
        ("", "after:4", False, "uncounted"),
        ("test-only", "after:5,5", True, "uncounted"),
        ("test-only", "after:a[$(touch${IFS}x)]", True, "uncounted"),
        ("test-only base:125", "base:", True, "unproved"),
        ("test-only base", "", True, "unproved"),
        ("test-only base", "base:4", True, "unproved"),
    ],
)
def test_what_verify_makes_of_the_tests(tmp_path: Path, failing: str, ran: str, has_test: bool, outcome: str) -> None:
    for folder in ["after", "base", *(["test-only"] if has_test else [])]:
        (tmp_path / folder).mkdir()
    found, printed = run_verify(tmp_path, FAILING_DOCKER, FAILING=failing, RAN=ran)
    first, *_, last = printed.splitlines()
    assert first == f"::stop-commands::{last.strip(':')}", "what the tests print is no command to the runner"
    assert found == f"tests={outcome}"
    assert not (tmp_path / "x").exists()


def run_real_tests(folder: Path) -> str:
    command = VERIFY["env"]["TEST_COMMAND"].replace("python", sys.executable)
    options = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return run_verify(folder, RUNNING_DOCKER, TEST_COMMAND=command, **options)[0]


TOTAL = "def total(items):\n    return {}\n"
OLD_TEST = "from cart import total\n\n\ndef test_one():\n    assert total([1]) == 1\n"
NEW_TEST = f"{OLD_TEST}\n\ndef test_none():\n    assert total(None) == 0\n"


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (TOTAL.format("sum(items or ())"), "proved"),
        (TOTAL.format("sum( items )"), "failed"),
        ("import os\nos._exit(0)\n", "uncounted"),
        (
            "import pytest\n\n\ndef total(items):\n    pytest.skip('x') if items is None else 0\n    return 1\n",
            "uncounted",
        ),
    ],
    ids=["a fix", "other blanks", "an early end", "a skipped test"],
)
def test_how_many_tests_ran_is_counted(tmp_path: Path, change: str, outcome: str) -> None:
    """The command of the example, with real tests."""
    shown = {"base": (TOTAL.format("sum(items)"), OLD_TEST), "test-only": (TOTAL.format("sum(items)"), NEW_TEST)}
    for folder, (code, test) in {**shown, "after": (change, NEW_TEST)}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "cart.py").write_text(code)
        (tmp_path / folder / "test_cart.py").write_text(test)
    assert run_real_tests(tmp_path) == f"tests={outcome}"


SHORT_TIMEOUT = """#!/bin/sh
[ "$3" = 300 ] && limit=1 || limit=$3
shift 3; exec TIMEOUT --signal KILL "$limit" "$@"
"""


def test_an_example_that_stops_what_watches_it_is_ended_from_outside(tmp_path: Path) -> None:
    for folder in ("base", "after", ".triage", "bin"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".triage/example.sh").write_text("echo early\nsleep 2\necho late\n")
    (tmp_path / "bin/timeout").write_text(SHORT_TIMEOUT.replace("TIMEOUT", str(shutil.which("timeout"))))
    (tmp_path / "bin/timeout").chmod(0o755)
    run_verify(tmp_path, RUNNING_DOCKER, TEST_COMMAND="true")
    assert (tmp_path / ".triage/example-base.json").read_text() == "early\n"
