"""The repository: which project it is, its tags and commits, and the files of a commit in a folder."""

import json
import re
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache, partial
from operator import attrgetter
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
    PUBLISHED_AFTER,
    PYTHONS,
    Release,
    find_number,
    find_release,
    is_python_allowed,
    normalize_version,
    order_pythons,
)
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Project
from triage.reproduce.example.python_code import find_exports, read_import_lines

_MAX_FILE_BYTES = 2_000_000
_BUILD_SCRIPTS = ("build", "prepack", "prepare")
"""`build` is a custom; npm runs the others before it packs: https://docs.npmjs.com/cli/using-npm/scripts."""
_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "package.json")
_PACKAGE = re.compile(r"^\[(?:project|build-system|tool\.(?:poetry|flit|pdm|hatch))\b", re.M)
"""In a `pyproject.toml`; others have the settings of tools alone."""
_VERSION_FILES = ("__init__.py", "_version.py", "version.py", "__version__.py", "__about__.py")
_NO_MODULES = word_set(
    "test tests testing docs doc examples example benchmarks bench scripts tools build setup conftest"
)
_PACKAGE_FILE = re.compile(r"(?:(?:src|lib|python)/)?(\w+)/__init__\.py")
_REQUIREMENT_FILE = re.compile(r"(?:^(?:pyproject\.toml|setup\.cfg)|requirements[^/]*(?:/[^/]+)?\.(?:txt|in))$")
_MAX_REQUIREMENT_FILES = 30
_DEFINED = "^(class|def|async def) +[A-Za-z][A-Za-z0-9_]*"
_EXPORTED = r"^ *export (((declare|async|const|let|var|class|function) +)+\w+|\{[^}]*\})|^(module\.)?exports\.\w+ *="
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_NO_NAMES = word_set("class def async export declare const let var function as default module exports")
_NAME = re.compile(r"""^\s*name\s*=\s*['"]?(?P<name>[A-Za-z0-9][\w.-]*)""", re.M)
_NAME_IN_SETUP = re.compile(r"""\bname\s*=\s*['"](?P<name>[A-Za-z0-9][\w.-]*)['"]""")
_PY_MODULES = re.compile(r"""\bpy[_-]modules\s*=\s*(?:[\[(]([^\])]{0,300})|(.{0,300}))""")
_NAME_BY_VARIABLE = re.compile(
    r"""^(\w+) *= *['"](?P<name>[A-Za-z0-9][\w.-]*)['"].*\bname['"]?\s*[=:]\s*\1\b""", re.M | re.S
)
_REQUIRES = re.compile(r"""(?:requires-python|python_requires)\s*=\s*['"]?([^'"\n#]+)""")


