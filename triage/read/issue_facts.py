"""Collects what a report says about itself. Takes time linear in the text, and raises nothing for any text."""

import re

from triage.domain.issue import IssueFacts, ParsedIssue, Quote, Regression
from triage.read.kind.severity_signs import find_severity
from triage.read.text_signs import MAX_CHARS, find_sentences, quote
from triage.read.versions.project_version import find_project_version
from triage.read.versions.regressions import find_regression


def find_facts(parsed: ParsedIssue, project: str = "") -> IssueFacts:
    """Version, error and so on. `project` is `owner/name`: its name tells versions apart."""
    version, regression = find_version(parsed, project)
    return IssueFacts(
        version=version,
        error=quote(parsed, parsed.error_messages[0]) if parsed.error_messages else None,
        regression=regression,
        named_fix=find_named_fix(parsed, project),
        severity=find_severity(parsed),
    )


def find_version(parsed: ParsedIssue, project: str = "") -> tuple[Quote | None, Regression | None]:
    """Return the version that the report is about, and what it says of others; None for what it lacks."""
    regression = find_regression(parsed)
    if regression and "#" in regression.broken_in:
        regression = regression.model_copy(update={"broken_in": _own_pull_request(regression.broken_in, project)})
    worked, broken = (regression.worked_in, regression.broken_in) if regression else ("", "")
    version = find_project_version(parsed, project, worked)
    if version is None and "." in broken:
        version = quote(parsed, broken)
    return version, _complete(regression, version.text) if regression and version else regression


def _own_pull_request(written: str, project: str) -> str:
    """Return `#12` of `owner/name#12`; empty if it is of a repository of another name."""
    repository, _, number = written.partition("#")
    is_own = not repository or repository.rpartition("/")[2].casefold() == project.rpartition("/")[2].casefold()
    return f"#{number}" if is_own else ""


def _complete(regression: Regression, version: str) -> Regression:
    """Return the regression with the version of the report, which is about the version in which it is broken."""
    if not regression.worked_in or regression.broken_in or regression.worked_in in version:
        return regression
    return regression.model_copy(update={"broken_in": version})


_FIXED = re.compile(
    r"(?i)\b(?:fixed|resolved|solved|addressed|patched) (?:\w+ ){0,3}?(?:(?:by|in|with|via|on)\b|(?=\(#))"
)
_DOUBTS = re.compile(
    r"(?i)\bnot\b|n['’]t\b|\b(?:still|never|but|although|incomplete\w*|partial\w*|should|similar|was supposed|after)\b"
)
"""A fix that did not suffice, or of something else."""
_COMMIT = re.compile(
    r"(?:https?://[^/\s]{1,100}/(?P<project>[\w.-]{1,100}/[\w.-]{1,100})/commit/|(?<![\w/.]))"
    r"(?P<commit>(?=[0-9a-f]*\d)[0-9a-f]{7,40})\b"
)
_PULL_REQUEST = re.compile(
    r"(?:https?://[^/\s]{1,100}/(?P<project>[\w.-]{1,100}/[\w.-]{1,100})/pull/|(?<![\w/])#)(?P<number>\d{1,7})\b"
)


def find_named_fix(parsed: ParsedIssue, project: str = "") -> str:
    """Return the commit as it is written, or `#12` of a pull request; empty without one.

    `project` is `owner/name`: what is in a repository of another name is no fix of this one.
    """
    for sentence in find_sentences(parsed.prose[:MAX_CHARS]):
        fixed = _FIXED.search(sentence)
        if fixed is None or _DOUBTS.search(sentence):
            continue
        for pattern in (_COMMIT, _PULL_REQUEST):
            found = pattern.search(sentence, fixed.end())
            name = (found["project"] or project).rpartition("/")[2] if found else ""
            if found and name.casefold() == project.rpartition("/")[2].casefold():
                return found.groupdict().get("commit") or f"#{found['number']}"
    return ""
