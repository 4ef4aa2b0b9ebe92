"""What worked before, and in which versions."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.read.versions.regressions import find_regression


def versions_in(text: str) -> tuple[str, str] | None:
    found = find_regression(read_issue(Issue(title="Total is off", body=text)))
    return (found.worked_in, found.broken_in) if found else None


@each_row(
    ("text", "versions"),
    [
        ("This works with 2.8.1, but not with 2.9.", ("2.8.1", "2.9")),
        ("It worked in 1.2 and fails in 1.3.", ("1.2", "1.3")),
        ("Cannot use sums over totals since 4.2", ("", "4.2")),
        ("Since shop 4.2.0 the total is wrong. It works in version 4.1.", ("4.1", "4.2.0")),
        ("Having upgraded shop from 2.07 to 2.2.1 I see an error.", ("2.07", "2.2.1")),
        ("After upgrading from shop 1 to `2.2.1` today, we see stale code.", ("1", "2.2.1")),
        ("After downgrading shop to `17.0.2`, the issue disappears.", ("17.0.2", "")),
        ("1.10.1 breaks `shop.total()`", ("", "1.10.1")),
        ("NumPy 2.0 breaks the totals", None),
        ("It prints 1 in 2.0 and 2 in 3.1, but I see it late.", None),
        ("It prints 1 on Python 3.9, but I get 2 in 2.0.", None),
        ("The latest is 2.1, but mine is 2.0.", None),
        ("In 2.0 the result is not correct.", None),
        ("Regression in 440505cb2cadbe1a5b9fba246bcde6c04f51d07e.", ("", "440505cb2cadbe1a5b9fba246bcde6c04f51d07e")),
        ("shop 4.7.0 is much slower than 4.6.0", ("4.6.0", "4.7.0")),
        ("It does not comment on our issues anymore.", ("", "")),
        ("It used to work.", ("", "")),
        ("git bisect points to the merge of #12.", ("", "#12")),
        ("It takes place after v2.5.14.\n\nAny version 2.5.13 and lower works as expected.", ("2.5.13", "v2.5.14")),
        ("After v 1.44, TypeError. I pinned the version to v1.43.8 and it works.", ("v1.43.8", "1.44")),
        ("It no longer works in 3.1.", ("", "3.1")),
        ("This is a regression from 3.4.0.", ("3.4.0", "")),
        ("A regression from 3.0 to 3.1", ("3.0", "3.1")),
        ("Introduced by ebf576526542dbdb3a4df30b173b10dc08c131f0", ("", "ebf576526542dbdb3a4df30b173b10dc08c131f0")),
        ("After updating the app it crashes.", ("", "")),
        ("It fails to ring after updating the weather.", None),
        ("I pinned shop to 1.2 and it fails.", None),
        ("It works with Python 3.8, but not with Python 3.9.", None),
        ("This is the code I used to run it.", None),
        ("When we update styles, we do not apply them.", None),
        ("When I upgraded the app, it stopped.", ("", "")),
        ("Windows says: shop.exe has stopped working.", None),
        ("It takes 50 seconds after the upgrade, before it was fine (0.5-1s).", ("", "")),
        ("Affected versions: >= 0.12.2. 0.12.1 and earlier are unaffected.", ("0.12.1", "0.12.2")),
        ("By rolling code back to 1.25.1 the problem went away.", ("1.25.1", "")),
        ("In version 1.6.2 the class has no __dict__. This changes in 1.7 where it has one.", ("", "1.7")),
        ("Last known good version is 17.0.2", ("17.0.2", "")),
        ("It is a regression between 0.20 and 0.21", ("0.20", "0.21")),
        ("regression introduced between `v3.7.12` (good) and `v3.7.13` (broken)", ("v3.7.12", "v3.7.13")),
        ("By rolling code back to 1.25.1 it is fine, https://github.com/a/b/pull/3165 is likely the culprit", ("1.25.1", "a/b#3165")),
        ("The bug was introduced in #812.", ("", "#812")),
        ("Introduced in the redesign, see also #812 for a report", None),
        ("It is caused by the same bug as #812", None),
        ("It fails. When installed version 0.10.0, it succeeded", ("0.10.0", "")),
        ("It should be as it was for <= 0.9.4", ("0.9.4", "")),
        ("As of v4.2.9 the totals are wrong.", ("", "v4.2.9")),
        ("As of 4.2, it was a hint, but since 4.3 it fails.", ("", "4.3")),
        ("As of 4.2 it was dropped, but since we need it, this fails.", ("", "4.2")),
        ("It works in <=3.0.0rc8 and throws in >=3.0.0rc9", ("3.0.0rc8", "3.0.0rc9")),
        ("It does not happen with earlier versions (not with version 2.9)", ("2.9", "")),
        ("Tested with 2.3.1 and 2.4.0.", None),
        ("`Till` is initialized as with library version 1.3.1.", ("1.3.1", "")),
        ("The PR that made the regression: #12\n\n### Bad version\n\n2.1\n\n### Good version\n\n2.0", ("", "#12")),
        ("Using Chrome 110.0 it works", None),
        ("Works fine in 0.9.4, broken since 0.9.5", ("0.9.4", "0.9.5")),
        ("Last release where this worked was 8.1.8", ("8.1.8", "")),
    ],
)  # fmt: skip
def test_versions_of_a_regression(text: str, versions: tuple[str, str] | None) -> None:
    assert versions_in(text) == versions


@each_row(
    "body",
    [
        "git bisect says abc1234 is the last good commit.",
        "Reverting abc1234 does not fix it.",
        "Before #12 it worked fine.",
        "It worked with #12, which is not the culprit.",
        "It used to work. I use shop version abc1234f.",
    ],
)
def test_a_commit_that_the_report_does_not_blame_broke_nothing(body):
    found = find_regression(read_issue(Issue(title="Something is wrong", body=body)))
    assert not found or not found.broken_in
