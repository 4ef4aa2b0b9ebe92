"""Names of the packages that a project declares to depend on, from its manifests."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as BadConfigFile
from typing import Any

_NAME = r"[A-Za-z0-9][\w.-]{0,100}"
_REQUIREMENT = re.compile(rf"\s*({_NAME})\s*(?:[\[<>=!~;@ ]|$)")
_GO = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[a-z]+/[\w./~-]+)\s+v\d", re.M)
_GEM = re.compile(rf"^\s*gem\s+['\"]({_NAME})['\"]", re.M)


def parse_manifest(path: str, text: str) -> list[str]:
    """Return the names that the manifest declares; none if it cannot be read, or is no manifest."""
    name = path.rpartition("/")[2]
    read = _READERS.get(name, _read_requirements if _REQUIREMENTS.fullmatch(name) else None)
    if read is None:
        return []
    try:
        return list(dict.fromkeys(read(text)))
    except (ValueError, RecursionError, TypeError, AttributeError, BadConfigFile):  # tables of other shapes
        return []


def is_manifest(path: str) -> bool:
    """Return whether the file is a manifest in the root, or of a package of a monorepo."""
    name = path.rpartition("/")[2]
    return path.count("/") <= _MAX_FOLDERS and (name in _READERS or _REQUIREMENTS.fullmatch(name) is not None)


def _read_requirements(text: str) -> Iterator[str]:
    yield from _list_requirements(line for line in text.split("\n") if not line.startswith(("-", "#")))


def _list_requirements(lines: Iterable[str]) -> Iterator[str]:
    return (match[1] for line in lines if (match := _REQUIREMENT.match(line)))


def _read_pyproject(text: str) -> Iterator[str]:
    loaded = tomllib.loads(text)
    project, poetry = loaded.get("project", {}), loaded.get("tool", {}).get("poetry", {})
    yield from _list_requirements(project.get("dependencies", []))
    for group in [*project.get("optional-dependencies", {}).values(), *loaded.get("dependency-groups", {}).values()]:
        yield from _list_requirements(one for one in group if isinstance(one, str))
    yield from (name for name in poetry.get("dependencies", {}) if name != "python")


def _read_setup_cfg(text: str) -> Iterator[str]:
    found = ConfigParser(interpolation=None, strict=False)
    found.read_string(text)
    tables: dict[str, Mapping[str, str]] = dict(found)
    options, extras = tables.get("options", {}), tables.get("options.extras_require", {})
    for lines in (options.get("install_requires", ""), options.get("setup_requires", ""), *extras.values()):
        yield from _list_requirements(lines.split("\n"))


def _read_package_json(text: str) -> Iterator[str]:
    return _list_tables(json.loads(text), ("dependencies", "devDependencies", "peerDependencies"))


def _read_cargo(text: str) -> Iterator[str]:
    loaded = tomllib.loads(text)
    tables = ("dependencies", "dev-dependencies", "build-dependencies")
    yield from _list_tables(loaded, tables)
    yield from _list_tables(loaded.get("workspace", {}), tables)


def _read_composer(text: str) -> Iterator[str]:
    return (name for name in _list_tables(json.loads(text), ("require", "require-dev")) if "/" in name)


def _list_tables(loaded: Mapping[str, Any], tables: Iterable[str]) -> Iterator[str]:
    return (name for table in tables for name in loaded.get(table, {}))


_MAX_FOLDERS = 2
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.(?:txt|in)")
_READERS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "package.json": _read_package_json,
    "Cargo.toml": _read_cargo,
    "composer.json": _read_composer,
    "go.mod": _GO.findall,
    "Gemfile": _GEM.findall,
}
