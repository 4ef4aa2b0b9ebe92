"""Texts, numbers, flags and options as models write them: `"85%"`, `85`, `"Feature Request"`, `"yes"`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from triage.citations.written_place import read_line_numbers

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


def fit_share(value: Any) -> float:
    """A number that is a part of one; above 1 it means percent."""
    number = _read_number(value)
    return number / 100 if abs(number) > 1 else number


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


def fit_text(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = "\n".join(value)
    if isinstance(value, dict):
        texts = [item for item in value.values() if isinstance(item, str) and item]
        value = ": ".join(texts) if texts and "type" not in value else None  # `type`: the schema itself
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise Misfit
    return str(value)  # raises a ValueError for an integer with too many digits


def fold(text: Any) -> str:
    return "".join(character for character in str(text).casefold() if character.isalnum())


def fit_span(by_name: Mapping[str, Any]) -> dict[str, int | None]:
    """Returns `start_line` and `end_line` of what stands under these names, or under others such as `lines`."""
    first, last = (read_line_numbers(by_name.get(name)) for name in ("startline", "endline"))
    if not first and not last:
        first = next((numbers for name in _NAMES if (numbers := read_line_numbers(by_name.get(name)))), [])
    end = last or first[1:]
    return {"start_line": first[0] if first else None, "end_line": end[-1] if end else None}
