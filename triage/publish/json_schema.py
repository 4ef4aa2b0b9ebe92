"""The JSON report and the published schemas."""

import json

from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport


def dump_report(report: RunReport) -> str:
    """Returns the report as JSON. Lone surrogates, which JSON readers reject, become question marks."""
    text = json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def dump_report_schema() -> str:
    """Returns the content of `docs/report.schema.json`."""
    return json.dumps(RunReport.model_json_schema(), indent=2) + "\n"


def dump_config_schema() -> str:
    """Returns the content of `docs/triage.schema.json`: the keys of `.github/triage.yml`, for editors."""
    return json.dumps(ProjectConfig.model_json_schema(by_alias=True), indent=2) + "\n"
