"""Versions of the project that the example can be run on, and the commands that build one."""

import math
import re
import shlex
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Self

from triage.base.errors import GitError
from triage.base.processes import run_process
from triage.base.threads import call_when_abandoned
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Execution, Target
from triage.reproduce.example.example import Example, Project
from triage.reproduce.runner.read_output import NOT_BUILT, NOT_STARTED, read_output
from triage.reproduce.runner.read_record import MAX_RECORD_BYTES, read_record
from triage.safety.clean_text import clean_text

RUNNER = Path(__file__).parent.parent / "runner"
RUN_VARIABLES = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "Agg",
    "QT_QPA_PLATFORM": "offscreen",
}
"""No display, and the same language, time zone and order of sets everywhere."""
OLDEST_BUILD_TOOLS = datetime(2019, 6, 1, tzinfo=UTC)
"""A project that names no build tool needs setuptools 40.8 (PEP 517), of February 2019."""
BUILD_SECONDS = 900.0
ASK_SECONDS = 30.0
_STARTUP_SECONDS = 60.0
_MAX_LOG_BYTES = 20_000
ONLY_WHEELS = ("--only-binary", ":all:")
"""A source distribution runs its own code when it is built."""
MUST_BE_BUILT = (
    "it must be built: set reproduce: setup: in .github/triage.yml, such as pnpm install && pnpm build, or package: "
    "for its releases on npm"
)
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_MAX_OUTPUT_BYTES = 32_768
_BEFORE_LINE = re.compile(r"^(?:#\d+ (?:\d+\.\d+ )?|[×├╰─▶]+ )")
"""Docker's, before each line of a build, and those of older uvs."""
_USELESS = re.compile(r"^hint:|^Run '|did not complete successfully|warn", re.IGNORECASE)
_TELLING = re.compile(r"(?i)(?<!\S)(?:error[: ]|unknown )|\w(?:Error|Exception)(?::|$)|^(?:fatal:|because) ")
_CAUSE = re.compile(r"(?i)\n(?:caused by|cause): ")
WORK, SOURCE = "work", "work/source"
"""Where a version with lines of the settings is made ready, and then each run has a copy: build tools write it down."""
_RUN = f"""rm -rf "$0/{WORK}"/* && cp -a "$0/built"/* "$0/{WORK}" && cd "$0/{SOURCE}" &&
mkdir -p "$(dirname "$1")" && cat >"$1" || exit {NOT_STARTED}
log=$(sh -ec "$2" 2>&1 </dev/null) || {{ printf '%s\\n' "$log"; exit {NOT_BUILT}; }}
exec sh -ec "$3" </dev/null
"""
"""Takes the folder, the example's path, and the lines that build and run it. What a build prints differs each time."""


class CannotInstall(Exception):
    """No environment of a version can be built. The message is what the tool that failed says, or our own."""

    def __init__(self, reason: str, *, is_lasting: bool = False) -> None:
        """With `is_lasting`, nothing else comes of trying again."""
        super().__init__(reason)
        self.is_lasting = is_lasting


@dataclass(frozen=True)
class Environment:
    """A built version of the project."""

    root: PurePath
    """Has the version as `env` or `built`, and the recorder as `runner`."""
    folder: Path
    variables: Mapping[str, str]
    before: Sequence[str] = ()
    """What the command is an argument of, such as `docker run`."""
    end: Sequence[str] = ()
    """Ends what `before` has started, if it does not end in time."""
    paths: Sequence[str] = ()
    """The files of a version with lines of the settings."""

    def run(self, example: Example, project: Project, seconds: float) -> Execution:
        """Run the example once."""
        recipe = project.recipe
        command = [*self.before, *plan_run(self.root, example, project, seconds)]
        limit, max_bytes = (seconds, _MAX_OUTPUT_BYTES) if recipe else (seconds + _STARTUP_SECONDS, MAX_RECORD_BYTES)
        code, is_apart = example.code.encode(), recipe is None
        result = run_process(
            command, self.folder, self.variables, limit, max_bytes, stdin=code, has_errors_apart=is_apart
        )
        if result.is_late and self.end:
            run_process(self.end, self.folder, self.variables, ASK_SECONDS, _MAX_LOG_BYTES)
        if recipe:
            return read_output(result, str(self.root / SOURCE), recipe.file, self.paths)
        return read_record(result.output.replace(f"{self.root}/".encode(), b""))  # of no use to others


