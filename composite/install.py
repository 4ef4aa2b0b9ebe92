"""Installs what the program runs with, for `composite/action.yml`. Standard library only: nothing is installed yet.

`plan` names the folders, `install` fills them. pip compares each wheel with the hash of `requirements.txt`.
"""

import hashlib
import os
import platform
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements.txt"
OPTIONS = ("--disable-pip-version-check", "--no-input", "--quiet", "--no-deps", "--only-binary", ":all:")
ELSEWHERE = ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER", "PIP_DRY_RUN")
"""Variables of a job that make pip install somewhere else, or not at all. An index of its own stays."""


class CannotInstall(Exception):
    """Says what could not be done, and what to do about it."""


def find_problem(system: str, machine: str) -> str:
    """Why this machine cannot run the program; empty if it can. Takes the names of `platform`."""
    if system == "Windows":
        return "Windows runners cannot run this action. Use a Linux or macOS runner."
    if system == "Darwin" and machine != "arm64":
        return (
            "Macs with an Intel processor cannot run this action: a package has no wheel for them. Use arm64 or Linux."
        )
    return ""


def make_mark(requirements: bytes) -> str:
    """The same for the same packages on the same kind of machine with the same version of Python."""
    parts = (requirements, platform.python_version().encode(), sysconfig.get_platform().encode())
    return hashlib.sha256(b"|".join(parts)).hexdigest()


def plan(home: Path, output: Path) -> None:
    """Write the outputs `python`, `libraries` and `ready`."""
    problem = find_problem(platform.system(), platform.machine())
    if problem:
        raise CannotInstall(problem)
    mark = make_mark(REQUIREMENTS.read_bytes())
    lines = {
        "python": _find_python(home),
        "libraries": Path(sys.base_prefix) / "lib",  # where libpython is, if the tool cache is not at its usual place
        "ready": str(_read_installed(home) == mark).lower(),  # an earlier step of this job has installed it
    }
    with output.open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in lines.items())


def install(home: Path) -> None:
    """Make the environment with the packages of the package index."""
    venv.create(home / "venv", with_pip=False, clear=True, symlinks=True)
    if _run_pip("--python", str(_find_python(home)), "install", "--no-compile"):
        raise CannotInstall(
            "The packages could not be installed; the lines above say why. The runner needs to reach a package index: "
            "pypi.org, or the one that PIP_INDEX_URL names."
        )
    (home / "installed").write_text(make_mark(REQUIREMENTS.read_bytes()), encoding="utf-8")


def _find_python(home: Path) -> Path:
    return home / "venv" / "bin" / "python"


def _read_installed(home: Path) -> str:
    try:
        return (home / "installed").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _run_pip(*arguments: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    pip = [
        sys.executable,
        "-I",
        "-m",
        "pip",
        *arguments,
        *OPTIONS,
        "--require-hashes",
        "--requirement",
        str(REQUIREMENTS),
    ]
    return subprocess.run(pip, env=environment, check=False).returncode  # noqa: S603 - our own words only


def main() -> int:
    """Exit code 1 with one line for the job's log on failure."""
    home = Path(os.environ["RUNNER_TEMP"]) / "bug-triage"
    try:
        plan(home, Path(os.environ["GITHUB_OUTPUT"])) if sys.argv[1:] == ["plan"] else install(home)
    except (CannotInstall, OSError) as error:
        print(f"::error::{error}")  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
