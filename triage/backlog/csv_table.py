"""Writes the results of a backlog as CSV that a spreadsheet opens without running anything.

A cell that begins with `=`, `+`, `-` or `@` is a formula (OWASP, "CSV Injection"). In some countries a spreadsheet
splits at `;` whatever the quotes say, so that a formula may also follow one.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence

from triage.backlog.backlog import BacklogPlan, LeftOut
from triage.backlog.backlog_page import find_place, list_questions
from triage.comment.comment import SECURITY_TITLE
from triage.comment.permalink import build_permalink
from triage.comment.wording import has_model_answer
from triage.domain.code import Span
from triage.domain.report import RunReport
from triage.safety.clean_text import clean_text

BOM = "\ufeff"
"""Without it, Excel does not read UTF-8."""
MAX_CELL_CHARS = 500
COLUMNS = (
    "number",
    "title",
    "url",
    "kind",
    "severity",
    "place",
    "place_url",
    "chance",
    "found_by",
    "same_as",
    "group",
    "questions",
    "verdict",
    "engine",
    "usd",
    "tokens",
    "not_triaged",
)
_FORMULA = re.compile(r"(^|[;\t])([\s\"']*)(?=[=+\-@＝＋－＠])")


def make_safe_cell(text: str) -> str:
    """Return one line of text that no spreadsheet takes for a formula."""
    line = " ".join(clean_text(text[: 4 * MAX_CELL_CHARS]).split())[:MAX_CELL_CHARS]
    return _FORMULA.sub(r"\1'\2", line)


def render_csv(
    plan: BacklogPlan, reports: Sequence[RunReport], groups: Mapping[int, int], not_triaged: Sequence[LeftOut]
) -> str:
    """Return a line per issue. `groups` has the issue that stands for all reports of the same bug, by number."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    for report in reports:
        writer.writerow({name: make_safe_cell(text) for name, text in _fill(plan, report, groups).items()})
    for one in not_triaged:
        url = _url(plan, one.number)
        cells = {"number": str(one.number), "title": one.title, "url": url, "not_triaged": one.reason}
        writer.writerow({name: make_safe_cell(text) for name, text in cells.items()})
    return BOM + out.getvalue()


def _fill(plan: BacklogPlan, report: RunReport, groups: Mapping[int, int]) -> dict[str, str]:
    number = report.issue.number or 0
    place, found_by = find_place(report)
    link = build_permalink(plan.server_url, plan.repository, report.commit, place) if place else None
    same = report.possible_duplicate
    return {
        "number": str(number),
        "title": SECURITY_TITLE if report.security else report.issue.title,
        "url": _url(plan, number),
        "kind": "security" if report.security else report.kind,
        "severity": report.severity or "",
        "place": _describe(place),
        "place_url": link or "",
        "chance": f"{report.best_place.probability:.2f}" if report.best_place else "",
        "found_by": found_by,
        "same_as": str(same.number) if same else "",
        "group": str(groups.get(number, "")),
        "questions": ", ".join(list_questions(report)),
        "verdict": report.verdict or "",
        "engine": "model" if has_model_answer(report) else "rules",
        "usd": f"{report.usage.priced_usd:.6f}" if report.usage.tokens else "",
        "tokens": str(report.usage.tokens) if report.usage.tokens else "",
    }


def _describe(place: Span | str | None) -> str:
    if place is None:
        return ""
    return place if isinstance(place, str) else f"{place.path}:{place.start}"


def _url(plan: BacklogPlan, number: int) -> str:
    return f"{plan.server_url}/{plan.repository}/issues/{number}"
