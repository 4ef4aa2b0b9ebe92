"""The commit or the pull request that a report calls the fix."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.issue_facts import find_facts
from triage.read.read_issue import read_issue


@each_row(
    ("body", "named"),
    [
        ("It already seems fixed by https://github.com/acme/till/commit/022b5cf1 (see the log).", "022b5cf1"),
        ("This was fixed in 022b5cf1, could you release it?", "022b5cf1"),
        ("It has been resolved on main with #4187.", "#4187"),
        ("Fixed in https://github.com/acme/till/pull/12 already.", "#12"),
        ("We have a bug that is solved (#1589).", "#1589"),
        ("Fixed by https://github.com/acme/other/commit/022b5cf1.", ""),
        ("Fixed by https://github.com/acme/other/pull/12.", ""),
        ("It was not fixed by 022b5cf1.", ""),
        ("This should be fixed in #12 but I still see it.", ""),
        ("A similar bug was fixed in #12.", ""),
        ("It fails since 022b5cf1.", ""),
        ("Fixed in version 1.2345678.", ""),
        ("See #12, which is fixed.", ""),
        ("Fixed in the defaced build.", ""),
    ],
)
def test_the_fix_that_a_report_names(body: str, named: str):
    assert find_facts(read_issue(Issue(title="The total is wrong", body=body)), "acme/till").named_fix == named
