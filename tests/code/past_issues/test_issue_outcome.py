from typing import Any

import pytest

from tests.code.past_issues.past import past_issue
from triage.code.past_issues.issue_outcome import describe_outcome, find_version
from triage.domain.past_issues import PastFix

FIX = PastFix(number=34)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"state": "open", "milestone": "1.4"}, ""),
        ({"milestone": "1.4", "state_reason": "completed"}, "fixed in 1.4"),
        ({"fixes": [PastFix(number=34, milestone="v2.0.1")], "milestone": "1.4"}, "fixed in v2.0.1"),
        ({"fixes": [FIX], "milestone": "Backlog"}, "fixed by #34"),
        ({"fixes": [PastFix(commit="a" * 40)]}, "fixed"),
        ({"state_reason": "not_planned", "fixes": [FIX]}, "not planned"),
        ({"state_reason": "duplicate"}, "duplicate"),
        ({"state_reason": "duplicate", "duplicate_of": 7}, "duplicate of #7"),
        ({"state_reason": "completed"}, "closed"),
        ({}, "closed"),
    ],
)
def test_how_an_issue_ended(changes: dict[str, Any], outcome: str) -> None:
    assert describe_outcome(past_issue(1, "a", **{"state": "closed", **changes})) == outcome


@pytest.mark.parametrize(
    ("milestone", "version"),
    [
        ("Release 1.4", "1.4"),
        ("v3", "v3"),
        ("3", ""),
        ("2.0-rc1", "2.0-rc1"),
        ("Next", ""),
        ("On deck 2026-11-01", ""),
        ("1.4 `@all` [x](http://a.b)", ""),
        ("", ""),
    ],
)
def test_the_version_of_a_milestone(milestone: str, version: str) -> None:
    assert find_version(milestone) == version
