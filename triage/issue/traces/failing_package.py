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
    parsed: ParsedIssue, declared: Iterable[str], own: Iterable[str] = ()
) -> FailingPackage | None:
    """Return the package whose code raised the error of a trace, the first of several, a declared one before others.

    `own` are the names of the project and of its folders: an installed copy of it is nobody else's.
    """
    known, ours = {_normalize(name) for name in declared}, {_normalize(name) for name in own}
    found = [package for trace in parsed.traces if (package := _read_package(trace, known, ours))]
    return next((one for one in found if one.is_declared), next(iter(found), None))


def _read_package(trace: Trace, known: Collection[str], ours: Collection[str]) -> FailingPackage | None:
    if not trace.frames or not (trace.exception or trace.message):
        return None
    path = trace.frames[-1].path.replace("\\", "/")
    for language, installed in _INSTALLED.items():
        name = match[1] if (match := installed.search(path)) else ""
        if name and not name.startswith(".") and _normalize(name) not in ours:
            return FailingPackage(
                name=name,
                language=language,
                repository=name.removeprefix(_GITHUB) if name.startswith(_GITHUB) else "",
                error=": ".join(part for part in (trace.exception, trace.message) if part),
                is_declared=_is_declared(name, known),
            )
    return None


def _is_declared(name: str, known: Iterable[str]) -> bool:
    wanted = _normalize(name)
    # A module of Go may lie below the repository: `github.com/owner/name/v2`.
    return any(one == wanted or (name.startswith(_GITHUB) and one.startswith(f"{wanted}/")) for one in known)


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()
