"""A report as the action's outputs and as JSON."""

import json
from collections.abc import Mapping, Sequence

from triage.domain.effect import Effect, SetOutputs, WriteReport, WriteSummary
from triage.domain.report import RunReport
from triage.domain.run import Usage
from triage.domain.statement import Leads
from triage.safety.clean_text import clean_text
from triage.say.job_page import render_fix_page
from triage.say.notices import EMPTY_OUTPUTS
from triage.say.wording import truncate

MAX_TITLE_CHARS = 200
_FULL_WIDTH = str.maketrans({"`": None, "@": "＠", "$": "＄"})


def dump_report(report: RunReport) -> str:
    """Returns the report as JSON. Lone surrogates, which JSON readers reject, become question marks."""
    text = json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def build_outputs(report: RunReport) -> dict[str, str]:
    """Returns the outputs of the action. Those that are known after writing are empty."""
    ticket = report.ticket
    named = [place.span.path for one in report.statements if isinstance(one, Leads) for place in one.places]
    return EMPTY_OUTPUTS | {
        "status": report.status.value,
        "engine": report.engine,
        "severity": report.severity or "",
        "confidence": f"{report.confidence:.2f}",
        "verdict": report.verdict or "",
        "suspect-files": _format_json_list(list(dict.fromkeys([*named, *(one.path for one in report.suspects)]))),
        "ticket-title": _format_title(ticket.title),
        "ticket-labels": _format_json_list(ticket.labels),
        "ticket-assignee": ticket.assignee.lstrip("@"),
        "ticket-effort": ticket.effort if report.may_be_bug_by_rules else "",
        "tokens": str(report.usage.tokens),
        "cost-usd": _format_cost(report.usage),
        "seconds": f"{report.seconds:.1f}",
    }


def _format_json_list(names: Sequence[str]) -> str:
    # The runner reads `##[` anywhere in a line as a command, so a later step that prints the output would run it.
    return json.dumps(names).replace("##[", "\\u0023#[")


def _format_title(text: str) -> str:
    # One line that neither a tracker, a shell nor the log of a later step interprets: full-width signs replace those
    # that mention somebody or expand a variable.
    words = " ".join(clean_text(text).translate(_FULL_WIDTH).split())
    return truncate(words.replace("##[", "## [").lstrip(": "), MAX_TITLE_CHARS)


def _format_cost(usage: Usage) -> str:
    return "unknown" if usage.usd is None else f"{usage.usd:.6f}"


def plan_proposed(message: str, outputs: Mapping[str, str], report: RunReport) -> list[Effect]:
    """Returns what the job writes that proposed a patch, or could not. `report` has all steps of the run."""
    usage = {
        "status": report.status.value,
        "engine": report.engine,
        "tokens": str(report.usage.tokens),
        "cost-usd": _format_cost(report.usage),
        "seconds": f"{report.seconds:.1f}",
    }
    return [
        WriteReport(json_text=dump_report(report)),
        WriteSummary(markdown=render_fix_page(message, report)),
        SetOutputs(values=EMPTY_OUTPUTS | usage | dict(outputs)),
    ]
