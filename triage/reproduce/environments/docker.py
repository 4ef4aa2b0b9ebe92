"""Versions in containers: built with network and without the example, run with the example and without network."""

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from triage.base.errors import SetupError
from triage.base.processes import run_process
from triage.code.git.git import GitError
from triage.reproduce.environments.environment import (
    RUN_VARIABLES,
    RUNNER,
    CannotInstall,
    build_variables_of_source,
    find_reason,
    plan_build,
    plan_run,
)
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Example, Project
from triage.reproduce.runner.read_record import MAX_RECORD_BYTES

BUILD_SECONDS = 900.0
NODE_IMAGE = "node:22-slim"
ISOLATION = (
    *("--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--pids-limit", "256", "--memory", "2g", "--memory-swap", "2g", "--cpus", "2", "--user", "65534:65534"),
    *("--tmpfs", "/tmp:rw,nosuid,nodev,size=256m,mode=1777"),  # noqa: S108
    *("--workdir", "/tmp", "--env", "HOME=/tmp"),  # noqa: S108
)
"""The example is hostile code: no network, no capability, no user of the machine, and only memory to write to."""
_MAX_LOG_BYTES = 20_000
_STARTUP_SECONDS = 60.0
_ASK_SECONDS = 30.0
_HOME = PurePosixPath("/reproduce")
_ROOT = Path(os.sep)


class DockerEnvironments:
    """Use it as a context manager: the images are removed at the end, unless they are to stay."""

    def __init__(
        self, source: Source, environ: Mapping[str, str], setup: str, say: Callable[[str], None], *, keep: bool
    ) -> None:
        """Find Docker. Raises SetupError if it cannot be used."""
        self._source, self._setup, self._say, self._keep = source, setup, say, keep
        self._environ = dict(environ)
        self._images: list[str] = []
        if shutil.which("docker") is None or self._call(["info", "--format", "{{.ServerVersion}}"], _ASK_SECONDS)[0]:
            raise SetupError(
                "Docker does not answer. Start it; or add --no-container, which runs the example on this machine "
                "without protection, if you trust it."
            )

    def __enter__(self) -> "DockerEnvironments":
        return self

    def __exit__(self, *_: object) -> None:
        for image in self._images:
            if self._keep:
                self._say(f"the image {image} stays")
            else:
                self._call(["image", "rm", "--force", image], _ASK_SECONDS)

    def _call(self, arguments: list[str], seconds: float) -> tuple[int, str]:
        result = run_process(["docker", *arguments], _ROOT, self._environ, seconds, _MAX_LOG_BYTES)
        return result.code, result.output.decode("utf-8", "replace")

    def build(self, target: Target, project: Project) -> "DockerEnvironment":
        """See `Environments`."""
        image = f"triage-reproduce-{uuid.uuid4().hex[:12]}"
        with tempfile.TemporaryDirectory(prefix="triage-reproduce-") as name:
            context = Path(name)
            shutil.copytree(RUNNER, context / "runner", ignore=shutil.ignore_patterns("__pycache__"))
            if target.commit:
                try:
                    self._source.export(target.commit, context / "source")
                except GitError as error:
                    raise CannotInstall(str(error)) from None
            (context / "Dockerfile").write_text(write_dockerfile(target, project, self._setup), encoding="utf-8")
            code, log = self._call(["build", "--progress=plain", "--tag", image, name], BUILD_SECONDS)
        if code:
            raise CannotInstall(find_reason(log))
        self._images.append(image)
        return DockerEnvironment(image, self._environ)


def write_dockerfile(target: Target, project: Project, setup: str) -> str:
    """Return the recipe of a version's image. The example is not in it."""
    python = "".join(target.pythons[:1])
    lines = [f"FROM {NODE_IMAGE}" if project.language == "node" else f"FROM python:{python}-slim"]
    if project.language == "python":
        lines.append("COPY --from=ghcr.io/astral-sh/uv /uv /usr/local/bin/uv")
    lines += [f"ENV {name}={value}" for name, value in build_variables_of_source(target).items()]
    lines += [f"ENV VIRTUAL_ENV={_HOME}/env PATH={_HOME}/env/bin:$PATH UV_PYTHON_DOWNLOADS=never", f"WORKDIR {_HOME}"]
    if target.commit:
        lines.append("COPY source source")
    lines += [f"RUN {json.dumps(command)}" for command in plan_build(target, project, _HOME, setup, ["uv"], python)]
    return "\n".join([*lines, "COPY runner runner", ""])


class DockerEnvironment:
    def __init__(self, image: str, environ: Mapping[str, str]) -> None:
        self._image, self._environ = image, environ

    def run(self, example: Example, project: Project, seconds: float) -> bytes:
        """See `Environment`."""
        name = f"{self._image}-{uuid.uuid4().hex[:6]}"
        variables = [word for key, value in RUN_VARIABLES.items() for word in ("--env", f"{key}={value}")]
        docker = ["docker", "run", "--rm", "--interactive", "--name", name, *ISOLATION, *variables, self._image]
        command = [*docker, *plan_run(_HOME / "env", _HOME / "runner", example, project, seconds)]
        code, limit = example.code.encode(), seconds + _STARTUP_SECONDS
        result = run_process(command, _ROOT, self._environ, limit, MAX_RECORD_BYTES, stdin=code, has_errors_apart=True)
        if result.is_late:  # the client was ended, not the container
            run_process(["docker", "rm", "--force", name], _ROOT, self._environ, _ASK_SECONDS, _MAX_LOG_BYTES)
        return result.output
