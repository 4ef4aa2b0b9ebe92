"""Ranks what the batches of a backlog found, and renders it as one Markdown page, for the job's summary.

Security reports come first, then the most severe ones, then what most people reported, then what has a sure place.
Reports of the same bug stand together.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import get_args

from triage.backlog.backlog_files import Backlog, LeftOut
from triage.domain.code import SIGN_REASONS, Span
from triage.domain.findings import Kind, MissingKind, Severity
from triage.domain.report import RunReport
from triage.domain.run import Usage
from triage.safety.active_content import find_active_content
from triage.safety.safe_markdown import escape_table_cell, format_code_span
from triage.say.decide import list_asked
from triage.say.links import build_permalink, build_reference_url
from triage.say.wording import format_count, format_dollars, has_model_answer

MAX_TITLE_CHARS = 120
MAX_PLACE_CHARS = 34
"""GitHub does not break code in a table: a longer one moves the next column out of sight."""
KINDS: dict[Kind | None, str] = {"feature_request": "feature request", "ci": "CI", "not_actionable": "says too little"}
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_HEAD = "| issue | place | open questions |\n|---|---|---|\n"
_OTHERS_HEAD = "| issue | kind |\n|---|---|\n"
_LEFT_OUT_HEAD = "| issue | reason |\n|---|---|\n"
SECURITY = "**may be a security report**"
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


def is_for_maintainers(report: RunReport) -> bool:
    """Return whether a report is about a bug or about security, and not a request or a question."""
    return report.security or report.may_be_bug_by_rules


def rank_issues(reports: Iterable[RunReport]) -> list[list[RunReport]]:
    """Return the reports of bugs and security, ranked: those of the same bug together, the oldest first.

    Each issue counts once.
    """
    by_number = {report.issue.number or 0: report for report in reports if is_for_maintainers(report)}
    groups: dict[int, list[RunReport]] = {}
    for number in sorted(by_number):
        groups.setdefault(_find_first(number, by_number), []).append(by_number[number])
    return sorted(groups.values(), key=_make_sort_key)


def _find_first(number: int, reports: dict[int, RunReport]) -> int:
    # A duplicate is always younger than what it repeats, so this ends.
    while (same := reports[number].possible_duplicate) and same.number in reports and same.number < number:
        number = same.number
    return number


def _make_sort_key(members: Sequence[RunReport]) -> tuple[object, ...]:
    """Return what groups are sorted by: security, severity, size, the surest place, the newest first."""
    chances = [report.best_place.probability if report.best_place else 0.0 for report in members]
    return (
        not any(report.security for report in members),
        min((_SEVERITIES.index(report.severity) for report in members if report.severity), default=len(_SEVERITIES)),
        -len(members),
        -max(chances),
        -(members[0].issue.number or 0),
    )


def render_backlog(backlog: Backlog, reports: Sequence[RunReport]) -> str:
    """Return the page of what all batches found."""
    groups, triaged = rank_issues(reports), {report.issue.number for report in reports}
    others = sorted((one for one in reports if not is_for_maintainers(one)), key=lambda one: -(one.issue.number or 0))
    not_begun = [
        LeftOut(number=issue.number or 0, title=issue.title, reason="Its batch did not get to it.")
        for issue in backlog.issues
        if issue.number not in triaged
    ]
    left_out = [*not_begun, *backlog.left_out]
    parts = [
        _render_head(backlog, reports, groups, len(left_out)),
        _HEAD + "".join(_render_row(backlog, one, group) for group in groups for one in group) if groups else "",
        _render_table("Probably no bugs", _OTHERS_HEAD, [_render_other(backlog, one) for one in others]),
        _render_table("Not triaged", _LEFT_OUT_HEAD, [_render_left_out(backlog, one) for one in left_out]),
    ]
    return "\n".join(filter(None, parts))


def _render_table(title: str, head: str, rows: Sequence[str]) -> str:
    return f"### {title} ({len(rows)})\n\n{head}{''.join(rows)}" if rows else ""


def _render_head(
    backlog: Backlog, reports: Sequence[RunReport], groups: Sequence[Sequence[RunReport]], left_out: int
) -> str:
    ranked = [*chain.from_iterable(groups)]
    counts = [
        format_count(len(reports), "issue") + " triaged",
        format_count(len(ranked), "bug report"),
        f"{sum(one.best_place is not None for one in ranked):,} with a sure place in the code",
        f"{format_count(sum(len(group) > 1 for group in groups), 'group')} of the same bug",
        f"{sum(bool(list_asked(one)) for one in ranked):,} with open questions",
        f"{left_out:,} not triaged",
    ]
    query = format_code_span(backlog.query) or "no query"
    listed = f"Listed on {backlog.listed_at:%d %B %Y, %H:%M} UTC with {query}."
    lines = [
        f"## Backlog of {format_code_span(backlog.repository)}",
        " · ".join(counts),
        f"{listed} {_describe_usage(reports)}",
    ]
    if backlog.next_query:
        lines.append(f"There may be more issues. To go on, list those of {format_code_span(backlog.next_query)}.")
    return "\n\n".join(lines) + "\n"


def _describe_usage(reports: Sequence[RunReport]) -> str:
    usage = sum((report.usage for report in reports), Usage())
    if not usage.tokens:
        return "Rules triaged them, without a model."
    by_rules = sum(not has_model_answer(report) for report in reports)
    rest = f" Rules triaged {format_count(by_rules, 'issue')} without a model." if by_rules else ""
    price = "an unknown number of" if usage.usd is None else format_dollars(usage.usd)
    return f"Models took {format_count(usage.tokens, 'token')} and {price} US dollars.{rest}"


def _render_row(backlog: Backlog, report: RunReport, group: Sequence[RunReport]) -> str:
    issue = _link_issue(backlog, report.issue.number or 0)
    if report.security:
        return f"| {issue} {SECURITY} | | |\n"
    pulls = (known.issue for known in report.statements if known.rule == "duplicate" and known.issue.is_pull_request)
    same = _describe_same(backlog, report, group) + "".join(
        f"<br>pull request {_link_issue(backlog, pull.number)} ({'open' if pull.state == 'open' else 'merged'})"
        for pull in pulls
    )
    place, urls = _render_place(backlog, report)
    severity = f" **{report.severity.lower()}**" if report.severity else ""
    cells = f"{same} | {place} | {', '.join(list_questions(report))} |\n"
    return _with_title(backlog, f"| {issue}{severity}", report.issue.title, cells, urls)


def _describe_same(backlog: Backlog, report: RunReport, group: Sequence[RunReport]) -> str:
    """Return how the issue is linked to others of the same bug; empty if it is not."""
    first, *others = group
    if report is not first:
        return f"<br>probably the same as {_link_issue(backlog, first.issue.number or 0)}"
    if others:
        return "<br>also " + ", ".join(_link_issue(backlog, one.issue.number or 0) for one in others[:10])
    if same := report.possible_duplicate:
        ended = f" ({escape_table_cell(same.ended, 60)})" if same.ended else ""
        return f"<br>possibly the same as {_link_issue(backlog, same.number)}{ended}"
    return ""


def _render_place(backlog: Backlog, report: RunReport) -> tuple[str, list[str]]:
    """Return the cell with the likeliest place, and the URLs in it."""
    place, how = find_place(report)
    if place is None:
        return "", []
    span = format_code_span(_shorten(place)).replace("|", "\\|")
    url = build_permalink(backlog.server_url, backlog.repository, report.commit, place)
    name = f"[{span}]({url})" if url and span else span
    return f"{name}<br>{how}", [url] if url else []


def _shorten(place: Span | str) -> str:
    """Return the file with its folder, or alone if that is long, and the first line."""
    path, line = (place.path, f":{place.start}") if isinstance(place, Span) else (place, "")
    for shown in ("/".join(path.split("/")[-2:]) + line, path.rpartition("/")[2] + line):
        if len(shown) <= MAX_PLACE_CHARS:
            return shown
    return f"…{shown[-MAX_PLACE_CHARS:]}"


def _link_issue(backlog: Backlog, number: int) -> str:
    # A link that leaves a trace would notify whoever follows the issue, each time that the table is written.
    url = build_reference_url(backlog.server_url, backlog.repository, f"issues/{number}")
    return f"[{number}]({url})" if url else str(number)


def _render_other(backlog: Backlog, report: RunReport) -> str:
    kind = KINDS.get(report.kind, report.kind or "uncertain")
    issue = _link_issue(backlog, report.issue.number or 0)
    return _with_title(backlog, f"| {issue}", report.issue.title, f" | {kind} |\n")


def _render_left_out(backlog: Backlog, one: LeftOut) -> str:
    reason = escape_table_cell(one.reason, 200)
    return _with_title(backlog, f"| {_link_issue(backlog, one.number)}", one.title, f" | {reason} |\n")


def _with_title(backlog: Backlog, before: str, title: str, after: str, urls: Sequence[str] = ()) -> str:
    """Return the row with the issue's title; without it if anything in the row would act on GitHub."""
    row = f"{before} {escape_table_cell(title, MAX_TITLE_CHARS)}{after}"
    base = build_reference_url(backlog.server_url, backlog.repository, "issues/1")
    allowed = [*urls, *([base.removesuffix("1")] if base else [])]
    return f"{before}{after}" if find_active_content(_HEAD + row, allowed) else row


def find_place(report: RunReport) -> tuple[Span | str | None, str]:
    """Return the likeliest place, and what leads to it; None and nothing without one."""
    if place := report.best_place:
        line = Span(path=place.span.path, start=place.line, end=place.line) if place.line else place.span
        return line, SIGN_REASONS[place.sign]
    if not report.suspects:
        return None, ""
    first = report.suspects[0]
    is_argued = has_model_answer(report) and report.verdict in ("CONFIRMED", "UNCERTAIN") and bool(report.why)
    return first.span or first.path, "a model's analysis" if is_argued else "shares words, unsure"


def list_questions(report: RunReport) -> list[str]:
    """Return what the report lacks, in a word or two each."""
    return list(dict.fromkeys(QUESTIONS[missing.kind] for missing in list_asked(report)))
