"""Which paths a patch may write."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import regex  # type: ignore[import-untyped]
from pathspec import PathSpec

from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import BaseFiles
from triage.fix.patch.tool_files import steers_automation

MAX_PATH_CHARS = 200
_SHOWN_CHARS = 100
_OWNERS = re.compile(r"(?:^|/)codeowners$")
_SYSTEM_NAME = re.compile(r"^(?:con|prn|aux|nul|com\d|lpt\d|git~\d+)(?:\.|$)", re.IGNORECASE)
"""Devices of Windows, and the short name of `.git` there."""
_INVISIBLE = regex.compile(r"[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[\p{Zs}--[ ]]", regex.V1)
_FORBIDDEN = re.compile(r'[\\<>:"|?*]')
"""Windows cannot check out such a name, or reads it as another one."""


def find_path_problem(
    path: str,
    files: BaseFiles,
    *,
    is_new: bool,
    module_paths: Sequence[str],
    test_paths: Sequence[str],
    protected: Sequence[str],
) -> str:
    """Return why a patch may not write a file, in one sentence; empty if it may.

    Args:
        path: Relative to the top folder. May be hostile.
        files: Those of the base commit.
        is_new: The patch adds the file.
        module_paths: What the patch is limited to, see `ModuleSummary.paths`.
        test_paths: Where tests of these modules may stand as well.
        protected: Gitignore patterns of the project.
    """
    if problem := find_spelling_problem(path):
        return problem
    if problem := _find_protection(path, protected):
        return problem
    if not _is_inside(path, module_paths) and not (_is_inside(path, test_paths) and files.is_test(path)):
        allowed = ", ".join(module_paths) or "no module"
        return f"{path} is outside the modules that may change ({allowed}): leave it as it is."
    base = files.read(path)
    if problem := _find_base_problem(path, base, is_new=is_new):
        return problem
    if problem := _find_place_problem(path, files) if is_new else "":
        return problem
    reason = files.find_skip_reason(path, base.text if isinstance(base, BaseFile) else "")
    return f"{path} is not edited by hand ({reason}): leave it as it is." if reason else ""


def find_spelling_problem(path: str) -> str:
    """Return why a path cannot be checked out everywhere as it reads, in one sentence; empty if it can."""
    shown = show_path(path)
    if not path or len(path) > MAX_PATH_CHARS:
        return f"{shown or 'An empty path'} has not 1 to {MAX_PATH_CHARS} characters: use another path."
    if _INVISIBLE.search(path) or unicodedata.normalize("NFC", path) != path:
        return f"{shown} has characters that cannot be seen or are written in an unusual way: use plain letters."
    if _FORBIDDEN.search(path):
        return f'{shown} has one of the characters \\ < > : " | ? *: use plain letters and / between folders.'
    for part in path.split("/"):
        if part in ("", ".", ".."):
            return f"{shown} is not a path inside the repository: write it relative to the top folder, without `..`."
        if part != part.strip() or part.endswith(".") or _SYSTEM_NAME.search(part):
            return f"{shown} has a name that some systems read as another one ({part!r}): use another name."
    return ""


def show_path(path: str) -> str:
    """Return a path for a message: in quotes and with escapes unless it is plain."""
    shown = path if len(path) <= _SHOWN_CHARS else f"{path[:_SHOWN_CHARS]}…"
    return shown if shown.isprintable() and not _INVISIBLE.search(shown) and "`" not in shown else ascii(shown)


def _find_protection(path: str, protected: Sequence[str]) -> str:
    folded = fold_path(path)
    hidden = next((part for part in folded.split("/") if part.startswith(".")), "")
    if hidden:
        return f"{path} is below a name that begins with a dot, such as workflows: leave it as it is."
    if _OWNERS.search(folded):
        return f"{path} says who owns the code: leave it as it is."
    if steers_automation(folded):
        return f"{path} steers automation: leave it as it is."
    if protected and any(
        _compile(patterns).match_file(name)
        for patterns, name in ((tuple(protected), path), (tuple(one.lower() for one in protected), path.lower()))
    ):
        return f"{path} is one of the project's protected paths: leave it as it is."
    return ""


@lru_cache(maxsize=8)
def _compile(patterns: tuple[str, ...]) -> "PathSpec[Any]":
    # The default backend backtracks: a hostile pattern would keep it busy for hours.
    return PathSpec.from_lines("gitignore", patterns, backend="re2")


def is_below(path: str, place: str) -> bool:
    """Whether a file is at a place, see `ModuleSummary.paths`. A folder may lack the slash at its end."""
    if place == "./" or place.endswith("/./"):
        folder = place.removesuffix("./")
        return path.startswith(folder) and "/" not in path[len(folder) :]
    return path == place or path.startswith(f"{place.removesuffix('/')}/")


def _is_inside(path: str, places: Sequence[str]) -> bool:
    return any(is_below(path, place) for place in places)


def _find_base_problem(path: str, base: BaseFile | str | None, *, is_new: bool) -> str:
    if isinstance(base, str):
        return f"{path} cannot be changed: it is {base}."
    if is_new and base is not None:
        return f"{path} exists already: edit it instead of adding it."
    if not is_new and base is None:
        return f"{path} does not exist: say that it is a new file, or use the path of an existing one."
    return ""


def _find_place_problem(path: str, files: BaseFiles) -> str:
    folder = ""
    for part in path.split("/"):
        names = files.list_names(folder)
        if folder and not names:  # Git has no empty folders.
            return f"{path} is below {folder.removesuffix('/')}, which is no folder: use another path."
        if part not in names:
            return _find_new_name_problem(path, folder, names)
        folder += f"{part}/"
    return ""


def _find_new_name_problem(path: str, folder: str, names: Collection[str]) -> str:
    new = path.removeprefix(folder)
    if not new.isascii():
        return f"{path} has a new name that is not plain ASCII: use another name."
    part = new.partition("/")[0]
    alike = next((name for name in names if fold_path(name) == fold_path(part)), None)
    if alike is not None:
        return f"{path} differs from {folder}{alike} by upper and lower case only: use that name, or another one."
    return ""


def fold_path(path: str) -> str:
    """Return the same text for all paths that are one file on systems that ignore case."""
    return unicodedata.normalize("NFKC", path).casefold()