class Source:
    """A repository. Every method raises GitError when git fails. A commit is a full SHA."""

    def __init__(self, root: Path) -> None:
        self._git, _ = open_repository(root)
        self._objects = isolate(self._git)
        self._folders: dict[str, str] = {}
        """The project's of each commit."""
        self.read, self.list_paths = cache(self._read), cache(self._list_paths)  # a commit stays as it is

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

    def _read(self, commit: str, path: str) -> str | None:
        """Return the text of a file; None if there is none."""
        try:
            data = self._objects.run("cat-file", "blob", f"{commit}:{path}", max_bytes=_MAX_FILE_BYTES)
        except GitError:
            return None
        return data.decode("utf-8", "replace")

    def _list_paths(self, commit: str) -> list[str]:
        output = self._objects.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, max_bytes=1 << 26)
        return output.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def list_definitions(self, commit: str, pattern: str, *paths: str) -> list[tuple[str, str]]:
        """Return the path of each match of an extended regular expression in some files, with each name in it."""
        args = ("grep", "-z", "-o", "-E", pattern, commit, "--", *paths)
        try:
            lines = self._git.run(*args, accept=(0, 1), max_bytes=1 << 24).decode("utf-8", "replace").split("\n")[:-1]
        except GitError:  # such as files that a partial clone lacks
            return []
        pairs = (line.removeprefix(f"{commit}:").partition("\0") for line in lines)
        return [(path, name) for path, _, words in pairs for name in _WORD.findall(words) if name not in _NO_NAMES]

    def read_time(self, commit: str) -> datetime:
        return to_time(self._objects.run("show", "--no-patch", "--format=%ct", commit).decode().strip())

    def read_subject(self, commit: str) -> str:
        return self._objects.run("show", "--no-patch", "--format=%s", commit).decode("utf-8", "replace").strip()

    def list_version_tags(self) -> dict[str, Release]:
        """Return the tag of each version as a release."""
        fields = [f"%({of}{name})" for name in ("objectname", "committerdate:unix") for of in ("*", "")]
        args = ("for-each-ref", f"--format=%(refname:strip=2)%00{'%00'.join(fields)}", "refs/tags")
        output = self._git.run(*args, max_bytes=1 << 24).decode("utf-8", "replace")
        found: dict[str, Release] = {}
        rows = [line.split("\0") for line in output.split("\n") if line]
        for name, commit, own, time, own_time in sorted(rows, key=lambda row: -len(row[0])):  # the plainest name wins
            if (version := normalize_version(name)) and (time or own_time):  # else it is no commit
                found[version] = Release(version=version, time=to_time(time or own_time), commit=commit or own)
        return found

    def find_version_commit(
        self, version: str, head: str, modules: Sequence[str] = (), tagged: Collection[str] = ()
    ) -> str | None:
        """Return the commit up to `head` that is a version, by the files of the project, for a forgotten tag.

        That is the first that says it. If the commit before is a release, it is the number of what is developed: then
        the last that says it, if another number followed. None without one.
        """
        number = re.escape(version).replace("\\-", "-")
        said = (
            r"(^[ \t]*['\"]?|\bsetup\((.*[ ,])?|[{,][ \t]*\")(version|__version__|VERSION)"
            rf"['\"]?[ \t]*(:[ \t]*[A-Za-z]+[ \t]*)?[:=][ \t]*(['\"]{number}['\"]|{number}[ \t]*$)"
        )
        tops = [f"{top}{module}" for module in modules for top in ("", "src/", "lib/", "python/")]
        own = [
            *_MANIFESTS,
            *(f"{top}.py" for top in tops),
            *(f"{top}/{name}" for top in tops for name in _VERSION_FILES),
        ]
        paths = [f":(literal){folder}{path}" for folder in {"", self.find_own(head)} for path in own]
        args = ("log", "--reverse", "--format=%H %P", "--pickaxe-regex", f"-S{said}", head, "--", *paths)
        try:
            lines = self._objects.run(*args, max_bytes=1 << 20).decode().split("\n")[:-1]
        except GitError:  # such as files that a partial clone lacks
            return None
        found = [line.split() for line in lines]
        if found and not {*tagged}.isdisjoint(found[0][1:]):
            return found[-1][-1] if found[1:] else None  # its parent
        return found[0][0] if found else None

    def list_steps(self, good: str, bad: str) -> list[str]:
        """Return the commits after `good` up to `bad` on the first-parent line, oldest first."""
        args = ("rev-list", "--first-parent", "--reverse", "--end-of-options", f"{good}..{bad}")
        return self._objects.run(*args, max_bytes=1 << 24).decode().split()

    def find_fork(self, one: str, other: str) -> str | None:
        """Return the last commit that two have in common: releases are often tagged on a branch of their own."""
        output = self._objects.run("merge-base", one, other, accept=(0, 1))
        return output.decode().strip() or None

    def export(self, commit: str, folder: Path) -> str:
        """Write the files of a commit into a new folder, and return the project's there. Raises GitError.

        What is built may lead out of the project's folder, such as a link to the README. A clone may lack that.
        """
        own = self.find_own(commit)
        try:
            write_files(self._objects, commit, folder)
        except GitError:
            if not own:
                raise
            shutil.rmtree(folder)
            write_files(self._objects, f"{commit}:{own}", folder / own)
        return own

    def describe_version(self, commit: str) -> str:
        """Return the version of the newest tag that the commit contains, for build tools without git."""
        output = self._git.run("describe", "--tags", "--abbrev=0", commit, accept=(0, 128)).decode("utf-8", "replace")
        return normalize_version(output.strip())

    def find_build_script(self, commit: str) -> list[str] | None:
        """Return the script by which a package of Node is built before it is published, and the tools that it calls.

        Empty if it runs from its files as they are; None if nothing says how it is built.
        """
        paths, manifest = self.list_own(commit), self.read_own(commit, "package.json")
        scripts = _parse_node_manifest(manifest).get("scripts")
        found = [name for name in _BUILD_SCRIPTS if isinstance(scripts, dict) and name in scripts]
        if "binding.gyp" in paths or not (found or has_entry_files(manifest, paths)):
            return None
        called = re.findall(r"\b(?:yarn|pnpm)\b", json.dumps(scripts))
        return [] if has_entry_files(manifest, paths) else [found[0], *dict.fromkeys(called)]

    def list_pythons(self, commit: str) -> list[str]:
        """Return the Pythons that the project allows at a commit, oldest first."""
        texts = (self.read_own(commit, name) for name in _MANIFESTS[:3])
        requires = next((match[1].strip() for text in texts if (match := _REQUIRES.search(text))), "")
        return [python for python in PYTHONS if is_python_allowed(requires, python)]

    def find_companions(self, commit: str, modules: Iterable[str]) -> list[str]:
        """Return the modules that the project's own files name as packages, such as optional dependencies."""
        files = [path for path in self.list_paths(commit) if _REQUIREMENT_FILE.search(path)][:_MAX_REQUIREMENT_FILES]
        names = {path: path if path in ("pyproject.toml", "setup.cfg") else "requirements.txt" for path in files}
        found = {one.lower() for path in files for one in parse_manifest(names[path], self.read(commit, path) or "")}
        return sorted(name for name in modules if name.lower() in found and name not in sys.stdlib_module_names)

    def find_project(self, commit: str, config: ReproduceConfig) -> Project | None:
        """Return what the repository is, by its files and its settings; None if it is no package of Python or Node."""
        make = partial(Project, prelude=config.prelude, setup=config.setup)
        if config.languages:
            own = {name.lower(): recipe for name, recipe in config.languages.items()}
            return make(language="other", package=config.package, image=config.image, languages=own)
        paths = self.list_own(commit)
        if {*_MANIFESTS[:3]} & {*paths}:
            name = config.package or self._find_python_name(commit)
            listed = _PY_MODULES.findall("".join(self.read_own(commit, one) for one in _MANIFESTS[:3]))
            modules = _find_modules(paths, name, re.findall(r"\w+", " ".join(map(" ".join, listed))))
            if modules:
                name = name or modules[0]
                folder = self.find_own(commit) + find_folder(paths, modules[0])
                definitions = self.list_definitions(commit, _DEFINED, f"{folder}/*.py")
                exports = find_exports(lambda path: self.read(commit, path), folder, definitions)
                readme = read_import_lines(self._read_readme(commit, paths), {*modules})
                return make(language="python", package=name, modules=modules, exports=exports, readme=readme)
        if "package.json" in paths and (
            name := config.package or _find_node_name(self.read_own(commit, "package.json"))
        ):
            files = [f"{self.find_own(commit)}*.{ending}" for ending in ("js", "mjs", "cjs", "ts")]
            exported = [one for _, one in self.list_definitions(commit, _EXPORTED, *files, ":!*test*", ":!*spec*")]
            taken, text = rf"(?:= *require\(|from )['\"]{re.escape(name)}['\"]", self._read_readme(commit, paths)
            readme = dict(re.findall(rf"(\w+) {taken}\)?(\(\))?[;,]?\s*$", text, re.M))
            readme |= dict.fromkeys(re.findall(rf"(\w+) = (?:{'|'.join(readme) or '(?!)'})\(\)", text), "()")
            parts = [*re.findall(rf"\{{([^{{}}]+)\}} *{taken}", text), *re.findall(rf"{taken}\)\.(\w+)", text)]
            exports = dict.fromkeys([*exported, *re.findall(r"\w[\w$ ]*\w|\w", ",".join(parts))], name)
            return make(language="node", package=name, modules=[name], exports=exports, readme=readme)
        return None

    def _read_readme(self, commit: str, paths: Iterable[str]) -> str:
        path = next((path for path in paths if re.fullmatch(r"(?i)readme(?:\.\w+)?", path)), "")
        return self.read_own(commit, path) if path else ""

    def _find_python_name(self, commit: str) -> str:
        try:
            name = tomllib.loads(self.read_own(commit, "pyproject.toml")).get("project", {}).get("name")
        except tomllib.TOMLDecodeError:
            name = None
        places = (("setup.cfg", _NAME), ("setup.py", _NAME_IN_SETUP), ("setup.py", _NAME_BY_VARIABLE))
        found = (match["name"] for path, pattern in places if (match := pattern.search(self.read_own(commit, path))))
        return str(name) if name else next(found, "")

    def read_own(self, commit: str, name: str) -> str:
        """Return the text of a file in the project's folder; empty if there is none."""
        return self.read(commit, f"{self.find_own(commit)}{name}") or ""

    def list_own(self, commit: str) -> list[str]:
        """Return the paths in the project's folder, from there."""
        own = self.find_own(commit)
        return [path.removeprefix(own) for path in self.list_paths(commit) if path.startswith(own)]

    def find_own(self, commit: str) -> str:
        """Return the project's folder at a commit, with a slash if it is not the repository itself."""
        if commit not in self._folders:
            paths, at_top = self.list_paths(commit), self.read(commit, "pyproject.toml") or ""
            # Where it stands at the commit that was asked for first, it stood when it was also elsewhere.
            known = (own for own in self._folders.values() if {*paths} & {f"{own}{name}" for name in _MANIFESTS if own})
            is_for_tools = _PACKAGE.search(at_top) is None
            self._folders[commit] = next(known, "") or _find_top(paths, is_for_tools=is_for_tools)
        return self._folders[commit]


