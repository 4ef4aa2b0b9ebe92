"""How a past issue ended, in words of ours."""

import re

from triage.domain.past_issues import PastIssue

_VERSION = re.compile(
    r"^(?:(?:version|release|milestone|ver|rel)?[\s/-]{0,3})"
    r"(v\d{1,5}|v?\d{1,5}(?:\.\d{1,5}){1,3}(?:[-.]?(?:rc|beta|alpha|pre|x)[.-]?\d{0,3})?)$",
    re.I,
)
_MAX_MILESTONE_CHARS = 60


def describe_outcome(past: PastIssue) -> str:
    """Such as `fixed in 1.4`, `fixed by #34`, `fixed`, `not planned`, `duplicate of #7`, `closed`; empty if it is open.

    Closed as completed is how GitHub closes any issue, so it counts as fixed only with a fix or with the milestone of a
    version.
    """
    if past.state == "open":
        return ""
    if past.duplicate_of is not None:
        return f"duplicate of #{past.duplicate_of}"
    if past.state_reason in ("duplicate", "not_planned"):
        return past.state_reason.replace("_", " ")
    milestones = [*(fix.milestone for fix in past.fixes), past.milestone]
    if version := next(filter(None, map(find_version, milestones)), ""):
        return f"fixed in {version}"
    if number := next((fix.number for fix in past.fixes if fix.number is not None), None):
        return f"fixed by #{number}"
    return "fixed" if past.fixes else "closed"


def find_version(milestone: str) -> str:
    """The version at the end of a milestone's name, such as `Release 1.4`; empty for any other name."""
    match = _VERSION.search(milestone.strip()[-_MAX_MILESTONE_CHARS:])
    return match[1] if match else ""
