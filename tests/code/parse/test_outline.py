"""Declarations by their lines and indentation."""

import pytest

from testing.cost_growth import measure_cost_ratio
from triage.code.parse.definitions import find_declarations

PATTERN = r"\s*(?:class|fun) (?P<name>\w+)"


@pytest.mark.parametrize("line", ["fun a", " " * 50 + "fun a", "}", "(" * 80, ""])
def test_the_cost_of_long_files_is_linear(line: str):
    def find(lines: int) -> None:
        list(find_declarations("\n".join([line] * lines), PATTERN))
        list(find_declarations("\n".join(" " * (number % 80) + line for number in range(lines)), PATTERN))

    assert measure_cost_ratio(find, 5_000) < 10
