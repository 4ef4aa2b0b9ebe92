"""Fits a JSON value from a model to the schema of an answer: what cannot be read is left out.

Texts, numbers and options are read as models write them: `"85%"`, `85`, `"Feature Request"`. Pydantic
checks each field.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from annotated_types import Ge
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from triage.domain.findings import AlsoNamed, Answer, Exact, IfMissing, is_blank, is_no_error
from triage.model.lenient_json import read_first_object

_LINE_NUMBER = re.compile(r"(?<!\d)(\d{1,9})(?!\d)(?:\.\d+)?", re.ASCII)
A = TypeVar("A", bound=BaseModel)
M = TypeVar("M")

MAX_WRAPPERS = 3
"""Objects around an answer, such as `{"answer": {...}}`."""
_ITEM_MARK = re.compile(r"\s*(?:[-*\u2022]|\d{1,3}[.)])\s+")
_NOTHING = re.compile(
    r"(?:none|nothing|no (?:gaps?|questions?|results?|steps?|files?|others?))"
    r"(?: (?:found|known|given|needed|left|so far))?[.!]?",
    re.IGNORECASE,
)
"""What models write for an empty list."""
_MISSING = object()
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
_SPAN_NAMES = ("lines", "line", "linerange", "linenumbers", "linenumber", "range", "startend")


class Misfit(ValueError):
    """A value does not fit. The message says why in words of ours, for the model and the report."""


def read_line_numbers(written: Any) -> list[int]:
    """Return the one or two numbers of a line or range, such as `L12-L14`, `[12, 14]` or `{"from": 12, "to": 14}`."""
    return [int(number) for number in _LINE_NUMBER.findall(str(written))[:2]]


def fit_answer(value: Mapping[str, Any], schema: type[A]) -> A:
    """Return the answer in a JSON object, or in one inside of it.

    Raises:
        Misfit: Something is missing without which the answer is useless.
    """
    candidates, first_problem = [dict(value)], None
    for _ in range(MAX_WRAPPERS):
        for candidate in candidates:
            try:
                return schema.model_validate(_fit_fields(candidate, schema))
            except Misfit as problem:
                first_problem = first_problem or problem
            except ValidationError:
                continue
        inside = [inner for candidate in candidates for inner in candidate.values()]
        objects = (read_first_object(inner) if isinstance(inner, str) else inner for inner in inside)
        candidates = [inner for inner in objects if inner and isinstance(inner, dict)]
    raise first_problem or Misfit("fields that cannot be read")


def _fit_fields(value: Mapping[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    by_name = {fold(name): item for name, item in value.items()}
    fields = schema.model_fields
    found = {name: _find_value(by_name, name, info) for name, info in fields.items()}
    if {"start_line", "end_line"} <= fields.keys():
        found |= _fit_span(by_name)
    fitted: dict[str, Any] = {}
    missing: list[str] = []
    for name, info in fields.items():
        try:
            fitted[name] = _fit_field(found[name], info, _build_adapter(schema, name))
        except ValueError:
            if _is_exact(info) and found[name] is not _MISSING:
                raise Misfit(f"{name} unreadable") from None
            default = _find_default(info)
            if default is _MISSING and _is_declined(fitted):  # nobody reads it
                default = get_args(info.annotation)[-1] if get_origin(info.annotation) is Literal else ""
            if default is _MISSING:
                missing.append(name)
            fitted[name] = default
    essential = schema.essential if issubclass(schema, Answer) else ()
    if essential and not _is_declined(fitted) and not any(_is_there(found[name], fitted[name]) for name in essential):
        missing.append(" or ".join(essential))
    if missing:
        raise Misfit(f"{', '.join(missing)} missing or unreadable")
    return fitted


def _is_declined(fitted: Mapping[str, Any]) -> bool:
    return not is_no_error(fitted.get("error"))  # a field of the base, and so fitted before those of an agent


def _find_value(by_name: Mapping[str, Any], name: str, info: FieldInfo) -> Any:
    names = map(fold, (name, *_list_other_names(info)))
    return next((by_name[key] for key in names if key in by_name), _MISSING)


def _list_other_names(info: FieldInfo) -> tuple[str, ...]:
    return next((item.names for item in info.metadata if isinstance(item, AlsoNamed)), ())


def _is_there(found: Any, fitted: Any) -> bool:
    """Return whether a field was answered: an empty list is an answer, a list of which no item can be read is none."""
    if isinstance(fitted, list):
        return found is not _MISSING and (bool(fitted) or not found or is_blank(found))
    return bool(fitted)


def _find_default(info: FieldInfo) -> Any:
    defaults = [item.value for item in info.metadata if isinstance(item, IfMissing)]
    if defaults:
        return defaults[0]
    if NoneType in get_args(info.annotation):
        return None
    return [] if get_origin(info.annotation) is list else _MISSING


def _is_exact(info: FieldInfo) -> bool:
    return any(isinstance(item, Exact) for item in info.metadata)


def _fit_field(value: Any, info: FieldInfo, field: TypeAdapter[Any]) -> Any:
    if _is_exact(info):
        return _fit_exactly(value, info.annotation)
    if value is _MISSING or (is_blank(value) and get_origin(info.annotation) is not list):
        raise Misfit
    if any(isinstance(item, Ge) and item.ge == -1.0 for item in info.metadata):
        return field.validate_python(_read_number(value))  # a change is no share: 30 is out of range, not 30 %
    return field.validate_python(_fit(value, info.annotation))


@cache
def _build_adapter(schema: type[BaseModel], name: str) -> TypeAdapter[Any]:
    info = schema.model_fields[name]
    return TypeAdapter(Annotated[info.annotation, info])  # type: ignore[arg-type]  # known at run time only


def _fit_exactly(value: Any, annotation: Any) -> Any:
    if get_origin(annotation) is list and isinstance(value, list):
        return [_fit(item, get_args(annotation)[0]) for item in value]
    if annotation is not str or not isinstance(value, str):
        raise Misfit
    return value


def _fit(value: Any, annotation: Any) -> Any:
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    origin = get_origin(annotation)
    if origin is Literal:
        return _fit_option(value, kinds)
    if origin is list:
        return _fit_list(value, kinds[0])
    if kinds:  # of a nullable field
        return _fit(value, kinds[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _fit_item(value, annotation)
    if annotation is float:
        return _fit_share(value)
    return _fit_text(value) if annotation is str else value


def _fit_list(value: Any, kind: Any) -> list[Any]:
    fitted = []
    for item in _split_items(_list_by_main_field(value, kind)):
        try:
            fitted.append(_fit(item, kind))
        except ValueError:
            continue  # one bad item costs only itself
    return fitted


def _split_items(value: Any) -> Sequence[Any]:
    if isinstance(value, list):
        return [item for item in value if item is not None and item != ""]
    if is_blank(value) or (isinstance(value, str) and _NOTHING.fullmatch(value.strip())):
        return []
    if isinstance(value, str):
        return [_ITEM_MARK.sub("", line, count=1) for line in value.splitlines() if line.strip()]
    return [value]


def _list_by_main_field(value: Any, kind: Any) -> Any:
    """Return the items of an object whose names are the items' main field: `{"a.py": {...}, "b.py": {...}}`."""
    if not isinstance(value, dict) or not isinstance(kind, type) or not issubclass(kind, BaseModel):
        return value
    known = {fold(name) for field, info in kind.model_fields.items() for name in (field, *_list_other_names(info))}
    main = _find_main_field(kind)
    if not value or any(fold(name) in known for name in value):
        return value
    return [item | {main: name} if isinstance(item, dict) else name for name, item in value.items()]


