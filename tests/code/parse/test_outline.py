"""Declarations by their lines and indentation."""

import pytest

from testing.cost_growth import measure_cost_ratio
from testing.each_row import each_row
from triage.code.parse.definitions import find_declarations

PATTERN = r"\s*(?:class|fun) (?P<name>\w+)"
SOURCE = """package a

class Store(
    val x: Int,
) : Base() {
    fun save(
        x: Int,
    ) {
        keep(x)
    }

    fun load() = x
}

fun top() {
}
"""


def find(text: str) -> list[str]:
    return [f"{name} {start}-{end}" for start, end, name in sorted(find_declarations(text, PATTERN))]


def test_a_declaration_ends_with_its_indentation():
    assert find(SOURCE) == ["Store 3-13", "save 6-10", "load 12-12", "top 15-16"]


@each_row(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n\n", []),
        ("nothing here", []),
        ("fun open", ["open 1-1"]),
        ("class A {\n  fun cut(", ["A 1-2", "cut 2-2"]),
        ("}}}\n)\nfun a\n}\n}", ["a 3-5"]),
        ("\tclass A {\n\t\tfun b\n\t}\nfun c", ["A 1-3", "b 2-2", "c 4-4"]),
        ("x" * 600 + "fun a", []),
    ],
)
def test_odd_texts(text: str, expected: list[str]):
    assert find(text) == expected


@pytest.mark.parametrize("line", ["fun a", " " * 50 + "fun a", "}", "(" * 80, ""])
def test_the_cost_of_long_files_is_linear(line: str):
    def find(lines: int) -> None:
        list(find_declarations("\n".join([line] * lines), PATTERN))
        list(find_declarations("\n".join(" " * (number % 80) + line for number in range(lines)), PATTERN))

    assert measure_cost_ratio(find, 5_000) < 10
