"""Renders the report for a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from triage.comment import wording
from triage.comment.permalink import format_location
from triage.comment.sections import FEATURE_TITLE, NOTES_TITLE, PLACES_TITLE
from triage.domain.code import FileChange, FoundPlace
from triage.domain.past_issues import SimilarIssue
from triage.domain.report import RunReport
from triage.domain.run import Outcome, Status
from triage.job_page.diagram import AgentTurn, split_into_stages
from triage.job_page.summary import summarize_run
from triage.safety.clean_text import clean_text

_SEVERITY_STYLES = {"CRITICAL": "bold white on red", "HIGH": "bold red", "MEDIUM": "bold yellow", "LOW": "bold cyan"}


def render_terminal_page(report: RunReport) -> Group:
    """Returns the content of the comment without Markdown and without control characters."""
    return Group(*_build_parts(report))


def _build_parts(report: RunReport) -> Iterator[RenderableType]:
    yield from _render_list("Possibly the same as", [describe_issue(one) for one in [report.possible_duplicate] if one])
    yield _render_findings(report)
    yield from _render_list("Could the reporter add", [item.question for item in report.missing_information])
    if report.kind == "bug" and wording.has_model_answer(report):
        for title, text in (("Why", report.why), ("Fix idea", report.fix_idea), ("Check", report.check)):
            yield from _render_section(title, [text] if text else [])
    yield from _render_suspects(report)
    yield from _render_history(report)
    yield from _render_list("The project's notes on this", [f"{skill.name}: {skill.path}" for skill in report.skills])
    yield from _render_list("Next steps", [step for step in report.next_steps if step != report.check])
    if report.critique and report.kind == "bug":
        yield from _render_list(f"Critic: {report.critique.summary}", report.critique.gaps)
    yield from _render_list("External references", [f"{page.title}  {page.url}" for page in report.external_references])
    if report.status is Status.DEGRADED:
        yield from _render_list(NOTES_TITLE, report.notes)
    yield from _render_run(report)


def _render_findings(report: RunReport) -> Text:
    if report.security:
        return Text("This may be a security report. Do not publish what follows.", style="bold red")
    if report.kind != "bug":
        return Text(wording.KINDS[report.kind], style="bold")
    if wording.has_model_answer(report):
        line = Text(clean_text(report.summary), style="bold")
        if report.severity:
            line.append("  ")
            line.append(f" {report.severity} ", style=_SEVERITY_STYLES[report.severity])
        return line.append(f"  {wording.VERDICTS[report.verdict]}", style="dim")
    if report.found:
        return Text(clean_text(describe_found(report.found)), style="bold")
    return Text("Nothing in the report leads to one place in the code.", style="bold")


def describe_issue(issue: SimilarIssue) -> str:
    """Returns one line about a past issue, as plain text."""
    state = f"{issue.state}, {issue.ended}" if issue.ended else issue.state
    return f"#{issue.number} {issue.title} ({state}): {'; '.join(issue.reasons)}"


def _render_history(report: RunReport) -> Iterator[RenderableType]:
    window, later = report.regression_window, report.later_change
    if window:
        title = f"Changed in these files between {window.worked_in} and {window.broken_in}"
        yield from _render_list(title, [_describe_change(change) for change in window.commits])
    if later:
        released = f", released in {later.release}" if later.release else ""
        title = f"These lines have changed since {later.version}"
        yield from _render_list(title, [f"{_describe_change(later.commit)}{released}"])
    yield from _render_list("Who knows this code", [f"{owner.name} ({owner.reason})" for owner in report.owners])


def _describe_change(change: FileChange) -> str:
    return f"{change.commit[:8]} {change.subject} ({change.date[:10]})"


def describe_found(place: FoundPlace) -> str:
    """Returns one sentence about the place, as plain text."""
    where = place.span.path + (f":{place.line}" if place.line else "")
    inside = f", {place.symbol}" if place.symbol else ""
    if place.sign == "trace":
        lead = (
            "last frame of the stack trace in this repository is" if place.calls_before_error else "stack trace ends in"
        )
        return f"The {lead} {where}{inside}. {place.text}".strip()
    if place.sign == "message":
        return f"The message “{place.text}” comes from {where}{inside}."
    named = f"{place.text}, which it defines" if place.text else "this file"
    return f"Probably {where} (about {wording.format_probability(place.probability)}): the report names {named}."


def _render_suspects(report: RunReport) -> Iterator[RenderableType]:
    if not report.suspects:
        return
    yield Text()
    yield Text(_choose_places_title(report), style="bold")
    for suspect in report.suspects:
        location = clean_text(format_location(suspect.span or suspect.path))
        symbol = clean_text(suspect.symbol or "")
        # Not wrapped, so that a long path can be copied and clicked in a narrow terminal.
        yield Text.assemble("  ", (location, "bold"), "  ", (symbol, "dim"), no_wrap=True, overflow="ignore")
        yield Padding(Text(clean_text(suspect.reason)), (0, 0, 0, 6))


def _choose_places_title(report: RunReport) -> str:
    by_model = wording.has_model_answer(report)
    if report.kind == "feature_request":
        return FEATURE_TITLE if by_model else PLACES_TITLE
    return "Places" if report.found or by_model else PLACES_TITLE


def _render_run(report: RunReport) -> Iterator[RenderableType]:
    cost = "cost unknown" if report.usage.usd is None else f"${report.usage.usd:.4f}"
    verified = f"{report.citations.verified} of {report.citations.total} references verified"
    usage = f"{report.usage.tokens:,} tokens, {cost}, " if report.usage.calls else ""
    yield Text()
    yield Text(f"{verified} · {wording.describe_engine(report)} · {usage}{report.seconds:.1f} s", style="dim")
    yield Text(summarize_run(report), style="dim")
    turns = [_describe_turn(turn) for stage in split_into_stages(report) for turn in stage.turns]
    yield Text(", ".join(turns), style="dim")
    reason = f"a comment ({report.speaks})" if report.speaks else "no comment"
    yield Text(f"When it is opened, an issue like this gets {reason}.", style="dim")


def _describe_turn(turn: AgentTurn) -> str:
    first, last = turn.attempts[0], turn.attempts[-1]
    failed = "" if first.outcome is Outcome.SUCCESS else f" {wording.OUTCOMES[first.outcome]}"
    by_rules = ", by rules" if last is not first and last.engine == "rules" else ""
    seconds = sum(record.seconds for record in turn.attempts)
    return f"{turn.step.replace('_', ' ')}{failed}{by_rules} {seconds:.1f} s"


def _render_list(title: str, items: Sequence[str]) -> Iterator[RenderableType]:
    return _render_section(title, [f"- {item}" for item in items])


def _render_section(title: str, paragraphs: Sequence[str]) -> Iterator[RenderableType]:
    if paragraphs:
        yield Text()
        yield Text(clean_text(title), style="bold")
        yield from (_indent(Text(clean_text(paragraph))) for paragraph in paragraphs)


def _indent(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2))