class Environments(ABC):
    """Builds environments. Use it as a context manager: they are removed at its end, and when nobody waits any more."""

    def __init__(self, source: Source, environ: Mapping[str, str]) -> None:
        """Make the folder that versions are built in."""
        self._source, self._environ = source, dict(environ)
        self.ends_at = math.inf
        """When nothing more is built or started, by `time.monotonic`."""
        self.folder = Path(tempfile.mkdtemp(prefix="triage-reproduce-")).resolve()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self._remove)
            stack.enter_context(call_when_abandoned(self._remove))
            self._ending = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    def _remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def build(self, target: Target, project: Project) -> Environment:
        """Build the environment of a version. Raises CannotInstall."""
        if project.language == "python" and not target.pythons:
            raise CannotInstall("it runs on no Python that is known", is_lasting=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{target.version or target.commit[:12]}-", dir=self.folder))
        shutil.copytree(RUNNER, folder / "runner", ignore=shutil.ignore_patterns("__pycache__"))
        if target.commit:
            try:
                if project.language == "node" and not project.setup:
                    script = self._source.find_build_script(target.commit)
                    if script is None:
                        raise CannotInstall(MUST_BE_BUILT, is_lasting=True)
                    project = project.model_copy(update={"setup": plan_node_build(target, *script)})
                own = self._source.export(target.commit, folder / "source")
                project = project.model_copy(update={"folder": own})
            except GitError as error:
                raise CannotInstall(str(error), is_lasting=True) from None
        paths = self._source.list_paths(target.commit) if project.recipe else []
        return replace(self._build(target, project, folder), paths=paths)

    @abstractmethod
    def _build(self, target: Target, project: Project, folder: Path) -> Environment: ...

    @property
    def is_late(self) -> bool:
        return time.monotonic() >= self.ends_at

    def _call(self, command: Sequence[str], variables: Mapping[str, str], seconds: float | None = None) -> None:
        seconds = seconds or max(0.0, min(BUILD_SECONDS, self.ends_at - time.monotonic()))
        try:
            result = run_process(command, self.folder, variables, seconds, _MAX_LOG_BYTES)
        except OSError:
            raise CannotInstall(f"{Path(command[0]).name} is not installed") from None
        if result.is_late:
            raise CannotInstall(f"it was not built within {seconds:.0f} seconds", is_lasting=True)
        if result.code:
            log = result.output.decode("utf-8", "replace")
            raise CannotInstall(find_reason(re.sub(rf"{re.escape(str(self.folder))}/[^/\s]*/", "", log)))


def plan_build(target: Target, project: Project, folder: PurePath, uv: Sequence[str], python: str) -> list[list[str]]:
    """Return the commands that build an environment.

    Args:
        target: The version.
        project: Its language and name, and its own lines, for commits. They run in `source`.
        folder: Gets the environment as `env`, and has the files of a commit as `source`, its own in its folder there.
        uv: How uv is called.
        python: One of the target's.
    """
    time = target.time.strftime(_TIME)
    if project.recipe:
        lines = [f"cd {shlex.quote(str(folder))}", "mkdir -p work/home", "mv source work", f"(cd {SOURCE}"]
        lines += [f"{project.recipe.setup}", ")", "chmod -R a+rX work", "mv work built", "mkdir work"]
        return [["sh", "-ec", "\n".join(lines)]]
    setup, source = project.setup, folder / "source" / project.folder
    own = [["sh", "-ec", f"cd {shlex.quote(str(source))}\n{setup}"]] if setup and target.commit else []
    if project.language == "node":
        # It may have had another name: the example takes it by that of today.
        what = f"{project.package}@file:{source}" if target.commit else f"{project.package}@{target.version}"
        install = ["npm", "install", "--prefix", str(folder / "env"), "--ignore-scripts", "--install-links"]
        return [*own, [*install, "--no-audit", "--no-fund", "--loglevel=error", f"--before={time}", what]]
    make = [*uv, "venv", "--quiet", "--python", python, str(folder / "env")]
    place = ["--quiet", "--python", str(folder / "env")]
    tools = ["--exclude-newer", max(target.time, OLDEST_BUILD_TOOLS).strftime(_TIME)]
    # Old packages import pkg_resources, which an environment of today does not have; that of their time may not run.
    prepare = [*uv, "pip", "install", *ONLY_WHEELS, *place, *tools, "setuptools"]
    of_report = [word for name in project.companions for word in ("--only-binary", name)]
    wheels = of_report if target.may_build else ONLY_WHEELS
    limits = ["--exclude-newer", time, "--exclude-newer-package", f"setuptools={tools[1]}"]
    install = [*uv, "pip", "install", *wheels, *place, *limits, *project.companions]
    if own:
        return [make, prepare, [*install, "pip", "wheel"], *own]
    if target.version:
        return [make, prepare, [*install, f"{project.package}=={target.version}"]]
    built = folder / "wheels"
    tools += [] if target.may_build else ["--no-build"]
    places = ["--python", str(folder / "env"), "--out-dir", str(built), str(source)]
    build = [*uv, "build", "--wheel", *tools, *places]
    # Without a compiler, as in a container: numpy of 2014 takes minutes, and may fail then.
    return [make, prepare, build, ["sh", "-ec", f"CC=false {shlex.join(install)} {shlex.quote(str(built))}/*.whl"]]


def plan_node_build(target: Target, script: str = "", *tools: str) -> str:
    """Return the lines that build a commit of Node by a script of its own, which calls tools; empty without one."""
    time = target.time.strftime(_TIME)
    # What a project's tools want of each other has changed since.
    install = f"npm install --ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error --before={time}"
    lines = [" ".join([install, *(["--no-save", *tools] if tools else [])])]
    lines += ["export SKIP_YARN_COREPACK_CHECK=1"] if tools else []  # it refuses a project that names another version
    # Many build their pages too, which may fail: what counts is that it made what `main` names, which is no other file
    # with `--throw-deprecation`.
    made = "process.exitCode = +(fs.statSync(require.resolve(process.cwd())).ctimeMs < process.argv[1])"
    build = f"npm run {script} || node --throw-deprecation -e '{made}' \"$start\""
    return "\n".join([*lines, "start=$(node -p 'Date.now()')", build]) if script else ""


def plan_run(root: PurePath, example: Example, project: Project, seconds: float) -> list[str]:
    """Return the command that runs the example, which it reads from its input."""
    if recipe := project.recipe:
        return ["sh", "-c", _RUN, str(root), recipe.file, recipe.build, recipe.run]
    limit, env, runner = f"{seconds:g}", root / "env", root / "runner"
    if project.language == "node":
        return ["node", str(runner / "record_node.cjs"), limit, str(env), project.package]
    is_session = str(int(example.is_session))
    return [str(env / "bin/python"), str(runner / "record_python.py"), limit, is_session, *project.modules]


def build_variables_of_source(target: Target) -> dict[str, str]:
    """Return what tells build tools the version of a commit, whose folder is no git repository."""
    version = target.source_version or "0"
    return {"SETUPTOOLS_SCM_PRETEND_VERSION": version, "PBR_VERSION": version} if target.commit else {}


def find_reason(log: str) -> str:
    """Return what a tool's output says first of why it failed, with its causes, in at most 300 characters."""
    lines = [_BEFORE_LINE.sub("", " ".join(line.split())) for line in clean_text(log).splitlines()]
    said = "\n".join(line for line in lines if line and not _USELESS.search(line))
    lines = _CAUSE.sub(": ", said).split("\n")
    return next((line for line in lines if _TELLING.search(line)), lines[-1] or "no output")[:300]
