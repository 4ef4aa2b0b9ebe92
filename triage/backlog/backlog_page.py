"""Renders the results of a backlog as one Markdown page, for the job's summary."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from triage.backlog.backlog import BacklogPlan, LeftOut
from triage.backlog.backlog_results import BacklogResults, RankedIssue
from triage.comment.permalink import build_permalink, build_reference_url
from triage.comment.wording import format_count, format_dollars, format_probability, has_model_answer
from triage.domain.code import SIGN_REASONS, Span
from triage.domain.findings import MissingKind
from triage.domain.report import RunReport
from triage.safety.active_content import find_active_content
from triage.safety.safe_markdown import escape_markdown, escape_table_cell, format_code_span

T = TypeVar("T")
MAX_SUMMARY_BYTES = 900_000
"""A job's summary may have 1 MiB (GitHub's documentation, workflow commands)."""
MAX_TITLE_CHARS = 120
MAX_PLACE_CHARS = 34
"""GitHub does not break code in a table: a longer one moves the next column out of sight."""
KINDS = {"feature_request": "feature request", "question": "question", "not_actionable": "says too little"}
_HEAD = "| issue | place | open questions |\n|---|---|---|\n"
_OTHERS_HEAD = "| issue | kind |\n|---|---|\n"
_LEFT_OUT_HEAD = "| issue | reason |\n|---|---|\n"
SECURITY = "**may be a security report**"
MIN_CHANCE = 0.5
"""A smaller chance is not said."""
QUESTIONS: dict[MissingKind, str] = {
    "reproduction": "steps",
    "expected": "what was expected",
    "actual": "what happened",
    "version": "version",
    "environment": "environment",
    "error_output": "error output",
    "configuration": "configuration",
    "other": "a detail",
}


def render_backlog(results: BacklogResults, max_bytes: int) -> str:
    """Return the page in at most `max_bytes` of UTF-8. Rows that do not fit are counted."""
    page = _Page(max_bytes)
    page.add(_render_head(results))
    plan = results.plan
    page.add_table("", _HEAD, results.ranked, partial(_render_row, plan))
    page.add_table(
        f"### Probably no bugs ({len(results.others)})", _OTHERS_HEAD, results.others, partial(_render_other, plan)
    )
    left_out = results.not_triaged
    page.add_table(f"### Not triaged ({len(left_out)})", _LEFT_OUT_HEAD, left_out, partial(_render_left_out, plan))
    return page.text


class _Page:
    _RESERVED = 300
    """Bytes for a sentence about rows that do not fit."""

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._parts).rstrip() + "\n"

    def add(self, text: str) -> None:
        self._parts.append(text)
        self._left -= len(text.encode("utf-8", "replace"))

    def add_table(self, title: str, head: str, items: Sequence[T], render_row: Callable[[T], str]) -> None:
        """Add a row for each item. Those for which there is no room are not rendered: that takes milliseconds each."""
        if not items:
            return
        self.add(f"{title}\n\n{head}" if title else head)
        for position, item in enumerate(items):
            row = render_row(item)
            if self._left - len(row.encode("utf-8", "replace")) < self._RESERVED:
                missing = len(items) - position
                self.add(f"\n_{format_count(missing, 'further row')}: this page has no room. `backlog.csv` has all._\n")
                break
            self.add(row)
        self.add("\n")


def _render_head(results: BacklogResults) -> str:
    plan = results.plan
    ranked, questions = results.ranked, sum(bool(one.report.missing_information) for one in results.ranked)
    groups = Counter(one.first for one in ranked)
    counts = [
        format_count(len(results.reports), "issue") + " triaged",
        format_count(len(ranked), "bug report"),
        f"{sum(one.report.best_place is not None for one in ranked):,} with a sure place in the code",
        f"{format_count(sum(count > 1 for count in groups.values()), 'group')} of the same bug",
        f"{questions:,} with open questions",
        f"{len(results.not_triaged):,} not triaged",
    ]
    query = format_code_span(plan.query) or "no query"
    listed = f"Listed on {plan.listed_at:%d %B %Y, %H:%M} UTC with {query}."
    lines = [
        f"## Backlog of {format_code_span(plan.repository)}",
        " · ".join(counts),
        f"{listed} {_describe_usage(results)}",
        *(f"> {escape_markdown(note)}" for note in [*plan.notes, *results.notes]),
    ]
    if plan.next_cursor:
        cursor = format_code_span(plan.next_cursor)
        lines.append(f"There are more issues. To go on, start the list with the cursor {cursor}.")
    return "\n\n".join(lines) + "\n\n"


def _describe_usage(results: BacklogResults) -> str:
    spent, caps = results.spent, results.plan.caps
    if not spent.tokens:
        return "Rules triaged them, without a model."
    by_rules = sum(not has_model_answer(report) for report in results.reports)
    rest = f" Rules triaged {format_count(by_rules, 'issue')} without a model." if by_rules else ""
    is_known = all(report.usage.usd is not None for report in results.reports)
    price = f"{format_dollars(spent.usd)} US dollars" if is_known else "an unknown number of US dollars"
    return (
        f"Models took {format_count(spent.tokens, 'token')} of at most {caps.tokens:,}, and {price} of at most "
        f"{format_dollars(caps.usd)}.{rest}"
    )


def _render_row(plan: BacklogPlan, one: RankedIssue) -> str:
    report = one.report
    issue = _link_issue(plan, one.number)
    if report.security:
        return f"| {issue} {SECURITY} | | |\n"
    same = _describe_same(plan, one)
    place, urls = _render_place(plan, report)
    severity = f" **{report.severity.lower()}**" if report.severity else ""
    cells = f"{same} | {place} | {', '.join(list_questions(report))} |\n"
    return _with_title(plan, f"| {issue}{severity}", report.issue.title, cells, urls)


def _describe_same(plan: BacklogPlan, one: RankedIssue) -> str:
    if one.others:
        return "<br>also " + ", ".join(_link_issue(plan, number) for number in one.others[:10])
    if not one.is_first:
        return f"<br>probably the same as {_link_issue(plan, one.first)}"
    if same := one.report.possible_duplicate:
        ended = f" ({escape_table_cell(same.ended, 60)})" if same.ended else ""
        return f"<br>possibly the same as {_link_issue(plan, same.number)}{ended}"
    return ""


def _render_place(plan: BacklogPlan, report: RunReport) -> tuple[str, list[str]]:
    place, how = find_place(report)
    if place is None:
        return "", []
    span = format_code_span(_shorten(place)).replace("|", "\\|")
    url = build_permalink(plan.server_url, plan.repository, report.commit, place)
    name = f"[{span}]({url})" if url and span else span
    return f"{name}<br>{how}", [url] if url else []


def _shorten(place: Span | str) -> str:
    """Return the file with its folder, or alone if that is long, and the first line."""
    path, line = (place.path, f":{place.start}") if isinstance(place, Span) else (place, "")
    for shown in ("/".join(path.split("/")[-2:]) + line, path.rpartition("/")[2] + line):
        if len(shown) <= MAX_PLACE_CHARS:
            return shown
    return f"…{shown[-MAX_PLACE_CHARS:]}"


def _link_issue(plan: BacklogPlan, number: int) -> str:
    # A link that leaves a trace would notify whoever follows the issue, each time that the table is written.
    url = build_reference_url(plan.server_url, plan.repository, f"issues/{number}")
    return f"[{number}]({url})" if url else str(number)


def _render_other(plan: BacklogPlan, report: RunReport) -> str:
    kind = KINDS.get(report.kind, report.kind)
    return _with_title(plan, f"| {_link_issue(plan, report.issue.number or 0)}", report.issue.title, f" | {kind} |\n")


def _render_left_out(plan: BacklogPlan, one: LeftOut) -> str:
    reason = escape_table_cell(one.reason, 200)
    return _with_title(plan, f"| {_link_issue(plan, one.number)}", one.title, f" | {reason} |\n")


def _with_title(plan: BacklogPlan, before: str, title: str, after: str, urls: Sequence[str] = ()) -> str:
    """Return the row with the issue's title; without it if anything in the row would act on GitHub."""
    row = f"{before} {escape_table_cell(title, MAX_TITLE_CHARS)}{after}"
    base = build_reference_url(plan.server_url, plan.repository, "issues/1")
    allowed = [*urls, *([base.removesuffix("1")] if base else [])]
    return f"{before}{after}" if find_active_content(_HEAD + row, allowed) else row


def find_place(report: RunReport) -> tuple[Span | str | None, str]:
    """Return the likeliest place, and how sure it is in words; None and nothing without one."""
    if place := report.best_place:
        line = Span(path=place.span.path, start=place.line, end=place.line) if place.line else place.span
        chance = f", {format_probability(place.probability)}" if place.probability >= MIN_CHANCE else ""
        return line, SIGN_REASONS[place.sign] + chance
    if not report.suspects:
        return None, ""
    first = report.suspects[0]
    is_argued = has_model_answer(report) and report.verdict in ("CONFIRMED", "UNCERTAIN") and bool(report.why)
    return first.span or first.path, "a model's analysis" if is_argued else "shares words, unsure"


def list_questions(report: RunReport) -> list[str]:
    """Return what the report lacks, in a word or two each."""
    return list(dict.fromkeys(QUESTIONS[missing.kind] for missing in report.missing_information))
