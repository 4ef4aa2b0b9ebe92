"""Versions in containers: built with network and without the example, run with the example and without network."""

import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from triage.base.errors import SetupError
from triage.reproduce.environments.environment import (
    ASK_SECONDS,
    RUN_VARIABLES,
    WORK,
    CannotInstall,
    Environment,
    Environments,
    build_variables_of_source,
    plan_build,
)
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Project

UV_IMAGE = "ghcr.io/astral-sh/uv:0.13.8"
NODE_IMAGE = "node:22-slim"
FROM_NODE = f"FROM {NODE_IMAGE}\nRUN chmod 711 /usr/local/bin/node"
"""Linux hides a process from others of its user, if they may not read its program: the example writes no record."""
ISOLATION = (
    *("--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--pids-limit", "256", "--memory", "2g", "--memory-swap", "2g", "--cpus", "2", "--user", "65534:65534"),
    *("--tmpfs", "/tmp:rw,nosuid,nodev,size=256m,mode=1777"),  # noqa: S108
    *("--workdir", "/tmp", "--env", "HOME=/tmp"),  # noqa: S108
)
"""The example is hostile code: no network, no capability, no user of the machine, and only memory to write to."""
AT_A_TERMINAL = (
    "Start or install it; or add --no-container, which runs the example on this machine without protection, if you "
    "trust it."
)
IN_A_JOB = "Choose a runner that has both with `runs-on`."
_HOME = PurePosixPath("/reproduce")
_TO_BUILD = (
    *("--log-driver", "none"),  # Docker would keep on the disk what it prints without end
    *("--tmpfs", f"{_HOME / WORK}:rw,exec,nosuid,nodev,size=1g,mode=1777"),
    *("--env", f"HOME={_HOME / WORK / 'home'}", "--env", f"TMPDIR={_HOME / WORK}"),
)
"""A version with lines of the settings is copied there, and the example compiled."""


class DockerEnvironments(Environments):
    """Each version is an image."""

    def __init__(self, source: Source, environ: Mapping[str, str]) -> None:
        """Find Docker. Raises SetupError if it cannot be used."""
        super().__init__(source, environ)
        self._images: list[str] = []
        self._is_in_job = self._environ.get("GITHUB_ACTIONS") == "true"
        for words, problem in (("info", "Docker does not answer"), ("buildx version", "Docker has no buildx")):
            try:
                self._call(["docker", *words.split()], self._environ, ASK_SECONDS)
            except CannotInstall:
                super()._remove()
                raise SetupError(f"{problem}. {IN_A_JOB if self._is_in_job else AT_A_TERMINAL}") from None

    def _remove(self) -> None:
        prune = [("builder", "prune", "--force")] if self._is_in_job else []  # a person's own cache stays
        ways = [("rm", "--force", *self._images), ("image", "rm", "--force", *self._images), *prune]
        for words in ways if self._images else ():
            with suppress(CannotInstall):
                self._call(["docker", *words], self._environ, ASK_SECONDS)
        super()._remove()

    def _build(self, target: Target, project: Project, folder: Path) -> Environment:
        image = f"triage-reproduce-{uuid.uuid4().hex[:12]}"
        (folder / "Dockerfile").write_text(write_dockerfile(target, project), encoding="utf-8")
        self._images.append(image)
        self._call(["docker", "build", "--progress=plain", "--tag", image, str(folder)], self._environ)
        variables = [word for key, value in RUN_VARIABLES.items() for word in ("--env", f"{key}={value}")]
        run = ["docker", "run", "--rm", "--interactive", "--name", image, *ISOLATION]
        run += [*(_TO_BUILD if project.recipe else ()), *variables, image]
        return Environment(_HOME, self.folder, self._environ, run, ["docker", "rm", "--force", image])


def write_dockerfile(target: Target, project: Project) -> str:
    """Return the Dockerfile of a version. The example is not in it. `recipe` is a language of the settings."""
    python = "".join(target.pythons[:1])
    if project.recipe:
        lines = [f"FROM {project.image}", f"ENV HOME={_HOME / WORK / 'home'}"]
    else:
        lines = [FROM_NODE if project.language == "node" else f"FROM python:{python}-slim"]
        lines += [f"COPY --from={UV_IMAGE} /uv /usr/local/bin/uv"] if project.language == "python" else []
        lines += [f"ENV {name}={value}" for name, value in build_variables_of_source(target).items()]
        lines.append(f"ENV VIRTUAL_ENV={_HOME}/env PATH={_HOME}/env/bin:$PATH UV_PYTHON_DOWNLOADS=never")
    lines.append(f"WORKDIR {_HOME}")
    if target.commit:
        lines.append("COPY source source")
    lines += [f"RUN {json.dumps(command)}" for command in plan_build(target, project, _HOME, ["uv"], python)]
    return "\n".join([*lines, "COPY runner runner", ""])
