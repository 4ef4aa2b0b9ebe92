"""The package of somebody else in which a stack trace ends."""

import re
from collections.abc import Collection, Iterable

from triage.domain.issue import FailingPackage, ParsedIssue, Trace

_INSTALLED = {
    "Python": re.compile(r"(?:site|dist)-packages/([A-Za-z_]\w{0,100})(?=[/.])"),
    "JavaScript": re.compile(r".*node_modules/((?:@[\w.-]{1,100}/)?[\w.-]{1,100})/"),
    "Go": re.compile(r"pkg/mod/(github\.com/[\w.-]{1,100}/[\w.-]{1,100})[/@]"),
    "Rust": re.compile(r"registry/src/[^/]{1,100}/([\w-]{1,100}?)-\d+\.\d"),
    "Ruby": re.compile(r"gems/([\w-]{1,100}?)-\d+\.\d[^/]{0,50}/"),
}
"""Where package managers put what a project depends on."""
_GITHUB = "github.com/"


def find_failing_package(
    parsed: ParsedIssue, declared: Iterable[str], own_names: Iterable[str] = ()
) -> FailingPackage | None:
    """Return the package whose code raised the error of a trace, the first of several, a declared one before others.

    None of a trace that passes through an installed copy of the project, whose names and folders are `own_names`.
    """
    known, own = ({normalize_name(name) for name in names} for names in (declared, own_names))
    found = [package for trace in parsed.traces if (package := _read_package(trace, known, own))]
    return next((one for one in found if one.is_declared), next(iter(found), None))


def _read_package(trace: Trace, declared: Collection[str], own_names: Collection[str]) -> FailingPackage | None:
    """Return the package in which a trace ends; None if it is none, or if our own code is in the trace."""
    # A single line is the place of an error of a compiler, and no trace.
    if len(trace.frames) < 2 or not (trace.exception or trace.message):
        return None
    packages = dict.fromkeys(package for frame in trace.frames if (package := _find_package(frame.path)))
    innermost = _find_package(trace.frames[-1].path)
    if innermost is None or any(_is_own(name, own_names) for _, name in packages):
        return None
    language, name = innermost
    return FailingPackage(
        name=name,
        language=language,
        repository=name.removeprefix(_GITHUB) if name.startswith(_GITHUB) else "",
        error=": ".join(part for part in (trace.exception, trace.message) if part),
        is_declared=_is_declared(name, declared),
    )


def _find_package(path: str) -> tuple[str, str] | None:
    """Return the language and the name of the installed package that a file is of; None if of none."""
    for language, installed in _INSTALLED.items():
        if (match := installed.search(path.replace("\\", "/"))) and not match[1].startswith("."):
            return language, match[1]
    return None


def _is_own(name: str, own: Collection[str]) -> bool:
    # `@babel/core` is in a folder `babel-core` or `core`, and `github.com/owner/name` is of the repository `name`.
    return any(normalize_name(one) in own for one in (name.lstrip("@").replace("/", "-"), name.rpartition("/")[2]))


def _is_declared(name: str, known: Iterable[str]) -> bool:
    wanted = normalize_name(name)
    # A module of Go may lie below the repository: `github.com/owner/name/v2`.
    return any(one == wanted or (name.startswith(_GITHUB) and one.startswith(f"{wanted}/")) for one in known)


def normalize_name(name: str) -> str:
    """Return the name as package managers compare it."""
    return re.sub(r"[-_.]+", "-", name).casefold()
