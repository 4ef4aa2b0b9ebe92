import pytest

from testing.cost_growth import assert_grows_linearly, repeat_to
from triage.issue.issue_references import find_referenced_issues


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Same as #12, see also (#7).", {12, 7}),
        ("gh-3 and GH-4", {3, 4}),
        ("Acme/Ledger#5", {5}),
        ("other/ledger#5 and acme/ledger.js#6", set()),
        ("https://github.com/acme/ledger/issues/8?x=1", {8}),
        ("https://github.com/acme/ledger/pull/9/files", {9}),
        ("https://github.com/acme/other/issues/8 https://example.com/acme/ledger/issues/8", set()),
        ("color #123abc, &#39; and a#1", set()),
        ("", set()),
    ],
)
def test_which_issues_a_text_names(text: str, numbers: set[int]) -> None:
    assert find_referenced_issues(text, "acme/ledger") == numbers


def test_addresses_of_another_server() -> None:
    text = "https://git.example.com/acme/ledger/issues/8 https://github.com/acme/ledger/issues/9"
    assert find_referenced_issues(text, "acme/ledger", "https://git.example.com") == {8}


@pytest.mark.parametrize("piece", ["a/b#", "#", "a.", "https://a/", "GH-", "a/a/"])
def test_the_cost_is_linear(piece: str) -> None:
    assert_grows_linearly(repeat_to(piece), lambda text: find_referenced_issues(text, "a/b"))
