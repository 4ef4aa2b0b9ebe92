"""Files that a project writes for us or for GitHub: its config, CODEOWNERS, issue forms, SECURITY.md, skills.

Manifests name the packages that it declares to depend on. All are read from the same commit as the code.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as BadConfigFile
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from triage.base.errors import BadInput, GitError
from triage.base.text import decode_text
from triage.domain.skill import SKILL_FOLDER, BrokenSkill, Skill, Skills
from triage.find.files.file_filter import ATTRIBUTES, MAX_ATTRIBUTES_BYTES, parse_attributes
from triage.git.commit import open_commit
from triage.git.tree import Entry, Listing, SourceTree
from triage.read.area_labels import LABELER
from triage.read.skills import MAX_SKILL_BYTES, parse_skill
from triage.safety.code_owners import MAX_BYTES, PLACES, CodeOwners
from triage.safety.secrets.likely_secrets import redact_likely_secrets

_POLICIES = (".github/SECURITY.md", "SECURITY.md", "docs/SECURITY.md")
"""In the order in which GitHub looks. In small letters, a page of the documentation has the name too."""
_FORM = re.compile(r"^(?:\.github/ISSUE_TEMPLATE/[^/]+\.(?:md|ya?ml)|(?:\.github/|docs/)?ISSUE_TEMPLATE\.md)$", re.I)
_MAX_FORM_BYTES = 64 * 1024
_MAX_FORMS = 40
_MAX_MANIFEST_BYTES = 256 * 1024
_MAX_MANIFESTS = 40
_MAX_DEPENDENCIES = 500
MAX_SKILLS = 30
"""Their descriptions stand in every prompt."""
_TOO_MANY = f"it is not read, nor is any after it: at most {MAX_SKILLS} skills are"
_MAX_FILES = 200
_DESCRIPTION = "README.md"
"""For people who look at the folder."""
_NAME = r"[A-Za-z0-9][\w.-]{0,100}"
_REQUIREMENT = re.compile(rf"\s*({_NAME})\s*(?:[\[<>=!~;@ ]|$)")
_GO = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[a-z]+/[\w./~-]+)\s+v\d", re.M)
_GEM = re.compile(rf"^\s*gem\s+['\"]({_NAME})['\"]", re.M)


def read_file(root: Path, path: str, max_bytes: int) -> bytes | None:
    """Return the bytes of a file at the checkout's HEAD; None if there is no file or no commit.

    `path` is relative to `root`, without `..`. Raises BadInput for what is not a regular file, too large or unreadable.
    """
    try:
        tree = open_commit(root.resolve())
        entry = tree.find_entry(path)
    except GitError:
        return None
    if entry is None:
        return None
    if isinstance(entry, str):
        raise BadInput(f"{path} is a {entry}: put a regular file there.")
    if entry.size > max_bytes:
        raise BadInput(f"{path} has {entry.size:,} bytes; {max_bytes:,} are allowed.")
    (_, data), *_ = tree.read([entry])
    if data is None:
        raise BadInput(f"{path} cannot be read.")
    return data


def read_copied_patterns(tree: SourceTree, entries: Sequence[Entry]) -> list[str]:
    """Return the patterns of generated and copied files in the top `.gitattributes`; none if it cannot be read."""
    chosen = [entry for entry in entries if entry.path == ATTRIBUTES]
    return parse_attributes("".join(_read_texts(tree, chosen, MAX_ATTRIBUTES_BYTES)))


@dataclass(frozen=True)
class ProjectFiles:
    """What a project says of itself at a commit; by default nothing."""

    owners: CodeOwners = field(default_factory=CodeOwners)
    """For hints. A question of rights is asked of GitHub."""
    forms: list[str] = field(default_factory=list)
    """Texts of the issue templates and forms, sorted by path."""
    label_rules: str = ""
    """The text of the project's rules for labels."""
    security_policy: str | None = None
    """Path of the one that GitHub shows."""
    dependencies: list[str] = field(default_factory=list)
    """Names of packages that the manifests declare, those in the root first."""
    skills: Skills = field(default_factory=Skills)


def read_project_files(tree: SourceTree, entries: Sequence[Entry]) -> ProjectFiles:
    """Return what files of the project say of owners, forms, labels, security, dependencies and skills."""
    wanted = {*PLACES, *_POLICIES, LABELER}
    by_path = {entry.path: entry for entry in entries if entry.path in wanted}
    owners = [by_path[path] for path in PLACES if path in by_path][:1]
    rules = [by_path[LABELER]] if LABELER in by_path else []
    forms = [entry for entry in entries if _FORM.match(entry.path) and entry.size <= _MAX_FORM_BYTES]
    forms.sort(key=lambda entry: entry.path)
    return ProjectFiles(
        owners=CodeOwners("".join(_read_texts(tree, owners, MAX_BYTES))),
        forms=_read_texts(tree, forms[:_MAX_FORMS]),
        label_rules="".join(_read_texts(tree, rules)),
        security_policy=next((path for path in _POLICIES if path in by_path), None),
        dependencies=_read_dependencies(tree, entries),
        skills=read_skills(tree),
    )


