"""The published schema is the one that reports have."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from testing.each_row import each_row
from tests.say import sample_reports, sample_runs
from tests.say.sample_reports import FULL, change_report
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.run.write.report_outputs import dump_report


def test_the_published_schema_is_up_to_date(golden):
    golden("docs/report.schema.json", json.dumps(RunReport.model_json_schema(), indent=2) + "\n")


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