def _find_top(paths: Sequence[str], *, is_for_tools: bool) -> str:
    """Return the folder of the project with a slash: that with most files if the repository itself has no manifest.

    What has one below it is a part of it. With `is_for_tools` a `pyproject.toml` of the repository itself is none.
    """
    manifests = [path for path in paths if path.rpartition("/")[2] in _MANIFESTS and path.count("/") < 3]
    tops = {path.rpartition("/")[0] for path in manifests if not (is_for_tools and path == "pyproject.toml")}
    outer = [top for top in tops if tops.isdisjoint(map(str, PurePosixPath(top).parents))]
    own = [top for top in outer if _NO_MODULES.isdisjoint(top.split("/"))]
    counts = Counter({f"{top}/": sum(path.startswith(f"{top}/") for path in paths) for top in own})
    (top, count), *_ = counts.most_common(1) or [("", 0)]
    return top if "" not in tops and 2 * count > counts.total() else ""


def _find_modules(paths: list[str], name: str, listed: Sequence[str]) -> list[str]:
    """Return what can be imported, the one named as the project first. `listed` are files that the project names."""
    plain = name.lower().replace("-", "_").replace(".", "_")
    packages = {match[1] for path in paths if (match := _PACKAGE_FILE.fullmatch(path))}
    files = {f"{top}{module}.py" for module in (plain, *listed) for top in ("", "src/", "lib/")}
    tops = {PurePosixPath(path).stem for path in paths if path in files}
    alone = {path.removesuffix(".py") for path in paths if re.fullmatch(r"\w+\.py", path)} - _NO_MODULES
    tops |= alone if len(alone) == 1 and not packages else set()  # a `setup.py` may take its name from the module
    # A `.py` file at the top level beside the packages is a module too: `pytest.py` once was.
    found = (packages | tops) - _NO_MODULES | ({plain} & (packages | tops))
    counts = {module: sum(f"/{module}/" in f"/{path}" for path in paths) for module in found}
    return sorted(found, key=lambda module: (module != plain, -counts[module], module))


