"""The published schema is the one that reports have."""

import json

import pytest

from tests.publish import reports
from tests.publish.reports import FULL, changed
from triage.domain.report import RunReport
from triage.publish.schema import report_json, report_schema


def test_the_published_schema_is_up_to_date(golden):
    golden("docs/report.schema.json", report_schema())


def test_the_schema_is_the_reports():
    assert json.loads(report_schema()) == RunReport.model_json_schema()


@pytest.mark.parametrize("name", ["FULL", "RULES", "FEATURE", "LOW", "DEGRADED", "LONG", "HOSTILE"])
def test_a_report_is_read_back_from_its_file(name):
    report = getattr(reports, name)
    assert RunReport.model_validate_json(report_json(report)) == report


def test_a_lone_surrogate_does_not_cost_the_report():
    text = report_json(changed(FULL, summary="odd \ud800 byte"))
    assert json.loads(text)["summary"] == "odd ? byte"
    assert text.encode("utf-8")
