"""Versions in virtual environments of this machine, for trusted examples: nothing keeps the example from anything."""

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from triage.base.errors import SetupError
from triage.base.text import word_set
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

_PASSED = word_set(
    "PATH HOME TMPDIR LANG SYSTEMROOT PYENV_VERSION UV_DEFAULT_INDEX UV_INDEX_URL UV_INDEX UV_EXTRA_INDEX_URL "
    "UV_FIND_LINKS UV_CACHE_DIR UV_OFFLINE UV_NATIVE_TLS UV_SYSTEM_CERTS UV_PYTHON_DOWNLOADS UV_PYTHON_PREFERENCE "
    "UV_PYTHON_INSTALL_DIR UV_PYTHON_INSTALL_MIRROR UV_HTTP_TIMEOUT PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS "
    "PIP_CERT PIP_CACHE_DIR NPM_CONFIG_REGISTRY NPM_CONFIG_CACHE NPM_CONFIG_CAFILE SSL_CERT_FILE SSL_CERT_DIR "
    "REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY"
)
"""In either case. By their names: others of the same programs hold tokens, such as `UV_PUBLISH_TOKEN`."""
_LOGIN = re.compile(r"(?:(?<=://)|^)[^/\s]*@")


def find_uv() -> list[str]:
    """Return how uv is called. Raises SetupError if it is not installed."""
    if found := shutil.which("uv"):
        return [found]
    if find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    raise SetupError("uv is needed to build versions of a Python project: pip install uv.")


def select_build_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a build gets of the user's environment: where packages come from, without logins in addresses."""
    return {name: _LOGIN.sub("", value) for name, value in environ.items() if name.upper() in _PASSED}


class VirtualEnvironments(Environments):
    def _build(self, target: Target, project: Project, folder: Path) -> Environment:
        variables = select_build_variables(self._environ) | build_variables_of_source(target)
        path = f"{folder / 'env/bin'}{os.pathsep}{variables.get('PATH', '')}"
        variables |= {"VIRTUAL_ENV": str(folder / "env"), "PATH": path}
        if project.language == "python":
            self._make_environment(target, project, folder, variables)
        else:
            self._call_all(plan_build(target, project, folder, [], ""), variables)
        work = folder / WORK
        work.mkdir(exist_ok=True)
        own = variables if project.recipe else {"PATH": path, "HOME": str(work)}  # toolchains are in the home
        return Environment(folder, work, {**own, **RUN_VARIABLES})

    def _make_environment(self, target: Target, project: Project, folder: Path, variables: Mapping[str, str]) -> None:
        """Make the environment with the first Python that can be had here, and fill it."""
        for python in target.pythons:
            make, *fill = plan_build(target, project, folder, find_uv(), python)
            try:
                self._call(make, variables)
            except CannotInstall as problem:
                if problem.is_lasting:
                    raise
                continue
            return self._call_all(fill, variables)
        raise CannotInstall(f"no Python {' or '.join(target.pythons)} on this machine", is_lasting=True)

    def _call_all(self, commands: Sequence[Sequence[str]], variables: Mapping[str, str]) -> None:
        for command in commands:
            self._call(command, variables)
