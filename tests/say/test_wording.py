import pytest

from testing.each_row import each_row
from tests.say.sample_reports import RULES, RULES_STEPS, change_report
from triage.domain.run import Outcome
from triage.say import wording


@each_row(
    ("text", "expected"),
    [
        ("One. Two. Three.", "One. Two."),
        ("One.  Two\nlines. Three.", "One. Two lines."),
        ("Only one", "Only one"),
        ("", ""),
        ("See a.b.c and v1.2. Then stop! More?", "See a.b.c and v1.2. Then stop!"),
        (
            "Some, e.g. Chrome, fail. Others (e.g. Edge) do not. More.",
            "Some, e.g. Chrome, fail. Others (e.g. Edge) do not.",
        ),
        ("It ends (oddly.) Then “so.” Never.", "It ends (oddly.) Then “so.”"),
        ("It raises Foo. which is lower. Then on. Last.", "It raises Foo. which is lower. Then on."),
        ("Why?! No. Yes.", "Why?! No."),
    ],
)
def test_the_first_two_sentences(text, expected):
    assert wording.first_sentences(text, 2) == expected


@each_row(
    ("answered", "expected"),
    [
        (["writer"], "by rules (a model was asked and gave no usable answer)"),
        (["codebase_search", "writer"], "by a model"),
        ([], "by rules (a model was chosen and not asked)"),
    ],
)
def test_a_ticket_alone_is_no_report_by_a_model(answered: list[str], expected: str):
    steps = [
        one.model_copy(update={"engine": "model" if one.step in answered else "rules", "outcome": Outcome.SUCCESS})
        for one in RULES_STEPS
    ]
    assert wording.describe_engine(change_report(RULES, engine="model", steps=steps)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "low"), (0.39, "low"), (0.4, "medium"), (0.69, "medium"), (0.7, "high"), (1.0, "high")],
)
def test_confidence_has_three_bands(value, expected):
    assert wording.confidence_level(value) == expected
    assert wording.format_confidence(value) == f"{expected} confidence ({value:.2f})"
