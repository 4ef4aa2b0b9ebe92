"""`python -m release`, as the workflow runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from release.__main__ import main
from testing.servers.github_api import JOB_TOKEN, SLUG
from tests.release.conftest import DIGEST, ROOT, ReleasedRepository, set_version

DOCKER = """#!/bin/sh
printf '%s ' "$@" >"$0.arguments"
ls -A "$DOCKER_CONFIG" >"$0.config"
[ -z "$FAILURE" ] || { echo "Using default tag" >&2; echo "$FAILURE" >&2; exit 1; }
"""


@pytest.fixture
def environ(repository: ReleasedRepository, tmp_path: Path) -> dict[str, str]:
    return {
        "GITHUB_API_URL": repository.api.api_url,
        "GITHUB_SERVER_URL": "https://github.test",
        "GITHUB_REPOSITORY": SLUG,
        "GITHUB_SHA": repository.released,
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GH_TOKEN": JOB_TOKEN,
        "DIGEST": DIGEST,
    }


def test_a_release_that_can_succeed_is_named(repository: ReleasedRepository, environ: dict[str, str]) -> None:
    assert main(["check"], environ, repository.root) == 0
    assert Path(environ["GITHUB_OUTPUT"]).read_text() == f"version=1.2.3\nimage=ghcr.io/{SLUG}\n"


def test_a_version_is_released_once(repository: ReleasedRepository, environ: dict[str, str], capsys) -> None:
    repository.git.set_ref("refs/tags/v1.2.3", repository.released)
    assert main(["check"], environ, repository.root) == 1
    assert capsys.readouterr().out.startswith("::error::v1.2.3 is released already.")


def test_version_and_changelog_must_agree(repository: ReleasedRepository, environ: dict[str, str], capsys) -> None:
    changelog = (repository.root / "CHANGELOG.md").read_text()
    set_version(repository.root, "1.2.4")
    (repository.root / "CHANGELOG.md").write_text(changelog)
    assert main(["check"], environ, repository.root) == 1
    assert "## 1.2.4 (unreleased)" in capsys.readouterr().out
    assert not Path(environ["GITHUB_OUTPUT"]).exists()


def test_what_is_left_for_a_person_is_in_the_summary(repository: ReleasedRepository, environ: dict[str, str]) -> None:
    repository.protected.add("refs/heads/main")
    assert main(["publish"], environ, repository.root) == 0
    summary = Path(environ["GITHUB_STEP_SUMMARY"]).read_text()
    assert f"https://github.test/{SLUG}/releases/edit/v1.2.3" in summary
    assert "merge the branch `name-v1.2.3`" in summary
    assert f"{SLUG}@{repository.git.refs['refs/tags/v1.2.3']} # v1.2.3" in summary


def test_an_unknown_command_does_nothing(environ: dict[str, str], capsys) -> None:
    assert main(["undo"], environ) == 1
    assert "check, pull or publish" in capsys.readouterr().out


def pull(tmp_path: Path, environ: dict[str, str], failure: str = "") -> "subprocess.CompletedProcess[str]":
    """Runs the step with a docker that only remembers how it was called."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "docker").write_text(DOCKER)
    (programs / "docker").chmod(0o755)
    (tmp_path / "login").mkdir()
    (tmp_path / "login" / "config.json").write_text("{}")
    own = {"PATH": f"{programs}:{os.environ['PATH']}", "DOCKER_CONFIG": str(tmp_path / "login"), "FAILURE": failure}
    command = [sys.executable, "-m", "release", "pull"]
    return subprocess.run(command, cwd=ROOT, env=environ | own, capture_output=True, text=True, check=False)


def test_the_image_is_pulled_without_a_login(tmp_path: Path, environ: dict[str, str]) -> None:
    done = pull(tmp_path, environ)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "programs/docker.arguments").read_text() == f"pull --quiet ghcr.io/{SLUG}@{DIGEST} "
    assert (tmp_path / "programs/docker.config").read_text() == ""


def test_a_private_package_stops_the_release(tmp_path: Path, environ: dict[str, str]) -> None:
    done = pull(tmp_path, environ, "Error response from daemon: denied.")
    assert done.returncode == 1
    assert done.stdout.startswith(f"::error::Nobody can pull ghcr.io/{SLUG}@{DIGEST} without a login: Error response")
    assert "Package settings, Change visibility, Public" in done.stdout


def test_the_workflow_pulls_before_it_publishes_and_never_logs_in_there() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["publish"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [
        "python3 -m release pull",
        "python3 -m release publish",
    ]
    assert not [step for step in steps if "login" in step.get("uses", "")]
    assert workflow["jobs"]["publish"]["needs"] == ["image", "trial"]
    used = set(re.findall(r"python3 -m release (\w+)", yaml.safe_dump(workflow)))
    assert used == {"check", "pull", "publish"}
