"""Texts, numbers, flags and options as models write them: `"85%"`, `85`, `"Feature Request"`, `"yes"`."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_NUMBER = re.compile(
    r"(?:[~<>=]{1,2}|about|approx(?:imately|\.)?|around)?\s*([+-]?(?:\d{1,9}(?:[.,]\d{1,20})?|[.,]\d{1,20}))"
    r"\s*(%|percent|/\s*\d{1,3})?(?:\s*[.;(\u2013\u2014-][^\d\n]*)?",
    re.ASCII | re.IGNORECASE,
)
_WORDS = {"very low": 0.1, "low": 0.2, "medium": 0.5, "moderate": 0.5, "high": 0.8, "very high": 0.9}
"""The probabilities of the guidance note of the IPCC's fourth report on uncertainties (2005, table 3)."""

_SYNONYMS = {
    **dict.fromkeys(("blocker", "urgent"), "critical"),
    **dict.fromkeys(("major", "severe", "serious"), "high"),
    **dict.fromkeys(("moderate", "normal", "average"), "medium"),
    **dict.fromkeys(("minor", "trivial", "cosmetic"), "low"),
    **dict.fromkeys(("defect", "regression"), "bug"),
    **dict.fromkeys(("enhancement", "feature"), "featurerequest"),
    **dict.fromkeys(("approved",), "confirmed"),
    **dict.fromkeys(("rejected", "refuted"), "challenged"),
}
"""Words of issue trackers for the options of our fields, folded."""
MAX_OPTION_WORDS = 4


_RANGE = re.compile(
    r"\s*(?:lines?|l)?\s*[:#.]?\s*(\d{1,9})(?:\s*(?:-|\u2013|\u2014|to|\.{2,3}|,|:|and)\s*(?:lines?|l)?\s*(\d{1,9}))?\s*",
    re.IGNORECASE | re.ASCII,
)
_NAMES = ("lines", "line", "linerange", "linenumbers", "linenumber", "range", "startend")


class Misfit(ValueError):
    """A value does not fit. The message says why in words of ours, for the model and the report."""


def fit_option(value: Any, options: Sequence[str]) -> str:
    """The option that is written in any case, with other joints, before a remark, by its beginning or by a synonym."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    words = (
        re.findall(r"\w+", re.split(r"[(:;/\n]| [-\u2013\u2014] ", value.strip())[0]) if isinstance(value, str) else []
    )
    folded = {fold(option): option for option in options}
    for count in range(min(len(words), MAX_OPTION_WORDS), 0, -1):
        written = fold("".join(words[:count]))
        written = written if written in folded else _SYNONYMS.get(written, "")
        if written in folded:
            return folded[written]
    written = fold("".join(words))
    begun = [option for text, option in folded.items() if len(written) >= 4 and text.startswith(written)]
    if len(begun) != 1:
        raise Misfit
    return begun[0]


def fit_share(value: Any, low: float, high: float) -> float:
    """A number between two bounds; above 1 it means percent."""
    number = _read_number(value)
    if abs(number) > 1:
        number /= 100
    if not low <= number <= high:
        raise Misfit
    return number


def _read_number(value: Any) -> float:
    if isinstance(value, str):
        return _read_written_number(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 10**9:
        raise Misfit  # NaN too
    return float(value)


def _read_written_number(text: str) -> float:
    word = re.split(r"\s*[(:;.,\u2013\u2014]", text.casefold())[0]
    if word in _WORDS:
        return _WORDS[word]
    found = _NUMBER.fullmatch(text)
    if not found:
        raise Misfit
    number, unit = float(found[1].replace(",", ".")), found[2] or ""
    divisor = 100.0 if unit and not unit.startswith("/") else float(unit[1:] or 1) if unit else 1.0
    if not divisor:
        raise Misfit
    return number / divisor


def _read_text(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    if isinstance(value, dict):
        texts = [item for item in value.values() if isinstance(item, str) and item]
        value = ": ".join(texts) if texts and "type" not in value else None  # `type`: the schema itself
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise Misfit
    try:
        return str(value).encode("utf-8", "replace").decode()  # JSON can hold lone surrogates
    except ValueError as error:  # an integer with too many digits
        raise Misfit from error


def _read_flag(value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    flag = words.get(str(value).strip().casefold()) if isinstance(value, bool | str | int) else None
    if flag is None:
        raise Misfit
    return flag


def _read_integer(value: Any) -> int:
    number = _read_number(value)
    if math.floor(number) != number:
        raise Misfit
    return int(number)


READERS: Mapping[Any, Callable[[Any], Any]] = {str: _read_text, bool: _read_flag, int: _read_integer}


def fold(text: Any) -> str:
    return "".join(character for character in str(text).casefold() if character.isalnum())


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
