"""Whether a report is right is what the fix edited, and nothing else."""

from typing import Any

import pytest

from tests.backtest.sample_issues import BUG, CLI, DATES, PAGE, READER, TEST, at, comment, issue, judge, named
from tests.backtest.samples import case
from tests.say.sample_reports import FULL, change_report
from triage.backtest.closed_issues import ClosedIssue, ClosingFix, OurComment
from triage.backtest.judge import Rate, judge_outcomes, judge_report
from triage.domain.code import Suspect

PATH = "shop/cart.py"


def report(*paths: str, **changes: object):
    suspects = [Suspect(path=path, reason="x") for path in paths]
    fields = {"suspects": suspects, "kind": "bug", "missing_information": [], "possible_duplicate": None, "steps": []}
    return change_report(FULL, **fields | {"why": "", "kind_probability": 0.9} | changes)


def test_files_are_right_if_the_fix_edited_them():
    judged = judge_report(case(), report("shop/x.py", PATH, best_place=None))
    assert [file.edited for file in judged.files] == [False, True]
    assert (judged.rank, judged.is_among_ranked) == (2, True)


def test_no_files_are_no_hit():
    judged = judge_report(case(), report(best_place=None))
    assert (judged.rank, judged.is_among_ranked) == (None, False)


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


@pytest.mark.parametrize(
    ("ours", "changes", "outcomes"),
    [
        (comment(named(DATES)), {"fix": [DATES]}, {"place": "right"}),
        (comment(named(DATES, by="model")), {"fix": [CLI]}, {"cause": "wrong"}),
        (comment(named(DATES, by="files")), {"fix": [DATES]}, {}),
        (comment(named(DATES), wrong=["place"]), {"fix": [DATES]}, {"place": "wrong"}),
        (comment(), {"fix": [DATES]}, {"place": "missed"}),
        (comment(), {"fix": [TEST]}, {}),
        (comment(said=["known"]), {"is_duplicate": True}, {"known": "right"}),
        (comment(), {"is_duplicate": True}, {"known": "missed"}),
        (comment(wrong=["elsewhere", "question"]), {}, {"elsewhere": "wrong", "question": "wrong"}),
    ],
)
def test_what_came_of_what_was_said(ours: OurComment, changes: dict[str, Any], outcomes: dict[str, str]) -> None:
    assert judge(issue(ours=ours, **changes))[0].outcomes == outcomes


def test_an_issue_without_a_comment_may_be_missed() -> None:
    silent = ClosedIssue.model_validate(issue(fix=[DATES], is_duplicate=True).model_dump(exclude={"comment"}))
    assert judge_outcomes(silent) == {"place": "missed", "known": "missed"}


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
    asked = issue(ours=comment(asked=["version"]), reporter_wrote_at=[at(day) for day in days])
    assert [one.answered for one in judge(asked)] == [answered]


def test_without_a_question_nothing_is_answered() -> None:
    assert [one.answered for one in judge(issue(reporter_wrote_at=[at(1)]))] == [None]


def test_labels_on_the_issue_count_in_any_case() -> None:
    on, off = judge(issue(ours=comment(labels=BUG), labels=["x", "BUG"]), issue(ours=comment(labels=BUG), labels=["x"]))
    assert [one.labels for one in (on, off)] == [Rate(hits=1, cases=1), Rate(hits=0, cases=1)]
