"""The parts of a repository to which a patch can be limited: folders of sources, as people see them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import commonpath, dirname
from typing import NamedTuple

from pydantic import Field

from triage.domain.project_config import ModuleConfig
from triage.domain.proposal import EditablePath
from triage.domain.value import Value

MAX_MODULES = 40
_MAX_SHARE = 1 / 3
"""Of all sources. A larger module is divided into its folders."""
_MIN_DIVIDED_FILES = 12
"""Sources of a folder that is divided. A person reads a smaller one as a whole."""
_MIN_FILES = 2
"""Sources of a folder that is a module of its own."""
_USUAL_TEST_FOLDERS = ("tests/", "test/")
"""In a repository without any test."""


class Module(Value):
    """A part of the repository to which a patch can be limited."""

    name: str
    """Its path prefix, or its name in the settings."""
    paths: list[str] = Field(min_length=1)
    """Folders with a slash at the end, files, and folders without their folders, such as `src/./`."""
    description: str = ""
    """Of the settings."""
    source_files: int = Field(0, ge=0)
    """Without tests."""
    tests: list[str] = Field(default_factory=list)
    """Folders with a slash at the end, and files, outside `paths` as well."""


class _Part(NamedTuple):
    """A module that is being divided: a folder, or what is left of one."""

    name: str
    places: list[str]
    files: list[EditablePath]
    is_whole: bool = False
    """It cannot be divided."""


def list_modules(files: Sequence[EditablePath], configured: Mapping[str, ModuleConfig]) -> list[Module]:
    """Return the modules, sorted by name: those of the settings, or at most 40 folders.

    Args:
        files: All of the commit that people edit. The same files give the same modules.
        configured: Modules of the settings by name.
    """
    if configured:
        chosen = [(name, module.paths, module.description or "") for name, module in configured.items()]
    else:
        chosen = [(part.name, part.places, "") for part in _divide([one for one in files if not one.is_test])]
    test_folders = _find_test_folders(files)
    has_tests = any(file.is_test for file in files)
    facts = []
    for name, places, description in sorted(chosen):
        tests = _find_tests(places, test_folders) if has_tests else list(_USUAL_TEST_FOLDERS)
        count = _count_sources(file for file in files if is_inside(file.path, places))
        facts.append(Module(name=name, paths=places, description=description, source_files=count, tests=tests))
    return facts


def find_module(path: str, modules: Sequence[Module]) -> Module | None:
    """Return the module of a file: the one whose place is the most specific."""
    found = [(len(place), module.name, module) for module in modules for place in module.paths if is_below(path, place)]
    return max(found, key=lambda one: one[:2])[2] if found else None


def _count_sources(files: Iterable[EditablePath]) -> int:
    return sum(file.is_product_code for file in files)


def _divide(files: list[EditablePath]) -> list[_Part]:
    parts, least = _split("", files, MAX_MODULES), max(_MIN_DIVIDED_FILES - 1, _MAX_SHARE * _count_sources(files))
    while large := [part for part in parts if not part.is_whole and _count_sources(part.files) > least]:
        part = max(large, key=lambda one: _count_sources(one.files))
        inner = _split(part.name, part.files, MAX_MODULES + 1 - len(parts))
        parts.remove(part)
        parts += inner if len(inner) > 1 else [part._replace(is_whole=True)]
    return parts


def _split(folder: str, files: list[EditablePath], room: int) -> list[_Part]:
    """Return a part for each folder in it with sources enough, and one for all the rest; nothing if that says nothing.

    At the top, where `folder` is empty, each folder counts, also one without sources, such as `docs/`.
    """
    name, places, rest = folder, list[str](), list[EditablePath]()
    while True:
        inside: dict[str, list[EditablePath]] = defaultdict(list)
        for file in files:
            inner, slash, _ = file.path.removeprefix(folder).partition("/")
            inside[f"{folder}{inner}/" if slash else f"{folder}./"].append(file)
        own = inside.pop(f"{folder}./", [])
        order = sorted(inside, key=lambda place: (-_count_sources(inside[place]), place))
        places, rest = [*places, *([f"{folder}./"] if own else [])], [*rest, *own]
        if not name or not order or _count_sources(inside[order[0]]) < _count_sources(files):
            break
        places, rest = [*places, *order[1:]], [*rest, *(file for place in order[1:] for file in inside[place])]
        folder, files = order[0], inside[order[0]]  # a chain of folders without other sources
    large = [place for place in order if not name or _count_sources(inside[place]) >= _MIN_FILES][: room - 1]
    small = [file for place in order if place not in large for file in inside[place]]
    if name and not _count_sources(own) and 2 * _count_sources(small) > _count_sources(files):
        return []
    places, rest = [*places, *(place for place in order if place not in large)], [*rest, *small]
    folders = {f"{commonpath([dirname(file.path) for file in inside[place]])}/": inside[place] for place in large}
    parts = [_Part(one, [one], found) for one, found in folders.items()]
    if places:
        name = places[0] if name and len(places) == 1 and not places[0].endswith("./") else name or "./"
        parts.append(_Part(name, sorted(places), rest, is_whole=True))
    return parts


def _find_test_folders(files: Sequence[EditablePath]) -> dict[str, list[str]]:
    """The outermost folders that hold nothing but tests, by the folder that they are in."""
    others = {folder for file in files if not file.is_test for folder in _iter_folders(file.path)}
    found: dict[str, set[str]] = defaultdict(set)
    for file in files:
        around = [*_iter_folders(file.path)]
        if tests := [folder for folder in around if folder and folder not in others]:
            found[around[len(tests)]].add(tests[-1])
    return {folder: sorted(inner) for folder, inner in found.items()}


def _find_tests(places: Sequence[str], test_folders: Mapping[str, Sequence[str]]) -> list[str]:
    """The test folders beside each place and beside the folders around it, the nearest first."""
    around = (test_folders.get(folder, ()) for place in places for folder in _iter_folders(place))
    found = dict.fromkeys(folder for folders in around for folder in folders)
    return [folder for folder in found if not is_inside(folder, places)]


def _iter_folders(place: str) -> Iterator[str]:
    """The folders around a place (see `Module.paths`), from the inside out; the top is an empty text."""
    if place.endswith("./"):
        yield place.removesuffix("./")
    folder = place.removesuffix("./").removesuffix("/")
    while folder:
        folder = folder.rpartition("/")[0]
        yield f"{folder}/" if folder else ""


def is_below(path: str, place: str) -> bool:
    """Whether a file is at a place, see `Module.paths`. A folder may lack the slash at its end."""
    if place == "./" or place.endswith("/./"):
        folder = place.removesuffix("./")
        return path.startswith(folder) and "/" not in path[len(folder) :]
    return path == place or path.startswith(f"{place.removesuffix('/')}/")


def is_inside(path: str, places: Sequence[str]) -> bool:
    """Whether a file is at one of the places."""
    return any(is_below(path, place) for place in places)
