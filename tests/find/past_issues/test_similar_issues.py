from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from tests.find.past_issues.past import START, SUBJECTS, new_issue, past_issue, past_issues
from triage.domain.issue import Issue
from triage.domain.past_issues import PastFix, PastIssue, SimilarIssue
from triage.find.past_issues.similar_issues import (
    NAMED_FROM,
    PastIssueIndex,
    describe_outcome,
    find_original,
    find_similar_issues,
    find_version,
)
from triage.read.read_issue import read_issue

FIX = PastFix(number=34)


@each_row(
    ("changes", "outcome"),
    [
        ({"state": "open", "milestone": "1.4"}, ""),
        ({"milestone": "1.4", "state_reason": "completed"}, "fixed in 1.4"),
        ({"fixes": [PastFix(number=34, milestone="v2.0.1")], "milestone": "1.4"}, "fixed in v2.0.1"),
        ({"fixes": [FIX], "milestone": "Backlog"}, "fixed by #34"),
        ({"milestone": "Release 1.4"}, "fixed in 1.4"),
        ({"milestone": "v3"}, "fixed in v3"),
        ({"milestone": "2.0-rc1"}, "fixed in 2.0-rc1"),
        ({"milestone": "3"}, "closed"),
        ({"milestone": "On deck 2026-11-01"}, "closed"),
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


@each_row(
    ("milestone", "version"),
    [
        ("Release 1.4", "1.4"),
        ("3", ""),
        ("2.0-rc1", "2.0-rc1"),
        ("1.4 `@all` [x](http://a.b)", ""),
        ("", ""),
    ],
)
def test_the_version_of_a_milestone(milestone: str, version: str) -> None:
    assert find_version(milestone) == version


NOW = START + timedelta(days=100)
TITLE = "Statement upload crashes with UnicodeDecodeError on Windows"
TRACE = """It stops here.

```
Traceback (most recent call last):
  File "/home/ann/ledger/cli.py", line {line}, in main
    upload(path)
  File "/home/ann/ledger/statements.py", line {line}, in decode_statement
    return data.decode()
UnicodeDecodeError: 'utf-8' codec can't decode byte 0x{line} in position {line}: invalid start byte
```
"""
BODY = "Uploading a statement of the Sparkasse crashes the importer at once.\nThe encoding is latin1."


def find(issue: Issue, past: list[PastIssue], limit: int = 5, repository: str = "acme/ledger") -> list[SimilarIssue]:
    return find_similar_issues(issue, read_issue(issue), past, limit, repository=repository)


def test_the_same_report_is_first_and_named() -> None:
    same = past_issue(95, TITLE, BODY)
    found = find(new_issue(TITLE, BODY), [*past_issues(), same, *past_issues()[5:]])
    assert (found[0].number, found[0].is_probably_same) == (95, True)
    assert found[0].score >= NAMED_FROM
    assert found[0].reasons == ["nearly the same text"]
    assert not any(one.is_probably_same for one in found[1:])


def test_a_report_that_shares_little_is_not_named() -> None:
    found = find(new_issue("Search is slow for long customer names"), past_issues())
    assert found[0].title.startswith("Search ignores accents")
    assert not found[0].is_probably_same
    assert found[0].reasons == ["similar words"]


def test_the_same_error_and_trace_count_with_other_lines_paths_and_values() -> None:
    other = past_issue(95, "Crash", TRACE.format(line="17").replace("/home/ann", "C:/Users/bob"))
    issue = new_issue("It does not work", TRACE.format(line="99"))
    found = find(issue, [*past_issues(30), other])
    assert found[0].number == 95
    assert found[0].reasons[:2] == ["same stack trace", "same error text"]


def test_another_trace_is_no_same_trace() -> None:
    other = past_issue(95, "Crash", TRACE.format(line="17").replace("decode_statement", "decode_header"))
    found = find(new_issue("It does not work", TRACE.format(line="99")), [*past_issues(30), other])
    assert found[0].number == 95
    assert found[0].reasons[0] == "same error text"


PULL_TITLE = "Fix the last page of a ledger that is exported as PDF"


@pytest.mark.parametrize(
    ("title", "changes", "named"),
    [
        (PULL_TITLE, {}, True),
        (PULL_TITLE, {"number": 120}, True),  # opened after the issue
        (PULL_TITLE, {"state": "closed"}, True),
        (PULL_TITLE, {"author": "dependabot[bot]"}, False),
        ("Add the date to the last page of a ledger", {}, False),
    ],
)
def test_a_pull_request_is_named_by_its_title(title: str, changes: dict[str, Any], named: bool) -> None:
    others = [past_issue(number, subject, is_pull_request=True) for number, subject in enumerate(SUBJECTS[1:], 50)]
    pull = past_issue(95, title, "Closes #3.", is_pull_request=True).model_copy(update=changes)
    same = past_issue(40, "Last page is lost when a ledger is exported as PDF")
    found = find(new_issue("The last page of a ledger is lost when it is exported as PDF"), [same, *others, pull])
    assert [one.number for one in found if one.is_probably_same and one.is_pull_request] == [pull.number] * named
    assert [one.number for one in found if one.is_probably_same and not one.is_pull_request] == [40], (
        "as without pull requests"
    )


@pytest.mark.parametrize(
    "change",
    [{"number": 100}, {"number": 101}, {"author": "dependabot[bot]"}],
    ids=["itself", "a newer one", "a bot's"],
)
def test_what_is_no_earlier_report_of_a_person_is_not_found(change: dict[str, object]) -> None:
    same = past_issue(95, TITLE, BODY).model_copy(update=change)
    assert same.number not in [one.number for one in find(new_issue(TITLE, BODY), [*past_issues(), same])]


def test_only_the_first_of_several_copies_is_named() -> None:
    body = TRACE.format(line="17")
    copies = [past_issue(number, TITLE, body).model_copy(update={"created_at": NOW}) for number in (94, 95)]
    found = find(new_issue(TITLE, body), [*past_issues(), *copies])
    assert all(one.score >= NAMED_FROM for one in found[:2])
    assert [(one.number, one.is_probably_same) for one in found[:2]] == [(94, True), (95, False)]


def test_at_most_thirty_issues_are_compared_closely() -> None:
    index = PastIssueIndex(past_issue(number, f"Upload fails for topic{number}") for number in range(60))
    assert len(index.compare_likeliest(read_issue(new_issue("Upload fails")), START)) == 30


def test_two_issues_never_name_each_other() -> None:
    first, second = past_issue(95, TITLE, BODY), past_issue(96, TITLE, BODY)
    of_first = find(Issue(number=95, title=TITLE, body=BODY), [*past_issues(), first, second])
    of_second = find(Issue(number=96, title=TITLE, body=BODY), [*past_issues(), first, second])
    assert not any(one.is_probably_same for one in of_first)
    assert [one.number for one in of_second if one.is_probably_same] == [95]


@pytest.mark.parametrize(
    "reference", ["See #95.", "Like acme/ledger#95", "GH-95", "https://github.com/acme/ledger/issues/95#issuecomment-1"]
)
def test_an_issue_that_the_reporter_names_is_memory_but_not_named(reference: str) -> None:
    found = find(new_issue(TITLE, f"{BODY}\n{reference}"), [*past_issues(), past_issue(95, TITLE, BODY)])
    assert (found[0].number, found[0].is_probably_same) == (95, False)


def test_an_issue_of_another_repository_is_not_meant() -> None:
    found = find(new_issue(TITLE, f"{BODY}\nother/ledger#95"), [*past_issues(), past_issue(95, TITLE, BODY)])
    assert found[0].is_probably_same


def test_the_original_stands_in_the_place_of_its_duplicates() -> None:
    original = past_issue(40, "Umlauts break statements", state="closed", fixes=[PastFix(number=41, files=["a.py"])])
    copies = [past_issue(number, TITLE, BODY, duplicate_of=original.number) for number in (95, 96)]
    found = find(new_issue(TITLE, BODY), [*past_issues(), original, *copies])
    assert (found[0].number, found[0].ended, found[0].fix_files) == (40, "fixed by #41", ["a.py"])
    assert "like its duplicate #96" in found[0].reasons or "like its duplicate #95" in found[0].reasons
    assert not {95, 96} & {one.number for one in found}


def test_a_circle_of_duplicates_leads_nowhere() -> None:
    known = {one.number: one for one in [past_issue(1, "a", duplicate_of=2), past_issue(2, "b", duplicate_of=1)]}
    assert find_original(known[1], known) == known[1]


def test_a_template_makes_no_issues_alike() -> None:
    template = "\n".join(f"### Question {number} of the form about your operating system" for number in range(30))
    past = past_issues(60, template)
    alike = find(new_issue("Printing needs two clicks", f"{template}\nOn paper."), past)
    assert all(one.score < 0.1 for one in alike)
    real = find(new_issue(past[30].title, f"{template}\nSeen with topic31."), past)
    assert real[0].number == 31


def test_older_reports_are_less_likely() -> None:
    issue = new_issue(TITLE, BODY)
    scores = []
    for days in (1, 90):
        past = past_issue(95, f"{TITLE} 11", "Other words.").model_copy(
            update={"created_at": START + timedelta(days=100 - days)}
        )
        scores.append(find(issue, [*past_issues(), past])[0].score)
    assert scores[0] > scores[1]


@pytest.mark.parametrize(
    ("title", "body", "named"),
    [
        ("On Windows, statement upload crashes with UnicodeDecodeError", "In other words.", True),
        ("Statement upload crashes with UnicodeDecodeError on Windows 11", "In other words.", False),
        ("UnicodeDecodeError when I upload a statement", TRACE.format(line="17"), True),
        ("UnicodeDecodeError when I upload a statement", "In other words.", False),
        ("Printing is broken", TRACE.format(line="17"), False),
    ],
)
def test_the_same_title_or_much_of_it_and_the_same_error_are_named(title: str, body: str, named: bool) -> None:
    issue = new_issue(TITLE, TRACE.format(line="99"))
    found = find(issue, [*past_issues(30), past_issue(95, title, body)])
    assert (found[0].number, found[0].is_probably_same) == (95, named)


def test_the_same_title_of_another_failure_is_not_the_same() -> None:
    frames = '  File "/srv/net.py", line 3, in connect\n  File "/srv/sock.py", line 9, in open_socket\n'
    other = f"Seen with a slow network.\n\n```\nTraceback (most recent call last):\n{frames}OSError: timed out\n```\n"
    found = find(new_issue(TITLE, TRACE.format(line="99")), [*past_issues(30), past_issue(95, TITLE, other)])
    assert (found[0].number, found[0].is_probably_same) == (95, False)


def test_of_two_that_are_as_near_none_is_surely_the_same() -> None:
    title = "On Windows, statement upload crashes with UnicodeDecodeError"
    copies = [past_issue(number, title, f"In other words {number}.") for number in (95, 96)]
    assert not any(one.is_probably_same for one in find(new_issue(TITLE, "Just so."), [*past_issues(30), *copies]))


def test_a_title_of_two_words_says_too_little() -> None:
    found = find(
        new_issue("Tidal crash", "Just so."), [*past_issues(30), past_issue(95, "Crash: tidal", "Other words.")]
    )
    assert (found[0].number, found[0].is_probably_same) == (95, False)


def test_different_numbers_in_the_titles_are_not_nearly_the_same_text() -> None:
    found = find(new_issue("Update to 1.3", "Please."), [*past_issues(), past_issue(95, "Update to 1.2", "Please.")])
    assert "nearly the same text" not in found[0].reasons


def test_nothing_is_found_without_past_issues_or_without_words() -> None:
    assert find(new_issue(TITLE, BODY), []) == []
    assert find(new_issue("", ""), past_issues()) == []
    assert find(new_issue(TITLE, BODY), [past_issue(95, TITLE, BODY)], limit=0) == []


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=300), st.text(max_size=600), st.text(max_size=300), st.text(max_size=600))
def test_any_texts_are_compared(title: str, body: str, other_title: str, other_body: str) -> None:
    found = find(new_issue(title, body), [*past_issues(3), past_issue(95, other_title, other_body)])
    assert all(0 <= one.score <= 1 for one in found)
    assert sum(one.is_probably_same for one in found) <= 1


