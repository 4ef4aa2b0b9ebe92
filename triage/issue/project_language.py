"""Detects the language that a project writes in, by its README."""

import re

from triage.domain.issue import Issue
from triage.issue.read_issue import read_issue
from triage.ports import Codebase

_README = re.compile(r"readme(?:\.(?:md|rst|txt|adoc))?", re.I)
_MAX_LINES = 200


def detect_project_language(codebase: Codebase) -> str:
    """The language of the README in the root: ISO 639-1, for Chinese with its script. English without one."""
    path = next((path for path in codebase.list_paths() if _README.fullmatch(path)), None)
    lines = codebase.read_lines(path) if path else None
    return read_issue(Issue(title="", body="\n".join((lines or [])[:_MAX_LINES]))).language
