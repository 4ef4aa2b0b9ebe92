"""Reads the answer in a model's text: the last whole JSON object that does not stand in the prompt.

If there is none, the object that was cut counts as far as it goes.
"""

from collections.abc import Mapping
from copy import deepcopy
from json import JSONDecoder
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import from_json

from triage.domain.findings import Answer, Exact, IfMissing, is_blank, is_no_error

A = TypeVar("A", bound=BaseModel)

MAX_BRACES = 100
"""That begin no object. From each the text is read once more."""
MAX_REPAIRS = 5
_DECODER = JSONDecoder(strict=False)
_UNREAD: Any = object()
"""An item of a list that cannot be read."""


class Misfit(ValueError):
    """A value does not fit. The message says why in words of ours, for the model and the report."""


def find_objects(text: str, prompt: str = "") -> list[dict[str, Any]]:
    """Return the outermost JSON objects of a text, the last whole one first, without those that stand in the prompt."""
    asked, found, braces = "".join(prompt.split()), list[dict[str, Any]](), MAX_BRACES
    start = text.find("{")
    while start >= 0 and braces:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            if cut := _read_cut_object(text[start:]):
                return [*found[::-1], cut]
            end, braces = start + 1, braces - 1
        else:
            found += [value] if "".join(text[start:end].split()) not in asked else []
        start = text.find("{", end)
    return found[::-1]


def _read_cut_object(text: str) -> dict[str, Any]:
    """Return what there is of an object that has no end; empty if it is none."""
    try:
        value = from_json(text.rstrip("+-.0123456789"), allow_partial=True)
    except (ValueError, TypeError):  # the latter of lone surrogates
        return {}
    return value if isinstance(value, dict) else {}


def fit_answer(value: Mapping[str, Any], schema: type[A]) -> A:
    """Return an object as an answer.

    For a field that is missing or cannot be read stands what it names for that case; an item of a list is left out.

    Raises Misfit if something is missing without which the answer is useless.
    """
    fitted = {name: deepcopy(item) for name, item in value.items() if not is_blank(item)}
    is_declined = not is_no_error(value.get("error"))
    for _ in range(MAX_REPAIRS):
        try:
            answer = schema.model_validate(fitted)
        except ValidationError as error:
            places = [problem["loc"] for problem in error.errors(include_url=False)]
        else:
            at_least_one_of = schema.at_least_one_of if issubclass(schema, Answer) and not is_declined else ()
            if at_least_one_of and not any(getattr(answer, name) or value.get(name) == [] for name in at_least_one_of):
                raise Misfit(f"{' or '.join(at_least_one_of)} missing or unreadable")
            return answer
        unread = [place for place in places if not _stand_in(fitted, schema, place, is_declined)]
        if unread:
            raise Misfit(f"{', '.join(dict.fromkeys(str(place[0]) for place in unread))} missing or unreadable")
        fitted = _leave_out_unread(fitted)
    raise Misfit("fields that cannot be read")


def _stand_in(fitted: Any, schema: Any, place: tuple[int | str, ...], is_declined: bool) -> bool:
    """Replace what cannot be read, or the nearest thing around it for which something may stand. Returns whether."""
    replaceable: list[tuple[Any, int | str, Any]] = []
    is_exact = False
    for key in place:
        if fitted is _UNREAD:
            return True
        if isinstance(key, int):
            replaceable += [] if is_exact else [(fitted, key, _UNREAD)]
            schema = get_args(schema)[0]
        else:
            info = schema.model_fields[key]
            is_exact = any(isinstance(one, Exact) for one in info.metadata)
            default = _find_default(info, is_declined=is_declined)
            is_taken_as_it_is = is_exact and key in fitted
            replaceable += [] if default is _UNREAD or is_taken_as_it_is else [(fitted, key, default)]
            schema = info.annotation
        is_inside = isinstance(fitted, list) or (isinstance(fitted, dict) and key in fitted)
        fitted = fitted[key] if is_inside else None
    for holder, key, default in replaceable[-1:]:
        holder[key] = default
    return bool(replaceable)


def _find_default(info: FieldInfo, *, is_declined: bool) -> Any:
    """Return what stands for a field without a value. A model that declines answers nothing else."""
    kinds = get_args(info.annotation)
    for one in info.metadata:
        if isinstance(one, IfMissing):
            return one.value
    if not info.is_required():
        return info.get_default(call_default_factory=True)
    if NoneType in kinds:
        return None
    if get_origin(info.annotation) is list:
        return []
    return (kinds[-1] if get_origin(info.annotation) is Literal else "") if is_declined else _UNREAD


def _leave_out_unread(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _leave_out_unread(item) for name, item in value.items()}
    return [_leave_out_unread(item) for item in value if item is not _UNREAD] if isinstance(value, list) else value
