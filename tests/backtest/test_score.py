"""The figures of a backtest are counts of its results."""

from tests.backtest.samples import place, result
from triage.backtest.past_case import DuplicateResult
from triage.backtest.score import score_results
from triage.domain.project_config import Thresholds
from triage.domain.run import Status

RESULTS = [
    result(1, rank=1, chance=0.95, speaks="found", place=place(0.95)),
    result(2, rank=1, chance=0.72, speaks="found", place=place(0.72, edited=False)),
    result(3, rank=3, chance=0.25, speaks="question"),
    result(4, rank=None, chance=0.05, kind="question", usd=0.25, by_model=True),
    result(5, rank=None, chance=0.0, files=[], status=Status.DEGRADED, duplicate=3, speaks="duplicate", seconds=9.0),
    result(6, rank=2, chance=0.3, speaks="analysis"),
]
DUPLICATES = [
    DuplicateResult(number=8, title="x", original=1, named=1, outcome="found"),
    DuplicateResult(number=9, title="x", original=1, named=5, outcome="other"),
    DuplicateResult(number=10, title="x", original=1, outcome="none"),
]


def test_every_figure():
    score = score_results(RESULTS, DUPLICATES, Thresholds())
    assert (str(score.first), str(score.ranked), str(score.bugs)) == ("2 of 6", "4 of 6", "5 of 6")
    assert str(score.comments) == "5 of 6"
    assert score.speaks == {"found": 2, "question": 1, "duplicate": 1, "analysis": 1}
    assert (str(score.named), str(score.analysed)) == ("1 of 2", "0 of 1")
    assert {sign: str(share) for sign, share in score.named_by_sign.items()} == {"name": "1 of 2"}
    assert (str(score.duplicates), score.wrong_duplicates, str(score.unmarked_named)) == ("1 of 3", 1, "1 of 6")
    assert (score.incomplete, score.seconds, score.median_seconds) == (1, 16.5, 1.5)
    assert (score.usd, score.by_model) == (0.25, True)


def test_bands_hold_each_issue_with_a_file_once():
    bands = score_results([*RESULTS, result(7, chance=1.0)], [], Thresholds()).bands
    assert [(band.low, band.high, band.issues, band.right) for band in bands] == [
        (0.0, 0.1, 1, 0),
        (0.1, 0.3, 1, 0),
        (0.3, 0.5, 1, 0),
        (0.7, 0.9, 1, 1),
        (0.9, 1.0, 2, 2),
    ]
    assert bands[-1].mean_chance == 0.975


def test_nothing_was_triaged():
    score = score_results([], [], Thresholds())
    assert (score.issues, str(score.first), score.bands, score.median_seconds) == (0, "0 of 0", [], 0.0)
