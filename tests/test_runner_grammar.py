"""The harness's own reading of the runner's two grammars."""

import pytest

from testing.each_row import each_row
from testing.runner_grammar import StepFailsError, parse_commands, parse_pairs

OBEYED = {
    "::warning::x": ("warning", "x"),
    "::WARNING file=a.py,line=1::x": ("warning", "x"),
    "\u200b::warning::x": ("warning", "x"),
    "::set-env name=PATH::/tmp": ("set-env", "/tmp"),
    "::group::%25%0A%0D": ("group", "%\n\r"),
    "words ##[error]x": ("error", "x"),
    "words ##[Add-Mask a=b;]x%5D": ("add-mask", "x]"),
    "words\r::debug::x": ("debug", "x"),
}
TEXT = [
    "| ::warning::x",
    "x::warning::y",
    ":: warning::x",
    "::warn::x",
    "##[error",
    "",
]


@each_row("line", OBEYED)
def test_the_runner_obeys(line: str):
    assert [(command.name, command.data) for command in parse_commands(f"before\n{line}\nafter")] == [OBEYED[line]]


@each_row("line", TEXT)
def test_the_runner_takes_for_text(line: str):
    assert list(parse_commands(line)) == []


def test_nothing_hides_behind_a_stop():
    assert [command.name for command in parse_commands("::stop-commands::x\n::add-path::y")] == [
        "stop-commands",
        "add-path",
    ]


def test_outputs():
    written = b"a=1\nb<<END\nx\ny=2\n c<<X\nEND\nd==<<\n\ne<<E\nE\nf=\r\n"
    assert parse_pairs(written) == [("a", "1"), ("b", "x\ny=2\n c<<X"), ("d", "=<<"), ("e", ""), ("f", "\r")]


@pytest.mark.parametrize("written", [b"words", b"a<<\n", b"<<E\nE\n", b"a<<E\nx\n", b"a<<E\nx"])
def test_outputs_that_fail_the_step(written: bytes):
    with pytest.raises(StepFailsError):
        parse_pairs(written)
