"""The parts of a repository to which a patch can be limited: folders of sources, as people see them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
_CONTAINER_SHARE = 1 / 10
"""A folder without files of its own, such as `packages/`, is divided from this share of all sources on."""
_USUAL_TEST_FOLDERS = ("tests/", "test/")
"""In a repository without any test."""
_MAX_LANGUAGES = 3


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
    languages: list[str] = Field(default_factory=list)
    """The most frequent first."""
    tests: list[str] = Field(default_factory=list)
    """Folders with a slash at the end, and files, outside `paths` as well."""


@dataclass(slots=True)
class _Folder:
    path: str
    """With a slash at its end; empty for the top."""
    folders: dict[str, "_Folder"] = field(default_factory=dict)
    has_files: bool = False
    """Files directly in it."""
    own_sources: int = 0
    sources: int = 0
    """In all folders below as well."""
    has_other: bool = False
    """Files that are no tests, here or below."""


@dataclass(slots=True)
class _Part:
    """A module that is being divided: a folder, or what is left of one."""

    name: str
    places: list[str]
    sources: int
    folder: _Folder | None
    """None if it cannot be divided."""


def list_modules(files: Sequence[EditablePath], configured: Mapping[str, ModuleConfig]) -> list[Module]:
    """Return the modules, sorted by name: those of the settings, or at most 40 folders.

    Args:
        files: All of the commit that people edit. The same files give the same modules.
        configured: Modules of the settings by name.
    """
    top = _build_tree(files)
    if configured:
        chosen = [(name, module.paths, module.description or "") for name, module in configured.items()]
    else:
        chosen = [(part.name, part.places, "") for part in _divide(top)]
    test_folders = _find_test_folders(top)
    has_tests = any(file.is_test for file in files)
    facts = []
    for name, places, description in sorted(chosen):
        tests = _find_tests(places, test_folders) if has_tests else list(_USUAL_TEST_FOLDERS)
        inside = [file.language for file in files if file.is_product_code and is_inside(file.path, places)]
        languages = [language for language, _ in Counter(inside).most_common(_MAX_LANGUAGES)]
        facts.append(
            Module(
                name=name,
                paths=places,
                description=description,
                source_files=len(inside),
                languages=languages,
                tests=tests,
            )
        )
    return facts


def find_module(path: str, modules: Sequence[Module]) -> Module | None:
    """Return the module of a file: the one whose place is the most specific."""
    found = [(len(place), module.name, module) for module in modules for place in module.paths if is_below(path, place)]
    return max(found, key=lambda one: one[:2])[2] if found else None


def _build_tree(files: Sequence[EditablePath]) -> _Folder:
    top = _Folder("")
    for file in files:
        folder = top
        *parts, _ = file.path.split("/")
        for part in ["", *parts]:
            folder = folder.folders.setdefault(part, _Folder(f"{folder.path}{part}/")) if part else folder
            folder.sources += file.is_product_code
            folder.has_other |= not file.is_test
        folder.has_files = True
        folder.own_sources += file.is_product_code
    return top


def _divide(top: _Folder) -> list[_Part]:
    parts = _divide_top(top)
    while True:
        candidates = [part for part in parts if _should_divide(part, top.sources)]
        largest = max(candidates, key=lambda part: part.sources, default=None)
        if largest is None:
            return parts
        assert largest.folder is not None
        divided = _divide_folder(largest.folder, MAX_MODULES - len(parts))
        if len(divided) < 2:
            largest.folder = None
            continue
        parts.remove(largest)
        parts += divided


def _divide_top(top: _Folder) -> list[_Part]:
    """The folders at the top, also those without sources, such as `docs/`; and the files there."""
    folders = sorted((one for one in top.folders.values() if one.has_other), key=lambda one: (-one.sources, one.path))
    parts = [_make_part(one) for one in folders[: MAX_MODULES - 1]]
    rest = [one.path for one in folders[MAX_MODULES - 1 :]]
    if top.has_files or rest:
        left = sum(top.folders[path.removesuffix("/")].sources for path in rest)
        parts.append(_Part("./", ["./", *sorted(rest)], top.own_sources + left, None))
    return parts


def _make_part(folder: _Folder) -> _Part:
    # A chain of folders without anything else has the name of the last one, as in `src/flask/`.
    while not folder.has_files and len(others := [one for one in folder.folders.values() if one.has_other]) == 1:
        folder = others[0]
    return _Part(folder.path, [folder.path], folder.sources, folder)


def _should_divide(part: _Part, total: int) -> bool:
    if part.folder is None or part.sources < _MIN_DIVIDED_FILES:
        return False
    is_container = not part.folder.has_files and part.sources > _CONTAINER_SHARE * total
    return is_container or part.sources > _MAX_SHARE * total


def _divide_folder(folder: _Folder, room: int) -> list[_Part]:
    """The folders in it that have enough sources, and one part for all the rest; nothing if that divides nothing."""
    name, places = folder.path, []
    while True:
        inner = sorted(folder.folders.values(), key=lambda one: (-one.sources, one.path))
        if folder.has_files:
            places.append(f"{folder.path}./")
        if not inner or folder.own_sources or inner[0].sources < folder.sources:
            break
        places += [one.path for one in inner[1:] if one.has_other]
        folder = inner[0]
    large = [one for one in inner if one.sources >= _MIN_FILES][:room]
    small = [one for one in inner if one not in large and one.has_other]
    in_small = sum(one.sources for one in small)
    if not folder.own_sources and in_small > sum(one.sources for one in large):
        return []
    places += [one.path for one in small]
    parts = [_make_part(one) for one in large]
    if places:
        name = places[0] if len(places) == 1 and not places[0].endswith("./") else name
        parts.append(_Part(name, sorted(places), folder.own_sources + in_small, None))
    return parts


def _find_test_folders(top: _Folder) -> dict[str, list[str]]:
    """The outermost folders that hold nothing but tests, by the folder that they are in."""
    found: dict[str, list[str]] = {}
    pending = [top]
    while pending:
        folder = pending.pop()
        found[folder.path] = sorted(one.path for one in folder.folders.values() if not one.has_other)
        pending += [one for one in folder.folders.values() if one.has_other]
    return found


def _find_tests(places: Sequence[str], test_folders: Mapping[str, Sequence[str]]) -> list[str]:
    """The test folders beside each place and beside the folders around it, the nearest first."""
    around = (test_folders.get(folder, ()) for place in places for folder in _iter_folders(place))
    found = dict.fromkeys(folder for folders in around for folder in folders)
    return [folder for folder in found if not is_inside(folder, places)]


def _iter_folders(place: str) -> Iterator[str]:
    """The folders around a place, from the inside out."""
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
