"""The installed package: its command, and files that are no Python."""

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
    assert {path.suffix for path in data} == {".md", ".j2", ".json"}
    assert [path for path in data if not any(fnmatch(path.name, pattern) for pattern in patterns)] == []


def test_dependencies_are_those_of_the_lock_file():
    (file,) = pyproject()["tool"]["setuptools"]["dynamic"]["dependencies"]["file"]
    wanted = [line.partition("[")[0].lower() for line in (ROOT / file).read_text().splitlines() if line[:1].isalpha()]
    locked = {line.partition("==")[0] for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line}
    assert wanted
    assert [name for name in wanted if name not in locked] == []
