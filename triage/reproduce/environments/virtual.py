"""Versions in virtual environments of this machine, for trusted examples: nothing keeps the example from anything."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

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

BUILD_SECONDS = 600.0
_MAX_LOG_BYTES = 20_000
_STARTUP_SECONDS = 30.0
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


class VirtualEnvironments:
    """Use it as a context manager: its folder is removed at the end, unless it is to stay."""

    def __init__(
        self, source: Source, environ: Mapping[str, str], setup: str, say: Callable[[str], None], *, keep: bool
    ) -> None:
        """Make the folder of all environments."""
        self._source, self._environ, self._setup, self._say, self._keep = source, environ, setup, say, keep
        self.folder = Path(tempfile.mkdtemp(prefix="triage-reproduce-"))

    def __enter__(self) -> "VirtualEnvironments":
        return self

    def __exit__(self, *_: object) -> None:
        if self._keep:
            self._say(f"what was built stays in {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def build(self, target: Target, project: Project) -> "VirtualEnvironment":
        """See `Environments`."""
        folder = Path(tempfile.mkdtemp(prefix=f"{target.version or target.commit[:12]}-", dir=self.folder))
        if target.commit:
            try:
                self._source.export(target.commit, folder / "source")
            except GitError as error:
                raise CannotInstall(str(error)) from None
        uv = find_uv() if project.language == "python" else []
        variables = select_build_variables(self._environ) | build_variables_of_source(target)
        programs = folder / "env" / "bin"
        variables |= {"VIRTUAL_ENV": str(folder / "env"), "PATH": f"{programs}{os.pathsep}{variables.get('PATH', '')}"}
        # Not every Python can be had on every machine: the next one is tried.
        for number, python in enumerate(target.pythons or [""], 1):
            first, *steps = plan_build(target, project, folder, self._setup, uv, python)
            try:
                _run_step(first, folder, variables)
                break
            except CannotInstall:
                if number >= len(target.pythons):
                    raise
        for command in steps:
            _run_step(command, folder, variables)
        return VirtualEnvironment(folder)


def _run_step(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> None:
    try:
        result = run_process(command, folder, variables, BUILD_SECONDS, _MAX_LOG_BYTES)
    except OSError:
        raise CannotInstall(f"{Path(command[0]).name} is not installed") from None
    if result.is_late:
        raise CannotInstall(f"it was not built within {BUILD_SECONDS:.0f} seconds")
    if result.code:
        raise CannotInstall(find_reason(result.output.decode("utf-8", "replace")))


class VirtualEnvironment:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, example: Example, project: Project, seconds: float) -> bytes:
        """See `Environment`."""
        work = self._folder / "work"
        work.mkdir(exist_ok=True)
        path = f"{self._folder / 'env/bin'}{os.pathsep}{os.environ.get('PATH', '')}"
        command = plan_run(self._folder / "env", RUNNER, example, project, seconds)
        environment = {"PATH": path, "HOME": str(work), **RUN_VARIABLES}
        code, limit = example.code.encode(), seconds + _STARTUP_SECONDS
        return run_process(
            command, work, environment, limit, MAX_RECORD_BYTES, stdin=code, has_errors_apart=True
        ).output