def _fit_item(value: Any, schema: type[M]) -> M:
    assert issubclass(schema, BaseModel)
    if isinstance(value, str):
        value = {_find_main_field(schema): value}
    if not isinstance(value, dict):
        raise Misfit
    return schema.model_validate(_fit_fields(value, schema))


def _find_main_field(schema: type[BaseModel]) -> str:
    """Return the field that stands for the whole, such as the path of a file."""
    return next((name for name, info in schema.model_fields.items() if _find_default(info) is _MISSING), "")


def _fit_option(value: Any, options: Sequence[str]) -> str:
    """Return the option that is written in any case, with other joints, before a remark, by its begin or a synonym."""
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


def _fit_share(value: Any) -> float:
    """Return a number that is a part of one; above 1 it means percent."""
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


def _fit_text(value: Any) -> str:
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


def _fit_span(by_name: Mapping[str, Any]) -> dict[str, int | None]:
    """Return `start_line` and `end_line` of what stands under these names, or under others such as `lines`."""
    first, last = (read_line_numbers(by_name.get(name)) for name in ("startline", "endline"))
    if not first and not last:
        first = next((numbers for name in _SPAN_NAMES if (numbers := read_line_numbers(by_name.get(name)))), [])
    end = last or first[1:]
    return {"start_line": first[0] if first else None, "end_line": end[-1] if end else None}
