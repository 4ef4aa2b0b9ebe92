"""Packages of a monorepo: folders with a manifest of their own, and the mentions of packages in a text.

Only paths are read. A package has the name of its folder, or of its manifest file (`*.csproj`, `*.gemspec`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from triage.code.files.file_filter import get_skip_reason
from triage.code.files.file_roles import classify_file

_MANIFEST = re.compile(
    r"(?:^|/)(?:package\.json|deno\.jsonc?|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|build\.sbt|pyproject\.toml"
    r"|setup\.py|composer\.json|Package\.swift|pubspec\.yaml|mix\.exs|[^/]+\.(?:cs|fs|vb)proj|[^/]+\.(?:gemspec|podspec))$"
)
_NAMED_MANIFEST = re.compile(r"\.(?:csproj|fsproj|vbproj|gemspec|podspec)$")
_SWIFT_TARGET = re.compile(r"^((?:.+/)?Sources/[^/]+)/.+\.swift$")
_TOKEN = re.compile(r"@?[A-Za-z0-9][\w@./\\-]{0,200}")
_SEPARATOR = re.compile(r"[/\\]")
_COMMON_NAME_LIST = """
src lib libs app apps core common shared util utils test tests docs doc example examples demo web site main api client
server cli tools build config types internal base all root package packages module modules plugin plugins crates service
services
"""
_COMMON_NAMES = frozenset(_COMMON_NAME_LIST.split())
"""A sentence with such a word does not mean a package."""
EXPLICIT, COMPOUND, WORD = 1.0, 0.8, 0.3
"""Certainty that a text means a package: by its path or scope, by a name of several parts, by a single word."""
_MAX_TOKENS = 20_000


def find_packages(paths: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return the folder and the names, in lower case, of each package except the repository's root."""
    packages: dict[str, set[str]] = {}
    for path in paths:
        folder, stem = _parse_manifest(path)
        if not folder:
            continue
        role = classify_file(path)
        if not role.is_test and not role.is_auxiliary and get_skip_reason(path, 0) is None:
            names = packages.setdefault(folder, {_normalize(folder.rpartition("/")[2])})
            if stem:
                names.add(_normalize(stem))
    return {folder: frozenset(names) for folder, names in packages.items()}


def _parse_manifest(path: str) -> tuple[str, str]:
    if _MANIFEST.search(path):
        folder, _, name = path.rpartition("/")
        return folder, name.rpartition(".")[0] if _NAMED_MANIFEST.search(name) else ""
    target = _SWIFT_TARGET.match(path)
    return (target[1], "") if target else ("", "")


def find_enclosing_package(path: str, packages: Mapping[str, frozenset[str]]) -> str:
    """Return the folder of the innermost package around a file; empty for the repository's root."""
    folder = path.rpartition("/")[0]
    while folder and folder not in packages:
        folder = folder.rpartition("/")[0]
    return folder


def find_mentioned_packages(text: str, packages: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return the folders of the packages that a text mentions, each with a certainty from 0 to 1."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for folder, names in packages.items():
        for name in names:
            by_name[name].append(folder)
    mentions: dict[str, float] = {}
    for match in islice(_TOKEN.finditer(text), _MAX_TOKENS):
        for folder, certainty in _resolve_token(match[0].rstrip("./-\\"), packages, by_name):
            mentions[folder] = max(mentions.get(folder, 0.0), certainty)
    return mentions


def _resolve_token(
    token: str, packages: Mapping[str, frozenset[str]], by_name: Mapping[str, Sequence[str]]
) -> Iterable[tuple[str, float]]:
    parts = [part for part in _SEPARATOR.split(token) if part not in ("", ".", "..")]
    is_scoped = token.startswith("@") and len(parts) > 1
    if len(parts) > 1:
        yield from ((folder, EXPLICIT) for folder in _find_on_path(parts, packages))
    if parts and (is_scoped or len(parts) == 1):
        for name in _iter_prefixes(_normalize(parts[is_scoped])):
            if folders := by_name.get(name):
                certainty = EXPLICIT if is_scoped else _get_certainty(name)
                yield from ((folder, certainty / len(folders)) for folder in folders if certainty)
                return


def _get_certainty(name: str) -> float:
    if "-" in name or "." in name:
        return COMPOUND
    return 0.0 if name in _COMMON_NAMES else WORD


def _find_on_path(parts: Sequence[str], packages: Mapping[str, frozenset[str]]) -> Iterable[str]:
    # A folder of a single part counts only at the start of the path.
    for start in range(min(len(parts), 12)):
        for end in range(start + 1, min(len(parts), start + 6) + 1):
            folder = "/".join(parts[start:end])
            if folder in packages and (end - start > 1 or start == 0):
                yield folder


def _iter_prefixes(name: str) -> Iterable[str]:
    # A dotted namespace starts with the name of its package.
    yield name
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _normalize(name: str) -> str:
    return name.lower().replace("_", "-")


def score_mentioned_packages(
    paths: Sequence[str], packages: Mapping[str, frozenset[str]], title: str, text: str
) -> dict[int, float]:
    """Return scores from 0 to 1 for the files of the packages that an issue mentions, by file number.

    The larger a package's share of the repository, the lower the score of its files. A mention in the title counts one
    and a half times.
    """
    certainties = find_mentioned_packages(text, packages)
    for folder, certainty in find_mentioned_packages(title, packages).items():
        certainties[folder] = max(certainties.get(folder, 0.0), min(1.0, 1.5 * certainty))
    if not certainties:
        return {}
    folders = [find_enclosing_package(path, packages) for path in paths]
    sizes = Counter(folders)
    return {
        number: certainties[folder] * (1 - sizes[folder] / len(paths))
        for number, folder in enumerate(folders)
        if folder in certainties
    }
