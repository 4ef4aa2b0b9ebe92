"""Packages of a monorepo: the folders that hold a manifest of their own, and those that a text names.

Read from paths alone: a manifest's folder says its package's name in nearly every repository, and where it does not
(`*.csproj`, `*.gemspec`) the manifest's own name does.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from triage.index.files.file_filter import get_skip_reason
from triage.index.files.file_roles import classify_file

_MANIFEST = re.compile(
    r"(?:^|/)(?:package\.json|deno\.jsonc?|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|build\.sbt|pyproject\.toml"
    r"|setup\.py|composer\.json|Package\.swift|pubspec\.yaml|mix\.exs|[^/]+\.(?:cs|fs|vb)proj|[^/]+\.(?:gemspec|podspec))$"
)
_NAMED_MANIFEST = re.compile(r"\.(?:csproj|fsproj|vbproj|gemspec|podspec)$")
_SWIFT_TARGET = re.compile(r"^((?:.+/)?Sources/[^/]+)/.+\.swift$")
_TOKEN = re.compile(r"@?[A-Za-z0-9][\w@./\\-]{0,200}")
_SEPARATOR = re.compile(r"[/\\]")
_PLAIN_NAMES = """
src lib libs app apps core common shared util utils test tests docs doc example examples demo web site main api client
server cli tools build config types internal base all root package packages module modules plugin plugins crates service
services
"""
_PLAIN = frozenset(_PLAIN_NAMES.split())
"""Names that say nothing when they stand alone in a sentence."""
EXPLICIT, COMPOUND, WORD = 1.0, 0.8, 0.3
"""How surely a text means a package: by its path or scope, by a name of several parts, by a plain word."""
_MAX_UNITS = 5_000
_MAX_TOKENS = 20_000


def find_packages(paths: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Folders that are packages, without the repository's own root, and the names of each, lower case.

    Empty where nothing but the root is a package. Linear in the paths.
    """
    names: dict[str, set[str]] = {}
    for path in paths:
        folder, stem = _package(path)
        if folder and _is_own(path) and (folder in names or len(names) < _MAX_UNITS):
            found = names.setdefault(folder, {_plain(folder.rpartition("/")[2])})
            if stem:
                found.add(_plain(stem))
    return {folder: frozenset(found) for folder, found in names.items()}


def _package(path: str) -> tuple[str, str]:
    """The folder that a path makes a package, and the name that the file itself gives it."""
    if _MANIFEST.search(path):
        folder, _, name = path.rpartition("/")
        return folder, name.rpartition(".")[0] if _NAMED_MANIFEST.search(name) else ""
    target = _SWIFT_TARGET.match(path)
    return (target[1], "") if target else ("", "")


def _is_own(path: str) -> bool:
    """Neither copied from others nor a test's or an example's."""
    kind = classify_file(path)
    return not kind.is_test and not kind.is_auxiliary and get_skip_reason(path, 0) is None


def find_enclosing_package(path: str, units: Mapping[str, frozenset[str]]) -> str:
    """The innermost package around a file; empty for the repository's own."""
    folder = path.rpartition("/")[0]
    while folder and folder not in units:
        folder = folder.rpartition("/")[0]
    return folder


def find_mentioned_packages(text: str, units: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Packages that a text names, with how surely, from 0 to 1. Linear in the text."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for folder, names in units.items():
        for name in names:
            by_name[name].append(folder)
    found: dict[str, float] = {}
    for number, match in enumerate(_TOKEN.finditer(text)):
        if number >= _MAX_TOKENS:
            break
        for folder, sure in _meant(match[0].rstrip("./-\\"), units, by_name):
            found[folder] = max(found.get(folder, 0.0), sure)
    return found


def _meant(
    token: str, units: Mapping[str, frozenset[str]], by_name: Mapping[str, Sequence[str]]
) -> Iterable[tuple[str, float]]:
    parts = [part for part in _SEPARATOR.split(token) if part not in ("", ".", "..")]
    scoped = token.startswith("@") and len(parts) > 1
    if len(parts) > 1:
        yield from ((folder, EXPLICIT) for folder in _on_path(parts, units))
    if parts and (scoped or len(parts) == 1):
        for name in _prefixes(_plain(parts[scoped])):
            if folders := by_name.get(name):
                sure = EXPLICIT if scoped else _sureness(name)
                yield from ((folder, sure / len(folders)) for folder in folders if sure)
                return


def _sureness(name: str) -> float:
    if "-" in name or "." in name:
        return COMPOUND
    return 0.0 if name in _PLAIN else WORD


def _on_path(parts: Sequence[str], units: Mapping[str, frozenset[str]]) -> Iterable[str]:
    """Packages whose folder stands on a written path; one of a single part only at its beginning."""
    for start in range(min(len(parts), 12)):
        for end in range(start + 1, min(len(parts), start + 6) + 1):
            folder = "/".join(parts[start:end])
            if folder in units and (end - start > 1 or start == 0):
                yield folder


def _prefixes(name: str) -> Iterable[str]:
    """A dotted name and what it starts with: a namespace begins with its package's name."""
    yield name
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def score_mentioned_packages(
    paths: Sequence[str], units: Mapping[str, frozenset[str]], title: str, text: str
) -> dict[int, float]:
    """Files of the packages that an issue names: number to strength, from 0 to 1.

    A package that holds most of the repository narrows nothing: its share is taken off.
    """
    sure = find_mentioned_packages(text, units)
    for folder, strength in find_mentioned_packages(title, units).items():
        sure[folder] = max(sure.get(folder, 0.0), min(1.0, 1.5 * strength))
    if not sure:
        return {}
    own = [find_enclosing_package(path, units) for path in paths]
    sizes: dict[str, int] = defaultdict(int)
    for folder in own:
        sizes[folder] += 1
    return {
        number: sure[folder] * (1 - sizes[folder] / len(paths)) for number, folder in enumerate(own) if folder in sure
    }
