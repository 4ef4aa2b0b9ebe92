"""Invisible characters are named, and visible ones are not."""

import pytest

from testing.each_row import each_row
from triage.safety.clean_text import find_invisible, find_mixed_words

INVISIBLE = """
0000 0007 000c 000d 001b 007f 0085 00a0 00ad 200b 200d 202e 2028 2066 3000 3164 fe0f feff d800 e0041
"""


@each_row("code", INVISIBLE.split())
def test_what_nobody_sees_is_found(code: str):
    char = chr(int(code, 16))
    assert find_invisible(f"a{char}b{char}") == [char]


@pytest.mark.parametrize("text", ["", "a\n\tb c", "é ß 日本 עברית ไทย", "👩\u200d💻 ✔\ufe0f 🇩🇪", "a\u0301"])
def test_visible_text_has_none(text: str):
    assert find_invisible(text) == []


def test_words_of_two_scripts_that_look_alike_are_found():
    odd = ["p\u0430id", "\u0440ay_all", "to\u03bfl"]
    plain = [
        "paid",
        "\u0446\u0435\u043d\u0430",
        "\u03b1_1",
        "\\n\u0446\u0435\u043d\u0430",
        "%s\u0448\u0442",
        "10\u0433",
        "\u00b5s",
    ]
    assert find_mixed_words(" ".join([*odd, *plain, *odd])) == odd


@each_row("char", "\u115f\u1160\u3164\uffa0\u2800\U0001d159\U0001d173\U0001d17a\U00016fe4\U00013441\ufffc")
def test_a_glyph_that_is_blank_is_found(char: str):
    assert find_invisible(f"/*{char * 3}*/ g();") == [char]
