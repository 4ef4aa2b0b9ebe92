"""The published schema is the one that reports have."""

import ast
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from testing.each_row import each_row
from tests.say import sample_reports, sample_runs
from tests.say.sample_reports import FULL, change_report
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.run.write.plan_effects import dump_report


def read_field_docstrings(cls: type[BaseModel]) -> dict[str, str]:
    """Returns the docstrings below the fields of a class and of its bases."""
    found: dict[str, str] = {}
    for base in reversed([base for base in cls.__mro__ if base.__module__.startswith("triage.")]):
        (parsed,) = ast.parse(inspect.getsource(base)).body
        assert isinstance(parsed, ast.ClassDef)
        for field, text in pairwise(parsed.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    found[name] = inspect.cleandoc(words).replace("\n", " ")
    return found


class WithDescriptions(GenerateJsonSchema):
    """Describes each property by the docstring of its field.

    Pydantic's `use_attribute_docstrings` would read the sources in each run, and lengthen what a model is sent.
    """

    def model_schema(self, schema: Any) -> dict[str, Any]:
        made = super().model_schema(schema)
        texts = read_field_docstrings(schema["cls"])
        for name in texts.keys() & schema["cls"].model_fields:
            made["properties"][schema["cls"].model_fields[name].alias or name]["description"] = texts[name]
        return made


def make_schema() -> dict[str, Any]:
    return RunReport.model_json_schema(schema_generator=WithDescriptions)


def test_the_published_schema_is_up_to_date(golden):
    golden("docs/report.schema.json", json.dumps(make_schema(), indent=2) + "\n")


def test_every_property_of_the_published_schema_is_described():
    schema = make_schema()
    named = {"RunReport": schema, **schema["$defs"]}
    assert [
        f"{model}.{name}"
        for model, made in named.items()
        for name, entry in made.get("properties", {}).items()
        if not entry.get("description")
    ] == []


def test_the_published_schema_of_the_settings_is_up_to_date(golden):
    schema = ProjectConfig.model_json_schema(by_alias=True)
    golden("docs/triage.schema.json", json.dumps(schema, indent=2) + "\n")


FIRST = Path(__file__).with_name("report.schema.2.json")
"""The first published schema of `schema_version` 2."""


def removed(first: Any, now: Any, where: str = "") -> Iterator[str]:
    """Returns fields, types and values of the first schema that are missing now."""
    if isinstance(first, dict) and isinstance(now, dict):
        for name in first.keys() - PROSE:
            if name not in now:
                yield f"{where}/{name}"
            else:
                yield from removed(first[name], now[name], f"{where}/{name}")
    elif isinstance(first, list) and isinstance(now, list):
        yield from (f"{where}: {item}" for item in first if all([*removed(item, other)] for other in now))
    elif first != now:
        yield f"{where}: {first}"


def as_choices(schema: Any) -> Any:
    """Returns the schema with a single allowed value written as a list."""
    if isinstance(schema, list):
        return [as_choices(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    alike = {name: as_choices(value) for name, value in schema.items() if name != "const"}
    return alike | ({"enum": [schema["const"]]} if "const" in schema else {})


PROSE = {"description", "title", "default"}


def test_schema_version_2_has_only_additions():
    first, now = as_choices(json.loads(FIRST.read_text(encoding="utf-8"))), as_choices(RunReport.model_json_schema())
    assert now["properties"]["schema_version"]["enum"] == ["2"]
    assert list(removed(first, now)) == []


REPORTS = [
    value for module in (sample_reports, sample_runs) for value in vars(module).values() if isinstance(value, RunReport)
]


@each_row("report", REPORTS)
def test_a_report_is_read_back_from_its_file(report):
    assert RunReport.model_validate_json(dump_report(report)) == report


def test_a_lone_surrogate_does_not_break_the_report():
    text = dump_report(change_report(FULL, summary="odd \ud800 byte"))
    assert json.loads(text)["summary"] == "odd ? byte"
    assert text.encode("utf-8")
