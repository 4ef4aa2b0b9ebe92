"""A comment starts a run only if it has a value for what was asked."""

from testing.each_row import each_row
from triage.domain.findings import MissingKind
from triage.read.questions import answers_question


@each_row(
    ("comment", "asked"),
    [
        ("version 2.1", "version"),
        ("> Which version?\n\n3.2.1", "version"),
        ("1. open\n2. click save", "reproduction"),
        ("```\nimport shop\n```", "reproduction"),
        ("Click on Save with two items in the cart, and nothing happens at all after that, ever.", "reproduction"),
        ("postgres", "other"),
        ("Windows 11", "environment"),
        ("TypeError: x is not a function", "error_output"),
        ("It says Access denied", "error_output"),
    ],
)
def test_an_answer_has_a_value(comment: str, asked: MissingKind) -> None:
    assert answers_question(comment, [asked])


@each_row(
    ("comment", "asked"),
    [
        ("Any news?", "version"),
        ("Any update on this.", "other"),
        ("+1", "version"),
        ("Thanks!", "other"),
        ("I don't know", "version"),
        ("> Which version, 3.2?\n\nsame here", "version"),
        ("Is there a workaround?", "reproduction"),
        ("Why is nobody looking at this? I have been waiting for 3 weeks!", "reproduction"),
        ("version 2.1", "error_output"),
    ],
)
def test_other_words_answer_nothing(comment: str, asked: MissingKind) -> None:
    assert not answers_question(comment, [asked])


def test_one_of_several_answers_is_enough() -> None:
    assert answers_question("2.1", ["reproduction", "version"])
    assert not answers_question("2.1", [])
