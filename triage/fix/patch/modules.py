"""The parts of a repository to which a patch can be limited: folders of sources, as people see them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from pydantic import Field

from triage.domain.project_config import ModuleConfig
from triage.domain.proposal import EditablePath
from triage.domain.value import Value

MAX_MODULES = 40
_MAX_SHARE = 1 / 3
"""Of all sources. The folders of a larger one are modules of their own."""
_MIN_DIVIDED_FILES = 12
"""Sources of a folder that is divided. A person reads a smaller one as a whole."""
_MIN_FILES = 2
"""Sources of a folder that is a module of its own."""


class Module(Value):
    """A part of the repository to which a patch can be limited."""

    name: str
    """Its path prefix, or its name in the settings."""
    paths: list[str] = Field(min_length=1)
    """Folders with a slash at the end, files, and `./` for the files at the top. What is in a folder of another module
    is that one's."""
    description: str = ""
    """Of the settings."""
    source_files: int = Field(0, ge=0)
    """Without tests."""


def list_modules(files: Sequence[EditablePath], configured: Mapping[str, ModuleConfig]) -> list[Module]:
    """Return the modules, sorted by name: those of the settings, or folders: all at the top, and at most 40.

    Args:
        files: All of the commit that people edit. The same files give the same modules.
        configured: Modules of the settings by name.
    """
    modules = [
        Module(name=name, paths=module.paths, description=module.description or "")
        for name, module in configured.items()
    ] or [Module(name=folder, paths=[folder]) for folder in _choose_folders(files)]
    sources = (file.path for file in files if file.is_product_code)
    counts = Counter(module.name for path in sources for module in find_modules(path, modules))
    modules = [module.model_copy(update={"source_files": counts[module.name]}) for module in modules]
    return sorted(modules, key=lambda module: module.name)


def find_modules(path: str, modules: Sequence[Module]) -> list[Module]:
    """Return the modules of a file: those whose path is the most specific, mostly one."""
    found = [(len(its_path), module) for module in modules for its_path in module.paths if is_below(path, its_path)]
    longest = max((length for length, _ in found), default=0)
    return [module for length, module in found if length == longest]


def _choose_folders(files: Sequence[EditablePath]) -> list[str]:
    """Return the folders at the top, also without sources, such as `docs/`, and those below the large ones."""
    sources = [file.path for file in files if file.is_product_code]
    counts = Counter(folder for path in sources for folder in _list_folders(path))
    least = max(_MIN_DIVIDED_FILES - 1, _MAX_SHARE * len(sources))
    edited = [_list_folders(file.path) for file in files if not file.is_test]
    inner = {
        folder
        for folders in edited
        for folder, around in pairwise(folders)
        if counts[folder] >= _MIN_FILES and counts[around] > least
    }
    outer = {folder for folder, _ in Counter(folders[-1] for folders in edited).most_common(MAX_MODULES)}
    order = sorted(inner - outer, key=lambda folder: (-counts[folder], folder))
    chosen = outer | {*order[: max(0, MAX_MODULES - len(outer))]}
    # A folder whose files are all in others is none.
    return [*dict.fromkeys(folder for folders in edited for folder in [one for one in folders if one in chosen][:1])]


def _list_folders(path: str) -> list[str]:
    """The folders around a file, from the inside out; of one at the top, `./`."""
    names = path.split("/")[:-1]
    return [f"{'/'.join(names[:count])}/" for count in range(len(names), 0, -1)] or ["./"]


def is_below(path: str, module_path: str) -> bool:
    """Whether a file belongs to a path of a module, see `Module.paths`. A folder may lack the slash at its end."""
    if module_path == "./":
        return "/" not in path
    return path == module_path or path.startswith(f"{module_path.removesuffix('/')}/")
