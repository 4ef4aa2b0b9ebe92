"""The installed package: its command, and files that are no Python."""

import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_command_is_a_function():
    (name, target), *others = pyproject()["project"]["scripts"].items()
    module, _, function = target.partition(":")
    assert (name, others) == ("bug-triage", [])
    assert callable(getattr(import_module(module), function))


def test_every_data_file_is_packaged():
    patterns = pyproject()["tool"]["setuptools"]["package-data"]["*"]
    data = [path for path in (ROOT / "triage").rglob("*.*") if path.suffix not in (".py", ".pyc") and path.is_file()]
    assert {path.suffix for path in data} == {".cjs", ".j2", ".json", ".md"}
    assert [path for path in data if not any(fnmatch(path.name, pattern) for pattern in patterns)] == []


def test_what_git_tracks_is_what_ruff_mypy_and_the_wheel_see():
    def run(*command: str) -> set[str]:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return {
            str(Path(line).relative_to(ROOT) if line.startswith("/") else line) for line in done.stdout.splitlines()
        }

    new = run("git", "ls-files", "--others", "--exclude-standard", "--", "*.py")
    tracked = run("git", "ls-files", "--", "*.py") | new
    on_disk = {str(path.relative_to(ROOT)) for path in (ROOT / "triage").rglob("*.py")}
    assert on_disk == {path for path in tracked if path.startswith("triage/")}, "git ignores a module"
    assert tracked <= run(str(Path(sys.executable).with_name("ruff")), "check", "--show-files", ".")
    roots = pyproject()["tool"]["mypy"]["files"]
    assert {path for path in tracked if not path.startswith(tuple(roots))} <= {
        path for path in tracked if path.startswith("bench/")
    }
    packages = {path.rpartition("/")[0] for path in tracked if path.startswith("triage/")}
    assert [one for one in packages if f"{one}/__init__.py" not in tracked] == [], "no package of the wheel"


def test_dependencies_are_those_of_the_lock_file():
    (file,) = pyproject()["tool"]["setuptools"]["dynamic"]["dependencies"]["file"]
    wanted = [line.partition("[")[0].lower() for line in (ROOT / file).read_text().splitlines() if line[:1].isalpha()]
    locked = {line.partition("==")[0] for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line}
    assert wanted
    assert [name for name in wanted if name not in locked] == []
