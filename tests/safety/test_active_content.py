"""A line does nothing wherever GitHub shows it."""

import pytest

from triage.safety.active_content import format_plain_line


@pytest.mark.parametrize(
    "text",
    [
        "see www.evil.example",
        "see https://evil.example",
        "x:expression(javascript:alert(1)",
        "write mailto:a",
        "@mona",
        "#7",
    ],
)
def test_a_text_that_would_do_something_is_left_out(text: str) -> None:
    assert format_plain_line(text) == ""


def test_marks_of_markdown_are_replaced() -> None:
    assert format_plain_line("**Bold**  `x` [y] <b>\nend") == "Bold 'x' (y) ‹b› end"
