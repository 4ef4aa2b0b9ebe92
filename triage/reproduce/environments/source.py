"""The repository: which project it is, its tags and commits, and the files of a commit in a folder."""

import json
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from triage.base.errors import GitError, WrongUsage
from triage.base.text import word_set
from triage.domain.project_config import ReproduceConfig
from triage.find.files.project_files import parse_manifest
from triage.git.commit import isolate, open_repository, write_files
from triage.git.history import to_time
from triage.reproduce.environments.releases import (
    DEPENDENCIES_AFTER,
    IN_REGISTRY,
    PYTHONS,
    Release,
    find_release,
    is_python_allowed,
    merge_tags,
    normalize_version,
    order_pythons,
)
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Project
from triage.reproduce.example.python_code import find_exports

_MAX_FILE_BYTES = 2_000_000
_BUILD_SCRIPTS = ("build", "prepack", "prepare")
"""`build` is a custom; npm runs the others before it packs: https://docs.npmjs.com/cli/using-npm/scripts."""
_NO_MODULES = word_set(
    "test tests testing docs doc examples example benchmarks bench scripts tools build setup conftest"
)
_PACKAGE_FILE = re.compile(r"(?:(?:src|lib|python)/)?(\w+)/__init__\.py")
_REQUIREMENT_FILE = re.compile(r"(?:^(?:pyproject\.toml|setup\.cfg)|requirements[^/]*(?:/[^/]+)?\.(?:txt|in|ya?ml))$")
_CONDA = re.compile(r"^\s*-\s*([A-Za-z0-9][\w.-]*)", re.M)
_MAX_REQUIREMENT_FILES = 30
_DEFINED = "^(class|def|async def) +[A-Za-z][A-Za-z0-9_]*"
_EXPORTED = "^ *export (declare )?(async )?(const|class|function) +[A-Za-z][A-Za-z0-9_]*"
_NAME = re.compile(r"""^\s*name\s*=\s*['"]?(?P<name>[A-Za-z0-9][\w.-]*)""", re.M)
_NAME_IN_SETUP = re.compile(r"""\bname\s*=\s*['"](?P<name>[A-Za-z0-9][\w.-]*)['"]""")
_NAME_BY_VARIABLE = re.compile(
    r"""^(\w+) *= *['"](?P<name>[A-Za-z0-9][\w.-]*)['"].*\bname['"]?\s*[=:]\s*\1\b""", re.M | re.S
)
_REQUIRES = re.compile(r"""(?:requires-python|python_requires)\s*=\s*['"]?([^'"\n#]+)""")


def _list_packages(path: str, text: str) -> list[str]:
    if path.endswith((".yml", ".yaml")):
        return list(_CONDA.findall(text))
    name = path if path in ("pyproject.toml", "setup.cfg") else "requirements.txt"
    return parse_manifest(name, text)


