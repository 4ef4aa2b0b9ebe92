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
        ("Example that works in 3.0, but not in 3.1:", ("3.0", "3.1")),
        ("Cannot use sums over totals since 4.2", ("", "4.2")),
        ("Since shop 4.2.0 the total is wrong. It works in version 4.1.", ("4.1", "4.2.0")),
        ("Having upgraded shop from 2.07 to 2.2.1 I see an error.", ("2.07", "2.2.1")),
        ("After downgrading shop to `17.0.2`, the issue disappears.", ("17.0.2", "")),
        ("This was not the case in 4.13.0.", ("4.13.0", "")),
        ("1.10.1 breaks `shop.total()`", ("", "1.10.1")),
        ("Version 1.10 broke the totals", ("", "1.10")),
        ("NumPy 2.0 breaks the totals", None),
        ("In 2.0 the result is not correct.", None),
        ("The documentation in 1.9 is good.", None),
        ("With 4.12 (https://shop.example/x) things are saner:", ("4.12", "")),
        ("Regression in 440505cb2cadbe1a5b9fba246bcde6c04f51d07e.", ("", "440505cb2cadbe1a5b9fba246bcde6c04f51d07e")),
        ("Reverting 46a890960e4b07e5aec479aa8e07e9c34ce68aee fixes the problem.", ("", "46a890960e4b07e5aec479aa8e07e9c34ce68aee")),
        ("* v22.0 -- stable\n* v23.0 -- stable\n* v24.0rc2 -- unstable", ("v23.0", "v24.0rc2")),
        ("shop 4.7.0 is much slower than 4.6.0", ("4.6.0", "4.7.0")),
        ("After the latest update it cannot be installed", ("", "")),
        ("It does not comment on our issues anymore.", ("", "")),
        ("It used to work.", ("", "")),
        ("git bisect points to the merge of #12.", ("", "#12")),
        ("It takes place after v2.5.14.\n\nAny version 2.5.13 and lower works as expected.", ("2.5.13", "v2.5.14")),
        ("After v 1.44, TypeError. I pinned the version to v1.43.8 and it works.", ("v1.43.8", "1.44")),
        ("It no longer works in 3.1.", ("", "3.1")),
        ("This is a regression from 3.4.0.", ("3.4.0", "")),
        ("A regression from 3.0 to 3.1", ("3.0", "3.1")),
        ("Introduced by ebf576526542dbdb3a4df30b173b10dc08c131f0", ("", "ebf576526542dbdb3a4df30b173b10dc08c131f0")),
        ("It was working yesterday.", ("", "")),
        ("It used to work in August 2020.", ("", "")),
        ("After updating the app it crashes.", ("", "")),
        ("I was working on a shop and found it.", None),
        ("Found during my work on bug 1787243, a dead link.", None),
        ("It fails to ring after updating the weather.", None),
        ("I pinned shop to 1.2 and it fails.", None),
        ("It works with Python 3.8, but not with Python 3.9.", None),
        ("This is the code I used to run it.", None),
        ("`ds.update` changes the row after update.", None),
        ("It fails after updating the row.", None),
        ("When we update styles, we do not apply them.", None),
        ("But when i update data passed to it, it is not called.", None),
        ("When I upgraded the app, it stopped.", ("", "")),
        ("Options used to compile and link:", None),
        ("Paste the command that you used to run it.", None),
        ("Windows says: shop.exe has stopped working.", None),
        ("It takes 50 seconds after the upgrade, before it was fine (0.5-1s).", ("", "")),
        ("Ran 2 tests in 0.002s", None),
        ("The total is wrong in 2.1.", None),
        ("Affected versions: >= 0.12.2. 0.12.1 and earlier are unaffected.", ("0.12.1", "0.12.2")),
        ("By rolling code back to 1.25.1 the problem went away.", ("1.25.1", "")),
        ("Rolling back to 1.25.1 fixes the issue.", ("1.25.1", "")),
        ("In version 1.6.2 the class has no __dict__. This changes in 1.7 where it has one.", ("", "1.7")),
        ("The bug appeared in 2.0.1", ("", "2.0.1")),
        ("Last known good version is 17.0.2", ("17.0.2", "")),
        ("It is a regression between 0.20 and 0.21", ("0.20", "0.21")),
        ("regression introduced between `v3.7.12` (good) and `v3.7.13` (broken)", ("v3.7.12", "v3.7.13")),
        ("This is a behavior change between matplotlib 3.4.1 and 3.4.2.", ("3.4.1", "3.4.2")),
        ("By rolling code back to 1.25.1 it is fine, https://github.com/a/b/pull/3165 is likely the culprit", ("1.25.1", "a/b#3165")),
        ("The bug was introduced in #812.", ("", "#812")),
        ("It needs Python 3.8 or older versions of pip.", None),
        ("It fails. When installed version 0.10.0, it succeeded", ("0.10.0", "")),
        ("It should be as it was for <= 0.9.4", ("0.9.4", "")),
        ("If you replace with 2.9.0 no failure", ("2.9.0", "")),
        ("The totals are broken as of v4.2.9", ("", "v4.2.9")),
        ("As of v4.2.9 the totals are wrong.", ("", "v4.2.9")),
        ("2.9.1 breaks", ("", "2.9.1")),
        ("It works in <=3.0.0rc8 and throws in >=3.0.0rc9", ("3.0.0rc8", "3.0.0rc9")),
        ("It does not happen with earlier versions (not with version 2.9)", ("2.9", "")),
        ("I tried 1.2.3 and it works fine, 1.2.4 fails.", ("1.2.3", "1.2.4")),
        ("Version 3.1 was fine, 3.2 is not.", ("3.1", "3.2")),
        ("Installing 5.0 solves it", ("5.0", "")),
        ("It crashes in 2.1.0 but not in 2.0.9", ("2.0.9", "2.1.0")),
        ("I upgraded from 1.0 to 1.1 and now it fails", ("1.0", "1.1")),
        ("Downgrade to 1.4 works", ("1.4", "")),
        ("I have version 2.3.1 installed.", None),
        ("Tested with 2.3.1 and 2.4.0.", None),
        ("It fails in 2.3.1 and 2.4.0.", None),
        ("The docs say 2.0 is stable.", None),
        ("Requires Python >= 3.8", None),
        ("Using Chrome 110.0 it works", None),
        ("Works fine in 0.9.4, broken since 0.9.5", ("0.9.4", "0.9.5")),
        ("With 8.1.8 this passes; with 8.2.0 it raises.", ("8.1.8", "8.2.0")),
        ("Last release where this worked was 8.1.8", ("8.1.8", "")),
    ],
)  # fmt: skip
def test_versions_of_a_regression(text: str, versions: tuple[str, str] | None) -> None:
    assert versions_in(text) == versions


@each_row(
    "body",
    [
        "git bisect says abc1234 is the last good commit.",
        "It worked previously (commit abc1234).",
        "Reverting abc1234 does not fix it.",
        "It used to work, see #12 for more.",
        "Before #12 it worked fine.",
        "It worked with #12, which is not the culprit.",
        "It used to work. I use shop version abc1234f.",
    ],
)
def test_a_commit_that_the_report_does_not_blame_broke_nothing(body):
    found = find_regression(read_issue(Issue(title="Something is wrong", body=body)))
    assert not found or not found.broken_in
