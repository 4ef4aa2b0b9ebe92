"""What an environment is, and the commands that build one."""

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Protocol

from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Example, Project
from triage.safety.clean_text import clean_text

RUNNER = Path(__file__).parent.parent / "runner"
RUN_VARIABLES = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "Agg",
    "QT_QPA_PLATFORM": "offscreen",
}
"""No display, and the same language and time zone everywhere."""


OLDEST_BUILD_TOOLS = datetime(2019, 6, 1, tzinfo=UTC)
"""A project that names no build tool needs setuptools 40.8 (PEP 517), of February 2019."""
_TIME = "%Y-%m-%dT%H:%M:%SZ"


class CannotInstall(Exception):
    """No environment of a version can be built. The message is the last line of the tool that failed, or our own."""


class Environment(Protocol):
    """A built version of the project."""

    def run(self, example: Example, project: Project, seconds: float) -> bytes:
        """Run the example once. Return the recorder's line of JSON, or what came instead."""


class Environments(Protocol):
    """Builds environments, and removes them when it is left as a context manager."""

    def build(self, target: Target, project: Project) -> Environment:
        """Build the environment of a version. Raises CannotInstall."""


def plan_build(
    target: Target, project: Project, folder: PurePath, setup: str, uv: Sequence[str], python: str
) -> list[list[str]]:
    """Return the commands that build an environment.

    Args:
        target: The version.
        project: Its language and name.
        folder: Gets the environment as `env`, and has the files of a commit as `source`.
        setup: The project's own lines, for commits. They run in `source`.
        uv: How uv is called.
        python: One of the target's.
    """
    time = target.time.strftime(_TIME)
    own = [["sh", "-ec", f"cd {shlex.quote(str(folder / 'source'))}\n{setup}"]] if setup and target.commit else []
    if project.language == "node":
        what = str(folder / "source") if target.commit else f"{project.package}@{target.version}"
        install = ["npm", "install", "--prefix", str(folder / "env"), "--ignore-scripts", "--install-links"]
        return [*own, [*install, "--no-audit", "--no-fund", "--loglevel=error", f"--before={time}", what]]
    make = [*uv, "venv", "--quiet", "--python", python, str(folder / "env")]
    newest = ["--quiet", "--python", str(folder / "env"), "--exclude-newer", time]
    # Old packages import pkg_resources, which an environment of today does not have.
    install = [*uv, "pip", "install", "--only-binary", ":all:", *newest, "setuptools", *project.companions]
    if own:
        return [make, [*install, "pip", "wheel"], *own]
    if target.version:
        return [make, [*install, f"{project.package}=={target.version}"]]
    wheels = folder / "wheels"
    tools = max(target.time, OLDEST_BUILD_TOOLS).strftime(_TIME)
    places = ["--out-dir", str(wheels), str(folder / "source")]
    build = [*uv, "build", "--quiet", "--wheel", "--python", str(folder / "env"), "--exclude-newer", tools, *places]
    return [make, build, ["sh", "-ec", f"{shlex.join(install)} {shlex.quote(str(wheels))}/*.whl"]]


def plan_run(env: PurePath, runner: PurePath, example: Example, project: Project, seconds: float) -> list[str]:
    """Return the command that runs the example, which it reads from its input."""
    limit = f"{seconds:g}"
    if project.language == "node":
        return ["node", str(runner / "record_node.cjs"), limit, str(env), project.package]
    is_session = str(int(example.is_session))
    return [str(env / "bin/python"), str(runner / "record_python.py"), limit, is_session, *project.modules]


def build_variables_of_source(target: Target) -> dict[str, str]:
    """Return what tells build tools the version of a commit, whose folder is no git repository."""
    version = target.source_version or "0"
    return {"SETUPTOOLS_SCM_PRETEND_VERSION": version, "PBR_VERSION": version} if target.commit else {}


def find_reason(log: str) -> str:
    """Return the line of a tool's output that says why it failed, in at most 300 characters."""
    lines = [" ".join(line.split()).lstrip("×╰─▶ ").strip() for line in clean_text(log).splitlines()]
    lines = [line for line in lines if line and not line.startswith("hint:")]
    telling = [line for line in lines if any(word in line.lower() for word in ("error", "no solution", "because"))]
    return (telling or lines or ["no output"])[-1][:300]
