"""Versions in virtual environments of this machine, for trusted examples: nothing keeps the example from anything."""

import os
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from triage.base.errors import SetupError
from triage.reproduce.environments.environment import (
    RUN_VARIABLES,
    WORK,
    CannotInstall,
    Environment,
    Environments,
    build_variables_of_source,
    plan_build,
)
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Project

_PASSED = ("PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT", "PYENV_VERSION")
_PASSED_PREFIXES = ("UV_", "PIP_", "NPM_CONFIG_", "SSL_CERT_", "REQUESTS_CA_", "NODE_EXTRA_CA_")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


def find_uv() -> list[str]:
    """Return how uv is called. Raises SetupError if it is not installed."""
    if found := shutil.which("uv"):
        return [found]
    if find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    raise SetupError("uv is needed to build versions of a Python project: pip install uv.")


def select_build_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a build gets of the user's environment: where packages come from, and none of the secrets."""
    return {
        name: value
        for name, value in environ.items()
        if name in _PASSED or name.upper() in _PROXIES or name.upper().startswith(_PASSED_PREFIXES)
    }


class VirtualEnvironments(Environments):
    """What stays is the folder of all."""

    def __exit__(self, *_: object) -> None:
        if self._keep:
            self._say(f"what was built stays in {self.folder}")
        else:
            super().__exit__()

    def _build(self, target: Target, project: Project, folder: Path) -> Environment:
        uv = find_uv() if project.language == "python" else []
        variables = select_build_variables(self._environ) | build_variables_of_source(target)
        path = f"{folder / 'env/bin'}{os.pathsep}{variables.get('PATH', '')}"
        variables |= {"VIRTUAL_ENV": str(folder / "env"), "PATH": path}
        # Not every Python can be had on every machine: the next one is tried.
        for number, python in enumerate(target.pythons or [""], 1):
            first, *steps = plan_build(target, project, folder, uv, python)
            try:
                self._call(first, variables)
                break
            except CannotInstall:
                if number >= len(target.pythons):
                    raise
        for command in steps:
            self._call(command, variables)
        work = folder / WORK
        work.mkdir(exist_ok=True)
        own = variables if project.recipe else {"PATH": path, "HOME": str(work)}  # toolchains are in the home
        return Environment(folder, work, {**own, **RUN_VARIABLES})
