"""Which files a patch may write: source, tests, documentation and changelogs, tracked by git or new beside them."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from pathspec import PathSpec

from triage.find.files.file_roles import classify_file
from triage.find.files.languages import detect_language
from triage.fix.fix_ports import BaseFiles
from triage.safety.clean_text import find_invisible

MAX_PATH_CHARS = 200
_SHOWN_CHARS = 100
_NEW_NAME = re.compile(
    r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|.*\$\()[\w@$([](?:[\w.@+$()[\] -]*[\w@+$)\]-])?",
    re.ASCII | re.IGNORECASE,
)
"""Of a folder or file: none that begins with a dot, nor one that Windows reads as a device or as another name, nor one
that runs a command where a workflow puts the names of changed files into a script."""
_TEXT = r"(?:mdx?|rst|txt|adoc|asciidoc|markdown)"
_NO_LIST = r"(?!.*(?:requirements|constraints))"
"""Package managers read such text."""
_CHANGELOG = re.compile(
    rf"(?:^|/)(?:change[-_]?log|changes|history|news|release[-_]?notes)(?:\.{_TEXT})?$", re.IGNORECASE
)
_ENTRY = re.compile(
    rf"(?:^|/)(?:change[-_]?logs?(?:\.d)?|news[-_]?fragments?|fragments)/{_NO_LIST}"
    rf"(?:[\w+-]+(?:\.[\w-]+)*\.{_TEXT}|\+?\d+\.(?:feature|bug_?fix|fix|docs?|removal|deprecation|breaking|misc|other"
    r"|improvement|internal|trivial|false_positive|false_negative))$",
    re.IGNORECASE,
)
"""As towncrier and its kin collect them: `changelog.d/12.fix.md`, `newsfragments/12.bugfix`."""
_PROSE = re.compile(
    r"\.(?:mdx?|rst|adoc|asciidoc|markdown|html?|css|s[ac]ss|less|j2|jinja2?)$|(?:^|/)readme\.txt$"
    rf"|(?:^|/)(?:docs?|documentation)/{_NO_LIST}.*\.txt$",
    re.IGNORECASE,
)
"""Documentation, and pages with their styles."""
_TEST_DATA = re.compile(r"\.(?:snap|phpt|feature|golden|expected|out|stdout|stderr|[ct]sv)$", re.IGNORECASE)
"""Of files that are tests by folder or name."""
_ORDERS = re.compile(
    rf"(?:^|/)(?:agents?|claude|gemini|codex|copilot-instructions|warp|qwen|crush|skill)(?:\.[\w-]+)*\.{_TEXT}$"
    rf"|\.(?:prompt|instructions|chatmode|agent)\.{_TEXT}$"
    r"|(?:^|/)(?:(?:jenkinsfile|azure-pipelines|dangerfile|lefthook|renovate-config)[.-][^/]+|presubmit\.py|cirrus\.star)$",
    re.IGNORECASE,
)
"""What agents obey, and what services run with a token. It only looks like documentation and source."""


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
    base, shown = files.read(path), show_path(path)
    if isinstance(base, str):
        return f"{shown} cannot be changed: it is {base}."
    if is_new != (base is None):
        return f"{shown} {'exists already' if is_new else 'does not exist'}: edit files that exist, and add others."
    if any(part.startswith(".") for part in path.split("/")):
        return f"{shown} is below a name that begins with a dot, such as workflows: leave it as it is."
    if problem := _find_new_problem(path, files) if is_new else "":
        return problem
    if _is_protected(path, protected):
        return f"{shown} is one of the project's protected paths: leave it as it is."
    is_within = is_inside(path, module_paths) or (is_inside(path, test_paths) and files.is_test(path))
    if not is_within and not is_changelog(path, files, is_new=is_new):
        allowed = ", ".join(module_paths) or "no module"
        return f"{shown} is outside the modules that may change ({allowed}): leave it as it is."
    if not has_allowed_kind(path):
        return f"{shown} is no source, test, documentation or changelog: leave it as it is."
    reason = files.find_skip_reason(path, base.text if base else "")
    return f"{shown} is not edited by hand ({reason}): leave it as it is." if reason else ""


def has_allowed_kind(path: str) -> bool:
    """Whether it is source, documentation, a changelog, or what a test expects. Others steer tools, and are data."""
    if _ORDERS.search(path):
        return False
    is_text = detect_language(path) is not None or any(kind.search(path) for kind in (_PROSE, _CHANGELOG, _ENTRY))
    return is_text or (_TEST_DATA.search(path) is not None and classify_file(path).is_test)


def is_changelog(path: str, files: BaseFiles, *, is_new: bool) -> bool:
    """Whether it is a changelog that exists, or a new file in a folder of entries that exists."""
    folder = path.rpartition("/")[0] + "/"
    if is_new:
        return _ENTRY.search(path) is not None and bool(files.list_names(folder))
    return _CHANGELOG.search(path) is not None


def show_path(path: str) -> str:
    """Return a path for a message: in quotes and with escapes unless it is plain."""
    shown = path if len(path) <= _SHOWN_CHARS else f"{path[:_SHOWN_CHARS]}…"
    return shown if shown.isprintable() and not find_invisible(shown) and "`" not in shown else ascii(shown)


def _find_new_problem(path: str, files: BaseFiles) -> str:
    """Return why there can be no new file, which is in its folder, or in a new one."""
    shown, folder = show_path(path), ""
    for part in path.split("/"):
        names = files.list_names(folder)
        if folder and not names:  # Git has no empty folders.
            return f"{shown} is below {folder.removesuffix('/')}, which is no folder: use another path."
        if part not in names:
            break
        folder += f"{part}/"
    if len(path) > MAX_PATH_CHARS or not all(map(_NEW_NAME.fullmatch, path.removeprefix(folder).split("/"))):
        return f"{shown} is no plain name: use ASCII letters, digits and `_-.@+`, at most {MAX_PATH_CHARS} characters."
    alike = _find_alike(part, names)
    return f"{shown} differs from {folder}{alike} by upper and lower case only: use another name." if alike else ""


def _find_alike(part: str, names: Collection[str]) -> str:
    return next((name for name in names if name.casefold() == part.casefold()), "")


def _is_protected(path: str, protected: Sequence[str]) -> bool:
    lower = tuple(one.lower() for one in protected)
    return _compile_gitignore(tuple(protected)).match_file(path) or _compile_gitignore(lower).match_file(path.lower())


@lru_cache(maxsize=8)
def _compile_gitignore(patterns: tuple[str, ...]) -> "PathSpec[Any]":
    # The default backend backtracks: a hostile pattern would keep it busy for hours.
    return PathSpec.from_lines("gitignore", patterns, backend="re2")


def is_below(path: str, place: str) -> bool:
    """Whether a file is at a place, see `ModuleSummary.paths`. A folder may lack the slash at its end."""
    if place == "./" or place.endswith("/./"):
        folder = place.removesuffix("./")
        return path.startswith(folder) and "/" not in path[len(folder) :]
    return path == place or path.startswith(f"{place.removesuffix('/')}/")


def is_inside(path: str, places: Sequence[str]) -> bool:
    """Whether a file is at one of the places."""
    return any(is_below(path, place) for place in places)
