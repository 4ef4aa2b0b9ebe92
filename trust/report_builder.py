"""Reports whose every field holds the same words, made from the report's own types: a new field is tried at once."""

import types
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from triage.domain.report import RunReport
from triage.text.inert_markdown import sanitize_markdown
from trust.permissive_github import NUMBER, SLUG

COMMIT = "bc466a32ae9b84e1d398cce19c4345b83d924eb4"
PAGE = f"https://github.com/{SLUG}"
FOUND = "https://docs.example.com/1"
LINKS = (f"{PAGE}/", PAGE, FOUND)
"""What may be linked."""
LIST_LENGTH = 2
"""In each list."""
_OURS: dict[str, object] = {
    "repository": SLUG,
    "server_url": "https://github.com",
    "commit": COMMIT,
    "run_url": f"{PAGE}/actions/runs/1/attempts/1",
    "number": NUMBER,
    "hidden_fragments": 3,
    "schema_version": "1",
    "triage_version": "0.1.0",
}
"""Fields that a stranger's words do not reach."""


def build_report(words: str, choice: int = 0) -> RunReport:
    """A report that says `words` wherever it says something; `choice` turns over what is chosen from a list."""
    value = _model(RunReport, words, choice)
    value |= {"analysis": sanitize_markdown(words), "kind": "bug" if choice % 4 else value["kind"], "engine": "model"}
    value["issue"]["url"] = f"{PAGE}/issues/{NUMBER}"
    odd = f"javascript:{words}" if words.startswith("http") else words
    value["external_references"] = [{"title": words, "url": url, "relevance_reason": words} for url in (FOUND, odd)]
    return RunReport.model_validate(value)


def _model(model: type[BaseModel], words: str, choice: int) -> dict[str, Any]:
    return {
        name: _OURS[name] if name in _OURS else _value(field.annotation, words, choice)
        for name, field in model.model_fields.items()
    }


def _value(kind: Any, words: str, choice: int) -> Any:
    """A value of the type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _value(inner[0], words, choice)
    if origin is Literal:
        return inner[choice % len(inner)]
    if origin in (Union, types.UnionType):
        real = [one for one in inner if one is not type(None)]
        return _value(real[0], words, choice)
    if origin in (list, tuple):
        return [_value(inner[0], words, choice + number) for number in range(LIST_LENGTH)]
    if origin is dict:
        return {words: _value(inner[1], words, choice)}
    return _plain_value(kind, words, choice)


def _plain_value(kind: Any, words: str, choice: int) -> Any:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _model(kind, words, choice)
    if isinstance(kind, type) and issubclass(kind, Enum):
        values = list(kind)
        return values[choice % len(values)]
    made: dict[Any, Callable[[], object]] = {
        str: lambda: words,
        bool: lambda: bool(choice % 2),
        int: lambda: 5,
        float: lambda: 0.5,
        datetime: lambda: datetime(2026, 11, 21, tzinfo=UTC),
    }
    return made[kind]()