class Source:
    """A repository. Every method raises GitError when git fails. A commit is a full SHA."""

    def __init__(self, root: Path) -> None:
        self._git, _ = open_repository(root)
        self._objects = isolate(self._git)

    def resolve(self, name: str) -> str | None:
        """Return the full SHA of a commit, tag or branch; None if there is none."""
        if name.startswith("-"):
            return None
        output = self._git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", accept=(0, 1, 128))
        return output.decode().strip() or None

    def name_head(self) -> str:
        """Return the name of the current branch, or the first characters of the current commit."""
        branch = self._git.run("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)).decode().strip()
        return branch or self._git.run("rev-parse", "--short", "HEAD").decode().strip()

    def read(self, commit: str, path: str) -> str | None:
        """Return the text of a file; None if there is none."""
        try:
            data = self._objects.run("cat-file", "blob", f"{commit}:{path}", max_bytes=_MAX_FILE_BYTES)
        except GitError:
            return None
        return data.decode("utf-8", "replace")

    def list_paths(self, commit: str) -> list[str]:
        output = self._objects.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, max_bytes=1 << 26)
        return output.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def list_definitions(self, commit: str, pattern: str, *paths: str) -> list[tuple[str, str]]:
        """Return the path and the last word of each match of an extended regular expression in some files."""
        args = ("grep", "-z", "-o", "-E", pattern, commit, "--", *paths)
        try:
            lines = self._git.run(*args, accept=(0, 1), max_bytes=1 << 24).decode("utf-8", "replace").split("\n")[:-1]
        except GitError:  # such as files that a partial clone lacks
            return []
        pairs = (line.removeprefix(f"{commit}:").partition("\0") for line in lines)
        return [(path, definition.split()[-1]) for path, _, definition in pairs]

    def read_time(self, commit: str) -> datetime:
        return to_time(self._objects.run("show", "--no-patch", "--format=%ct", commit).decode().strip())

    def read_subject(self, commit: str) -> str:
        return self._objects.run("show", "--no-patch", "--format=%s", commit).decode("utf-8", "replace").strip()

    def list_version_tags(self) -> dict[str, Release]:
        """Return the tag of each final version as a release."""
        fields = [f"%({of}{name})" for name in ("objectname", "committerdate:unix") for of in ("*", "")]
        args = ("for-each-ref", f"--format=%(refname:strip=2)%00{'%00'.join(fields)}", "refs/tags")
        output = self._git.run(*args, max_bytes=1 << 24).decode("utf-8", "replace")
        found: dict[str, Release] = {}
        rows = [line.split("\0") for line in output.split("\n") if line]
        for name, commit, own, time, own_time in sorted(rows, key=lambda row: -len(row[0])):  # the plainest name wins
            if (version := normalize_version(name)) and (time or own_time):  # else it is no commit
                found[version] = Release(version=version, time=to_time(time or own_time), commit=commit or own)
        return found

    def list_steps(self, good: str, bad: str) -> list[str]:
        """Return the commits after `good` up to `bad` on the first-parent line, oldest first."""
        args = ("rev-list", "--first-parent", "--reverse", "--end-of-options", f"{good}..{bad}")
        return self._objects.run(*args, max_bytes=1 << 24).decode().split()

    def find_fork(self, one: str, other: str) -> str | None:
        """Return the last commit that two have in common: releases are often tagged on a branch of their own."""
        output = self._objects.run("merge-base", one, other, accept=(0, 1))
        return output.decode().strip() or None

    def list_changed(self, commit: str) -> list[str]:
        """Return the files that a commit changed, compared with its first parent."""
        args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", f"{commit}^1", commit)
        return self._objects.run(*args, max_bytes=1 << 24).decode("utf-8", "replace").split("\0")[:-1]

    def export(self, commit: str, folder: Path) -> None:
        """Write the files of a commit into a new folder. Raises GitError."""
        write_files(self._objects, commit, folder)

    def describe_version(self, commit: str) -> str:
        """Return the version of the newest tag that the commit contains, for build tools without git."""
        output = self._git.run("describe", "--tags", "--abbrev=0", commit, accept=(0, 128)).decode("utf-8", "replace")
        return normalize_version(output.strip())

    def find_build_script(self, commit: str) -> str | None:
        """Return the script by which a package of Node is built before it is published.

        Empty if it runs from its files as they are; None if nothing says how it is built.
        """
        paths, manifest = self.list_paths(commit), self.read(commit, "package.json") or ""
        if "binding.gyp" in paths:
            return None
        scripts = _parse_node_manifest(manifest).get("scripts")
        names = (name for name in _BUILD_SCRIPTS if isinstance(scripts, dict) and name in scripts)
        return "" if has_entries(manifest, paths) else next(names, None)

    def list_pythons(self, commit: str) -> list[str]:
        """Return the Pythons that the project allows at a commit, oldest first."""
        texts = (self.read(commit, name) or "" for name in ("pyproject.toml", "setup.cfg", "setup.py"))
        requires = next((match[1].strip() for text in texts if (match := _REQUIRES.search(text))), "")
        return [python for python in PYTHONS if is_python_allowed(requires, python)]

    def find_companions(self, commit: str, modules: Iterable[str]) -> list[str]:
        """Return the modules that the project's own files name as packages, such as optional dependencies."""
        files = [path for path in self.list_paths(commit) if _REQUIREMENT_FILE.search(path)][:_MAX_REQUIREMENT_FILES]
        found = {name.lower() for path in files for name in _list_packages(path, self.read(commit, path) or "")}
        return sorted(name for name in modules if name.lower() in found and name not in sys.stdlib_module_names)

    def find_project(self, commit: str, config: ReproduceConfig) -> Project | None:
        """Return what the repository is, by its files and its settings; None if it is no package of Python or Node."""
        found = self._find_project(commit, config)
        return found and found.model_copy(update={"prelude": config.prelude, "setup": config.setup})

    def _find_project(self, commit: str, config: ReproduceConfig) -> Project | None:
        if config.languages:
            own = {name.lower(): recipe for name, recipe in config.languages.items()}
            return Project(language="other", package=config.package, image=config.image, languages=own)
        paths = self.list_paths(commit)
        if {"pyproject.toml", "setup.py", "setup.cfg"} & {*paths}:
            name = config.package or self._find_python_name(commit)
            modules = _find_modules(paths, name)
            if modules:
                name = name or modules[0]
                folder = find_folder(paths, modules[0])
                definitions = self.list_definitions(commit, _DEFINED, f"{folder}/*.py")
                exports = find_exports(lambda path: self.read(commit, path), folder, definitions)
                return Project(language="python", package=name, modules=modules, exports=exports)
        if "package.json" in paths and (name := config.package or _find_node_name(self.read(commit, "package.json"))):
            exported = self.list_definitions(
                commit, _EXPORTED, "*.js", "*.mjs", "*.cjs", "*.ts", ":!*test*", ":!*spec*"
            )
            return Project(language="node", package=name, modules=[name], exports={one: name for _, one in exported})
        return None

    def _find_python_name(self, commit: str) -> str:
        try:
            name = tomllib.loads(self.read(commit, "pyproject.toml") or "").get("project", {}).get("name")
        except tomllib.TOMLDecodeError:
            name = None
        setup = self.read(commit, "setup.py")
        places = ((self.read(commit, "setup.cfg"), _NAME), (setup, _NAME_IN_SETUP), (setup, _NAME_BY_VARIABLE))
        found = (match["name"] for text, pattern in places if text and (match := pattern.search(text)))
        return str(name) if name else next(found, "")


