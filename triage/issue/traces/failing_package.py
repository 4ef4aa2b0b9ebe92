"""The package of somebody else in which a stack trace ends."""

import re
from collections.abc import Iterable

from triage.domain.issue import FailingPackage, ParsedIssue

_INSTALLED = {
    "Python": re.compile(r"(?:site|dist)-packages/([A-Za-z_]\w{0,100})(?=[/.])"),
    "JavaScript": re.compile(r".*node_modules/((?:@[\w.-]{1,100}/)?[\w.-]{1,100})/"),
    "Go": re.compile(r"pkg/mod/(github\.com/[\w.-]{1,100}/[\w.-]{1,100})[/@]"),
    "Rust": re.compile(r"registry/src/[^/]{1,100}/([\w-]{1,100}?)-\d+\.\d"),
    "Ruby": re.compile(r"gems/([\w-]{1,100}?)-\d+\.\d[^/]{0,50}/"),
}
"""Where package managers put what a project depends on."""
_GITHUB = "github.com/"


def find_failing_package(parsed: ParsedIssue, declared: Iterable[str]) -> FailingPackage | None:
    """Return the declared package whose code raised the error of a trace, the first of several."""
    known = {_normalize(name): name for name in declared}
    for trace in parsed.traces:
        if not trace.frames or not (trace.exception or trace.message):
            continue
        path = trace.frames[-1].path.replace("\\", "/")
        for language, installed in _INSTALLED.items():
            name = found[1] if (found := installed.search(path)) else ""
            if name and _is_declared(name, known):
                error = ": ".join(part for part in (trace.exception, trace.message) if part)
                repository = name.removeprefix(_GITHUB) if name.startswith(_GITHUB) else ""
                return FailingPackage(name=name, language=language, repository=repository, error=error)
    return None


def _is_declared(name: str, known: Iterable[str]) -> bool:
    wanted = _normalize(name)
    # A module of Go may lie below the repository: `github.com/owner/name/v2`.
    return any(one == wanted or (name.startswith(_GITHUB) and one.startswith(f"{wanted}/")) for one in known)


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()
