"""The JSON report, and the schemas that are published: for those who read it, and for editors of the settings."""

import json

from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport


def dump_report(report: RunReport) -> str:
    """The report as a file. Lone surrogates, which no JSON reader takes, become question marks."""
    text = json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def dump_report_schema() -> str:
    """What `docs/report.schema.json` holds."""
    return json.dumps(RunReport.model_json_schema(), indent=2) + "\n"


def dump_config_schema() -> str:
    """What `docs/triage.schema.json` holds: the keys of `.github/triage.yml`, for editors."""
    return json.dumps(ProjectConfig.model_json_schema(by_alias=True), indent=2) + "\n"