def _find_modules(paths: list[str], name: str) -> list[str]:
    """Return what can be imported, the one named as the project first."""
    plain = name.lower().replace("-", "_").replace(".", "_")
    packages = {match[1] for path in paths if (match := _PACKAGE_FILE.fullmatch(path))}
    tops = {PurePosixPath(path).stem for path in paths if path in (f"{plain}.py", f"src/{plain}.py", f"lib/{plain}.py")}
    # A `.py` file at the top level beside the packages is a module too: `pytest.py` once was.
    found = (packages | tops) - _NO_MODULES | ({plain} & (packages | tops))
    counts = {module: sum(f"/{module}/" in f"/{path}" for path in paths) for module in found}
    return sorted(found, key=lambda module: (module != plain, -counts[module], module))


def find_folder(paths: Iterable[str], module: str) -> str:
    """Return the folder of a package, else the file of a module without its ending."""
    pattern = re.compile(rf"((?:(?:src|lib|python)/)?{re.escape(module)})(/__init__)?\.py")
    found = [match for path in paths if (match := pattern.fullmatch(path))]
    return str(max(found, key=lambda match: match[2] or "")[1])


def _parse_node_manifest(text: str | None) -> dict[str, Any]:
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _find_node_name(text: str | None) -> str:
    name = _parse_node_manifest(text).get("name")
    return name if isinstance(name, str) and re.fullmatch(r"(?:@[\w.-]+/)?[\w.-]+", name) else ""


def has_entries(manifest: str, paths: Collection[str]) -> bool:
    """Return whether the files by which a package of Node is entered are in a commit. Else they are built."""
    document = _parse_node_manifest(manifest)
    entries = re.findall(r'"\./([^"*]+\.[cm]?js)"', json.dumps(document.get("exports", "")))
    entries = entries or [str(document.get("main") or "index.js").removeprefix("./").rstrip("/")]
    return all(
        any(path == entry or path.startswith((f"{entry}.", f"{entry}/index.")) for path in paths) for entry in entries
    )


class Versions:
    """Makes a target of a version's name."""

    def __init__(self, source: Source, project: Project, wheels: Sequence[Release], head: str) -> None:
        """Take the releases of the registry, oldest first. Tags of further versions are releases too."""
        self._source, self._project = source, project
        self._has_registry = bool(wheels) or project.language == "other"
        self.tags = source.list_version_tags()
        until = source.read_time(head) + DEPENDENCIES_AFTER
        self.releases = [release for release in merge_tags(wheels, self.tags) if release.time <= until]

    def make_release_target(self, release: Release, like: Target | None = None) -> Target:
        """Return the target of a release, on the Python of another one if it can run there."""
        if release.commit:
            return self._make_target(release.version, release.commit, like)
        time, pythons = release.time + DEPENDENCIES_AFTER, self._order_pythons(release.time, release.pythons, like)
        return Target(on=release.version, version=release.version, time=time, pythons=pythons)

    def make_commit_target(self, name: str, on: str, like: Target | None = None) -> Target:
        """Return the target of a commit, tag or branch. Raises WrongUsage if there is none."""
        commit = self._source.resolve(name)
        if commit is None:
            more = "" if self._has_registry else f" {IN_REGISTRY}"
            raise WrongUsage(f"{on} is neither a release nor a tag, branch or commit of this repository.{more}")
        return self._make_target(on, commit, like)

    def _make_target(self, on: str, commit: str, like: Target | None) -> Target:
        time = self._source.read_time(commit) + DEPENDENCIES_AFTER
        pythons = self._order_pythons(time, self._source.list_pythons(commit), like)
        version = self._source.describe_version(commit)
        return Target(on=on, commit=commit, time=time, pythons=pythons, source_version=version)

    def _order_pythons(self, time: datetime, supported: Sequence[str], like: Target | None) -> list[str]:
        if self._project.language != "python":
            return []
        return order_pythons(time, supported, "".join(like.pythons[:1]) if like else "")

    def find(self, written: str, like: Target | None = None) -> Target:
        """Return the target of what somebody wrote: a version, a tag, a branch or a commit. Raises WrongUsage."""
        release = find_release(self.releases, written) if normalize_version(written) else None
        return self.make_release_target(release, like) if release else self.make_commit_target(written, written, like)
