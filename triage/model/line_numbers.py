"""Line ranges as models write them: `12`, `"L12"`, `"12-14"`, `"lines 12 to 14"`, `[12, 14]`."""

import re
from collections.abc import Mapping
from typing import Any

_RANGE = re.compile(
    r"\s*(?:lines?|l)?\s*[:#.]?\s*(\d{1,9})(?:\s*(?:-|\u2013|\u2014|to|\.{2,3}|,|:|and)\s*(?:lines?|l)?\s*(\d{1,9}))?\s*",
    re.IGNORECASE | re.ASCII,
)
_NAMES = ("lines", "line", "linerange", "linenumbers", "linenumber", "range", "startend")


def set_line_numbers(found: dict[str, Any], by_name: Mapping[str, Any]) -> None:
    """Sets `start_line` and `end_line` to the numbers that stand in them, or under names such as `lines`."""
    first, last = (read_line_numbers(found[name]) for name in ("start_line", "end_line"))
    if not first and not last:
        first = next((numbers for name in _NAMES if (numbers := read_line_numbers(by_name.get(name)))), [])
    numbers = [*first, *last]
    found["start_line"] = numbers[0] if first else None
    found["end_line"] = numbers[-1] if last or len(first) > 1 else None


def read_line_numbers(value: Any) -> list[int]:
    """Returns the one or two numbers of a line or a range of lines; empty if the value is none."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        numbers = [number for item in value[:2] for number in read_line_numbers(item)]
        return [numbers[0], numbers[-1]] if numbers else []
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    found = _RANGE.fullmatch(value) if isinstance(value, str) else None
    return [int(number) for number in found.groups() if number] if found else []