@each_row("piece", ["word ", "<!-- ", "'", '  File "a.py", line 1, in f\n', "a/b#1 ", "x" * 40, "\u200b", "- [ ] a\n"])
def test_a_huge_past_body_costs_no_more_than_its_length(piece: str) -> None:
    def search(text: str) -> None:
        find(new_issue(TITLE, TRACE.format(line="5")), [*past_issues(), past_issue(95, TITLE, text)])

    assert_grows_linearly(lambda size: (piece * (size // len(piece) + 1))[:size], search, size=262_144)


def test_many_past_issues_cost_no_more_than_their_number() -> None:
    issue = new_issue(TITLE, BODY)
    assert_grows_linearly(past_issues, lambda past: find(issue, past), size=4_000)


def test_what_repeats_this_issue_is_not_named_however_long_the_chain() -> None:
    """The issue itself is not among the past ones."""
    copies = [
        past_issue(95, TITLE, BODY, state="closed", duplicate_of=100),
        past_issue(94, TITLE, BODY, state="closed", duplicate_of=95),
    ]
    found = find(new_issue(TITLE, BODY), [*past_issues(30), *copies])
    assert found[0].number in (94, 95)
    assert not any(one.is_probably_same for one in found)


def test_the_original_of_a_chain_is_named() -> None:
    chain = [
        past_issue(90, "Statements", "They cannot be uploaded."),
        past_issue(94, "Upload", "It fails.", state="closed", duplicate_of=90),
        past_issue(95, TITLE, BODY, state="closed", duplicate_of=94),
    ]
    found = find(new_issue(TITLE, BODY), [*past_issues(30), *chain])
    assert (found[0].number, found[0].is_probably_same) == (90, True)