def _read_dependencies(tree: SourceTree, entries: Sequence[Entry]) -> list[str]:
    """Return the packages that the manifests nearest to the root declare."""
    manifests = [entry for entry in entries if is_manifest(entry.path) and entry.size <= _MAX_MANIFEST_BYTES]
    manifests.sort(key=lambda entry: (entry.path.count("/"), entry.path))
    packages: dict[str, None] = {}
    for entry, data in tree.read(manifests[:_MAX_MANIFESTS]) if manifests else []:
        text = decode_text(data) if data is not None else None
        packages.update(dict.fromkeys(parse_manifest(entry.path, text) if text else []))
    return list(packages)[:_MAX_DEPENDENCIES]


def _read_texts(tree: SourceTree, entries: Sequence[Entry], max_bytes: int = _MAX_FORM_BYTES) -> list[str]:
    chosen = [entry for entry in entries if entry.size <= max_bytes]
    texts = [decode_text(data) for _, data in tree.read(chosen) if data is not None] if chosen else []
    return [redact_likely_secrets(text) for text in texts if text is not None]


def remove_skills(listing: Listing) -> Listing:
    """Return the listing without skills. Full of words of issues, they would be found in place of the code."""
    return replace(listing, entries=[entry for entry in listing.entries if not _is_skill_file(entry.path)])


def _is_skill_file(path: str) -> bool:
    if not path.startswith(SKILL_FOLDER):  # cheap, and rules out nearly all of a million names
        return False
    folder, _, name = path.rpartition("/")
    return folder == SKILL_FOLDER and name.endswith(".md") and name != _DESCRIPTION


def read_skills_at(root: Path) -> Skills:
    """Return the skills of HEAD's commit without indexing anything; none if there is no commit."""
    try:
        return read_skills(open_commit(root.resolve()))
    except GitError:
        return Skills()


def read_skills(tree: SourceTree) -> Skills:
    """Return the skills of the tree. A file that cannot be used is named with its problem."""
    try:
        found = tree.list_folder(SKILL_FOLDER, _MAX_FILES)
    except GitError as error:
        return Skills(broken=[BrokenSkill(path=SKILL_FOLDER, problem=f"the folder cannot be read ({error})")])
    if isinstance(there := found.get(SKILL_FOLDER), str | Entry):
        what = there if isinstance(there, str) else "file"
        return Skills(broken=[BrokenSkill(path=SKILL_FOLDER, problem=f"it is a {what}: put a folder there")])
    named = {path: entry for path, entry in found.items() if _is_skill_file(path) and path.isprintable()}
    broken = [
        BrokenSkill(path=path, problem=_describe_entry(entry))
        for path, entry in named.items()
        if not isinstance(entry, Entry) or entry.size > MAX_SKILL_BYTES
    ]
    readable = [entry for entry in named.values() if isinstance(entry, Entry) and entry.size <= MAX_SKILL_BYTES]
    parsed = [
        parse_skill(entry.path, data)
        if data is not None
        else BrokenSkill(path=entry.path, problem="it cannot be read from the repository")
        for entry, data in tree.read(readable[:MAX_SKILLS])
    ]
    broken += [one for one in parsed if isinstance(one, BrokenSkill)]
    broken += [BrokenSkill(path=entry.path, problem=_TOO_MANY) for entry in readable[MAX_SKILLS : MAX_SKILLS + 1]]
    broken.sort(key=attrgetter("path"))
    return Skills(skills=[one for one in parsed if isinstance(one, Skill)], broken=broken)


def _describe_entry(entry: Entry | str) -> str:
    if isinstance(entry, str):
        return f"it is a {entry}: put a regular file there"
    return f"the file has {entry.size:,} bytes; {MAX_SKILL_BYTES:,} are allowed"


def parse_manifest(path: str, text: str) -> list[str]:
    """Return the names that the manifest declares; none if it cannot be read, or is no manifest."""
    name = path.rpartition("/")[2]
    if name not in _READERS and not _REQUIREMENTS.fullmatch(name):
        return []
    try:
        return list(dict.fromkeys(_READERS[name](text) if name in _READERS else _list_requirements(text.split("\n"))))
    except (ValueError, RecursionError, TypeError, AttributeError, BadConfigFile):  # tables of other shapes
        return []


def is_manifest(path: str) -> bool:
    """Return whether the file is a manifest in the root, or of a package of a monorepo."""
    name = path.rpartition("/")[2]
    return path.count("/") <= _MAX_FOLDERS and (name in _READERS or _REQUIREMENTS.fullmatch(name) is not None)


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
    "package.json": lambda text: _list_tables(
        json.loads(text), ("dependencies", "devDependencies", "peerDependencies")
    ),
    "Cargo.toml": _read_cargo,
    "composer.json": _read_composer,
    "go.mod": _GO.findall,
    "Gemfile": _GEM.findall,
}
