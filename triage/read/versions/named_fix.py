"""Finds the commit or the pull request that a report itself calls the fix."""

import re

from triage.domain.issue import ParsedIssue
from triage.read.text_signs import MAX_CHARS, find_sentences

_FIXED = re.compile(r"(?i)\b(?:fixed|resolved|solved|addressed|patched) (?:\w+ ){0,3}?(?:by|in|with|via|on)\b")
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
