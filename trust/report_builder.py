"""Builds reports with the same text in every field, from the types of the report: new fields are included."""

import types
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from testing.servers.github_api import SLUG
from triage.domain.report import RunReport
from triage.say.decide import decide
from trust.permissive_github import NUMBER

COMMIT = "bc466a32ae9b84e1d398cce19c4345b83d924eb4"
PAGE = f"https://github.com/{SLUG}"
FOUND = "https://docs.example.com/1"
REDIRECTED = f"https://redirect.github.com/{SLUG}/"
"""Of issues and commits: GitHub notes no link by this host on the page that it leads to."""
LINKS = (f"{PAGE}/", PAGE, FOUND, REDIRECTED)
LIST_LENGTH = 2
_FIXED_VALUES: dict[str, object] = {
    "repository": SLUG,
    "server_url": "https://github.com",
    "commit": COMMIT,
    "run_url": f"{PAGE}/actions/runs/1/attempts/1",
    "number": NUMBER,
    "hidden_fragments": 3,
    "schema_version": "2",
    "triage_version": "0.1.0",
}
"""Fields without text by strangers."""


def build_report(words: str, choice: int = 0) -> RunReport:
    """Returns a report with `words` in each text field. `choice` selects the values of enums."""
    value = _build_model(RunReport, words, choice)
    value |= {"kind": "bug" if choice % 4 else value["kind"], "engine": "model"}
    value["issue"]["url"] = f"{PAGE}/issues/{NUMBER}"
    second_url = f"javascript:{words}" if words.startswith("http") else words
    value["external_references"] = [
        {"title": words, "url": url, "relevance_reason": words} for url in (FOUND, second_url)
    ]
    report = RunReport.model_validate(value)
    return report.model_copy(update={"statements": decide(report)})


def _build_model(model: type[BaseModel], words: str, choice: int) -> dict[str, Any]:
    kinds = {name: field.annotation for name, field in model.model_fields.items()}
    return {
        name: _FIXED_VALUES[name] if _is_fixed(name, kind) else _build_value(kind, words, choice)
        for name, kind in kinds.items()
    }


def _is_fixed(name: str, kind: Any) -> bool:
    return name in _FIXED_VALUES and not (isinstance(kind, type) and issubclass(kind, BaseModel))


def _build_value(kind: Any, words: str, choice: int) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _build_value(inner[0], words, choice)
    if origin is Literal:
        return inner[choice % len(inner)]
    if origin in (Union, types.UnionType):
        real = [one for one in inner if one is not type(None)]
        return _build_value(real[0], words, choice)
    if origin in (list, tuple):
        return [_build_value(inner[0], words, choice + number) for number in range(LIST_LENGTH)]
    if origin is dict:
        return {words: _build_value(inner[1], words, choice)}
    return _build_plain_value(kind, words, choice)


def _build_plain_value(kind: Any, words: str, choice: int) -> Any:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _build_model(kind, words, choice)
    if isinstance(kind, type) and issubclass(kind, Enum):
        values = list(kind)
        return values[choice % len(values)]
    builders: dict[Any, Callable[[], object]] = {
        str: lambda: words,
        bool: lambda: bool(choice % 2),
        int: lambda: 5,
        float: lambda: 0.5,
        datetime: lambda: datetime(2026, 11, 21, tzinfo=UTC),
    }
    return builders[kind]()
