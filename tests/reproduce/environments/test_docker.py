"""Versions in containers, with a `docker` that writes down what it is asked, and runs what it can on this machine."""

import asyncio
import json
import os
import re
import time
from datetime import UTC, datetime

import pytest

from testing.checkouts.git_repositories import commit
from testing.runs.recording_docker import RecordingDocker
from triage.base.errors import SetupError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.project_config import LanguageConfig
from triage.reproduce.environments.docker import ISOLATION, DockerEnvironments, write_dockerfile
from triage.reproduce.environments.environment import SOURCE, WORK, CannotInstall
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Example, Project

SHOP = Project(language="python", package="shop", modules=["shop"])
NODE = Project(language="node", package="shop", modules=["shop"])
EXAMPLE = Example(language="python", code="import json\njson.loads('{')\n")
RELEASE = Target(on="1.2", version="1.2", time=datetime(2022, 3, 1, tzinfo=UTC), pythons=["3.9", "3.10"])


@pytest.fixture
def docker(tmp_path):
    (tmp_path / "repo").mkdir()
    commit(tmp_path / "repo", {"setup.py": "x"})
    return RecordingDocker.install(tmp_path)


def open_docker(docker, monkeypatch, **environ: str):
    path = f"{docker.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    return DockerEnvironments(Source(docker.folder / "repo"), {"PATH": path, **environ})


def test_a_release_is_built_without_the_example_and_run_without_anything_else(docker, monkeypatch):
    environments = open_docker(docker, monkeypatch)
    with environments:
        found = environments.build(RELEASE, SHOP).run(EXAMPLE, SHOP, 20)
    assert found.failures[0].type == "JSONDecodeError"
    *_, (build, files), (run, _), (end, _), (drop, _) = [(one["words"], one["files"]) for one in docker.list_calls()]
    assert {path.partition("/")[0] for path in files} == {"Dockerfile", "runner"}
    assert "json.loads" not in files["Dockerfile"]
    image = build[build.index("--tag") + 1]
    assert (end, drop) == (["rm", "--force", image], ["image", "rm", "--force", image])
    for option, value in (
        ("--network", "none"),
        ("--cap-drop", "ALL"),
        ("--user", "65534:65534"),
        ("--memory", "2g"),
        ("--pids-limit", "256"),
        ("--security-opt", "no-new-privileges"),
    ):
        assert run[run.index(option) + 1] == value, option
    assert {"--read-only", "--rm"} <= {*run}
    assert not {"--volume", "-v", "--mount", "--privileged"} & {*run}


def test_a_commit_is_built_from_its_files(docker, monkeypatch):
    environments = open_docker(docker, monkeypatch)
    head = Source(docker.folder / "repo").resolve("HEAD")
    with environments:
        environments.build(RELEASE.model_copy(update={"version": "", "commit": head}), SHOP)
    assert [one["words"][0] for one in docker.list_calls()] == ["info", "buildx", "build", "rm", "image"]
    assert {path.partition("/")[0] for path in docker.list_calls()[2]["files"]} == {"Dockerfile", "runner", "source"}


def test_a_build_that_fails_says_why(docker, monkeypatch):
    environments = open_docker(docker, monkeypatch, DOCKER_FAILS="build")
    with pytest.raises(CannotInstall, match="error: no such package"):
        environments.build(RELEASE, SHOP)


def test_nothing_is_left_of_a_run_that_nobody_waits_for(docker, monkeypatch):
    cancelled, environments = asyncio.Event(), open_docker(docker, monkeypatch)
    endless = Example(language="python", code="import time\ntime.sleep(60)\n")

    def work() -> None:
        with environments:
            built = environments.build(RELEASE, SHOP)
            loop.call_soon_threadsafe(cancelled.set)
            built.run(endless, SHOP, 60)

    async def run() -> None:
        with pytest.raises(OutOfTime):
            await call_with_deadline(work, cancelled)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(run())
    loop.close()
    assert not environments.folder.exists()
    assert {("rm", "--force"), ("image", "rm")} <= {tuple(one["words"][:2]) for one in docker.list_calls()}


def test_a_job_leaves_no_build_cache_and_a_person_has_theirs(docker, monkeypatch):
    for environ, last in (({}, "image"), ({"GITHUB_ACTIONS": "true"}, "builder")):
        environments = open_docker(docker, monkeypatch, **environ)
        with environments:
            environments.build(RELEASE, SHOP)
        assert docker.list_calls()[-1]["words"][0] == last
    assert docker.list_calls()[-1]["words"] == ["builder", "prune", "--force"]


def test_a_version_without_a_known_python_is_not_built(docker, monkeypatch):
    environments = open_docker(docker, monkeypatch)
    with environments, pytest.raises(CannotInstall, match="it runs on no Python that is known"):
        environments.build(RELEASE.model_copy(update={"pythons": []}), SHOP)
    assert [one["words"][0] for one in docker.list_calls()] == ["info", "buildx"]