def find_folder(paths: Iterable[str], module: str) -> str:
    """Return the folder of a package, else the file of a module without its ending."""
    pattern = re.compile(rf"((?:(?:src|lib|python)/)?{re.escape(module)})(/__init__)?\.py")
    found = [match for path in paths if (match := pattern.fullmatch(path))]
    return str(max(found, key=lambda match: match[2] or "")[1])


def _parse_node_manifest(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _find_node_name(text: str) -> str:
    name = _parse_node_manifest(text).get("name")
    return name if isinstance(name, str) and re.fullmatch(r"(?:@[\w.-]+/)?[\w.-]+", name) else ""


def has_entry_files(manifest: str, paths: Collection[str]) -> bool:
    """Return whether the files by which a package of Node is entered are in a commit. Else they are built."""
    document = _parse_node_manifest(manifest)
    entries = re.findall(r'"\./([^"*]+\.[cm]?js)"', json.dumps(document.get("exports", "")))
    entries = entries or [str(document.get("main") or "index.js").removeprefix("./").rstrip("/")]
    return all(
        any(path == entry or path.startswith((f"{entry}.", f"{entry}/index.")) for path in paths) for entry in entries
    )


class Versions:
    """Makes a target of a version's name."""

    def __init__(self, source: Source, project: Project, head: str, *, from_registry: bool = False) -> None:
        """Take the tags as releases, oldest first. With `from_registry` each is installed from there by its number."""
        self._source, self._project, self._head, self._from_registry = source, project, head, from_registry
        self.tags = source.list_version_tags()
        until = source.read_time(head) + DEPENDENCIES_AFTER
        self.releases = sorted((one for one in self.tags.values() if one.time <= until), key=attrgetter("number"))

    def make_release_target(self, release: Release, like: Target | None = None) -> Target:
        """Return the target of a release, on the Python of another one if it can run there."""
        target = self._make_target(release.version, release.commit, like)
        published = {"version": release.version, "commit": "", "time": target.time + PUBLISHED_AFTER}
        return target.model_copy(update=published) if self._from_registry else target

    def make_commit_target(self, name: str, on: str, like: Target | None = None) -> Target:
        """Return the target of a commit, tag or branch. Raises WrongUsage if there is none."""
        commit = self._source.resolve(name)
        if commit is None:
            raise WrongUsage(f"{on} is neither a release nor a tag, branch or commit of this repository.")
        return self._make_target(on, commit, like)

    def _make_target(self, on: str, commit: str, like: Target | None) -> Target:
        time, pythons = self._source.read_time(commit) + DEPENDENCIES_AFTER, list[str]()
        if self._project.language == "python":
            pythons = order_pythons(time, self._source.list_pythons(commit), "".join(like.pythons[:1]) if like else "")
        version = self._source.describe_version(commit)
        return Target(on=on, commit=commit, time=time, pythons=pythons, source_version=version)

    def find(self, written: str, like: Target | None = None) -> Target:
        """Return the target of what somebody wrote: a version, a tag, a branch or a commit. Raises WrongUsage."""
        release = self.find_release(written) if normalize_version(written) else None
        return self.make_release_target(release, like) if release else self.make_commit_target(written, written, like)

    def find_release(self, written: str) -> Release | None:
        """Return the release that somebody means, also one that has no tag; None if there is none."""
        found = find_release(self.releases, written)
        if not found and (found := find_release([*self.tags.values()], written) or self._find_untagged(written)):
            self.releases = sorted([*self.releases, found], key=attrgetter("number"))
        return found

    def is_untagged(self, on: str) -> bool:
        """Return whether what is run is a release only by what the files of its commit say."""
        return any(one.version == on and one not in self.tags.values() for one in self.releases)

    def _find_untagged(self, written: str) -> Release | None:
        number, tagged = find_number(written), {one.commit for one in self.tags.values()}
        if not number or self._project.language == "other":
            return None
        commit = self._source.find_version_commit(number, self._head, self._project.modules, tagged)
        return Release(version=number, time=self._source.read_time(commit), commit=commit) if commit else None
