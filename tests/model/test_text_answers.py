"""Plain text as models send it: behind thoughts."""

import pytest

from triage.model.lenient_json import strip_thinking


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Why: x", "Why: x"),
        ("<think>No.</think>Why: x", "Why: x"),
        ("<Thinking>\nNo. `</think>`\n</Thinking>\n\nWhy: x", "\n\nWhy: x"),
        ("No.\n</think>\nWhy: x", "\nWhy: x"),
        ("<think>a</think><think>b</think>Why: x", "Why: x"),
        ("<think>No end", ""),
        ("Why: `<think>` and `</think>` stay", "Why: `<think>` and `</think>` stay"),
        ("Why: it prints <think> here", "Why: it prints <think> here"),
    ],
)
def test_thoughts_are_no_part_of_a_text(text: str, rest: str):
    assert strip_thinking(text) == rest
