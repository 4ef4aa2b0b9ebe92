"""What came of a comment on one issue."""

import pytest

from tests.backtest.scorecard.sample_issues import BUG, CLI, DATES, PAGE, READER, TEST, at, comment, issue, judge, named
from triage.domain.past_issues import ClosingFix, TriagedIssue


@pytest.mark.parametrize(
    ("paths", "fix", "right"),
    [
        ([DATES], [DATES], (True, True)),
        ([DATES, READER], [READER, TEST], (False, True)),
        ([CLI, DATES, READER], [READER], (False, True)),
        ([CLI], [DATES], (False, False)),
        ([TEST, DATES], [TEST, DATES], (False, True)),  # a test is no place of the fault
    ],
)
def test_the_named_file_is_right_if_the_fix_edited_it(
    paths: list[str], fix: list[str], right: tuple[bool, bool]
) -> None:
    [result] = judge(issue(ours=comment(named(*paths)), fix=fix))
    assert result.place is not None
    assert (result.place.first_right, result.place.any_right) == right
    assert result.fix == "code"


@pytest.mark.parametrize(
    ("fix", "kind"),
    [
        (None, "none"),
        (ClosingFix(files=[TEST, PAGE]), "no code"),
        (ClosingFix(files=[]), "no code"),
        (ClosingFix(files=[DATES], is_whole=False), "too large"),
    ],
)
def test_a_close_without_a_fix_of_code_judges_no_place(fix: ClosingFix | None, kind: str) -> None:
    [result] = judge(issue(ours=comment(named(DATES))).model_copy(update={"fix": fix}))
    assert (result.fix, result.place) == (kind, None)


def test_what_was_named_after_the_close_has_seen_the_fix() -> None:
    before, after = judge(
        issue(ours=comment(named(DATES, day=2.9)), fix=[DATES]),
        issue(ours=comment(named(DATES, day=3.1)), fix=[DATES]),
    )
    assert before.place is not None
    assert after.place is None


@pytest.mark.parametrize(
    ("days", "answered"),
    [([], False), ([-1], False), ([0], False), ([0.1], True), ([-1, 2, 9], True), ([3], True), ([3.1], False)],
)
def test_a_question_is_answered_between_our_comment_and_the_close(days: list[float], answered: bool) -> None:
    asked: TriagedIssue = issue(ours=comment(asked=True), reporter_wrote_at=[at(day) for day in days])
    assert [one.answered for one in judge(asked)] == [answered]


def test_without_a_question_nothing_is_answered() -> None:
    assert [one.answered for one in judge(issue(reporter_wrote_at=[at(1)]))] == [None]


def test_labels_on_the_issue_count_in_any_case() -> None:
    on, off = judge(issue(ours=comment(labels=BUG), labels=["x", "BUG"]), issue(ours=comment(labels=BUG), labels=["x"]))
    assert [(one.labels, one.labels_on_issue) for one in (on, off)] == [(1, 1), (1, 0)]