def test_a_build_ends_with_the_time_of_the_job(docker, monkeypatch):
    environments = open_docker(docker, monkeypatch)
    environments.ends_at = time.monotonic() - 1
    with environments, pytest.raises(CannotInstall, match="it was not built within 0 seconds"):
        environments.build(RELEASE, SHOP)


@pytest.mark.parametrize(
    ("fails", "in_job", "words"),
    [
        ("info", "", "Docker does not answer. Start or install it; or add --no-container"),
        ("buildx", "", "Docker has no buildx. Start or install it; or add --no-container"),
        ("buildx", "true", "Docker has no buildx. Choose a runner that has both with `runs-on`."),
    ],
)
def test_a_docker_that_cannot_build_is_named_before_the_first_build(docker, monkeypatch, fails, in_job, words):
    with pytest.raises(SetupError, match=words):
        open_docker(docker, monkeypatch, DOCKER_FAILS=fails, GITHUB_ACTIONS=in_job)


def test_the_recipe_of_a_release():
    lines = write_dockerfile(RELEASE, SHOP).splitlines()
    assert lines[0] == "FROM python:3.9-slim"
    assert re.fullmatch(r"COPY --from=ghcr.io/astral-sh/uv:[\d.]+ /uv /usr/local/bin/uv", lines[1])
    assert json.loads(lines[-2].removeprefix("RUN ")) == [
        "uv", "pip", "install", "--only-binary", ":all:", "--quiet", "--python", "/reproduce/env",
        "--exclude-newer", "2022-03-01T00:00:00Z", "--exclude-newer-package",
        "setuptools=2022-03-01T00:00:00Z", "shop==1.2",
    ]  # fmt: skip
    assert not any("COPY source" in line for line in lines)


def test_sources_are_built_in_a_second_try_but_never_those_of_what_the_report_imports():
    of_release, of_commit = RELEASE, RELEASE.model_copy(update={"version": "", "commit": "a" * 40})
    project = SHOP.model_copy(update={"companions": ["pooch"]})
    for target in (of_release, of_commit):
        first, second = (
            write_dockerfile(target.model_copy(update={"may_build": may}), project) for may in (False, True)
        )
        assert (first.count(":all:"), second.count(":all:")) == (2, 1), "setuptools is always a wheel"
        assert "--no-build" not in second
        assert second.replace('", "', " ").count("--only-binary pooch ") == 1
    assert "--no-build" in first


def test_the_recipe_of_a_commit_has_the_lines_of_the_settings():
    target = RELEASE.model_copy(update={"version": "", "commit": "a" * 40, "source_version": "1.1"})
    lines = write_dockerfile(target, SHOP.model_copy(update={"setup": "pip install .[all]"})).splitlines()
    assert "ENV SETUPTOOLS_SCM_PRETEND_VERSION=1.1" in lines
    assert json.loads(lines[-2].removeprefix("RUN ")) == ["sh", "-ec", "cd /reproduce/source\npip install .[all]"]


def test_lines_of_the_settings_are_run_before_the_example_is_there(docker, monkeypatch):
    lines = LanguageConfig(file="report.rs", setup="cargo fetch", build="cargo build", run="cargo run")
    shop = Project(language="other", package="shop", image="rust:1-slim", languages={"rust": lines})
    head = Source(docker.folder / "repo").resolve("HEAD")
    environments = open_docker(docker, monkeypatch)
    with environments:
        built = environments.build(RELEASE.model_copy(update={"version": "", "commit": head}), shop)
        built.run(Example(language="rust", code="fn main() {}\n"), shop, 20)
    build, run = docker.list_calls()[2:4]
    recipe = build["files"]["Dockerfile"].splitlines()
    assert recipe[:2] == ["FROM rust:1-slim", f"ENV HOME=/reproduce/{WORK}/home"]
    assert f"(cd {SOURCE}\ncargo fetch\n)" in json.loads(recipe[-2].removeprefix("RUN "))[2]
    assert "fn main" not in str(build)
    words = run["words"]
    assert words[-4:] == ["/reproduce", "report.rs", "cargo build", "cargo run"]
    assert {*ISOLATION} <= {*words}
    assert words.count("--network") == 1


def test_the_recipe_for_node_runs_no_script_of_a_package():
    lines = write_dockerfile(RELEASE.model_copy(update={"pythons": []}), NODE).splitlines()
    assert lines[0].startswith("FROM node:")
    command = json.loads(lines[-2].removeprefix("RUN "))
    assert {"--ignore-scripts", "shop@1.2", "--before=2022-03-01T00:00:00Z"} <= {*command}
