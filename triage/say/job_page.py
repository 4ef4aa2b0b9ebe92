"""Renders the page of the job: the report, and tables of the run's steps, faults and requests."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triage.domain.effect import (
    AddLabels,
    EditComment,
    Effect,
    LabelsMode,
    PostComment,
    RemoveComment,
    SuggestChanges,
    Suggestion,
)
from triage.domain.report import RunReport
from triage.domain.run import Outcome, ToolExecution
from triage.safety.safe_markdown import escape_markdown, format_code_span
from triage.say import wording
from triage.say.links import sanitize_url
from triage.say.notices import render_notice
from triage.say.report_pages import Fold, build_job_page, render_page
from triage.say.template import MAX_SUMMARY_UNITS, ensure_safe, render_block

MAX_ROWS = 100


def build_detail_folds(report: RunReport) -> Iterator[Fold]:
    """Yield how the run went: steps, calls of tools, decisions, the index."""
    yield Fold("What ran", render_block("audit", "ran", summarize_run(report)), is_open=True)
    yield Fold(_summarize_usage(report), _render_table("steps", report.steps))
    look_ups = [(step, tool, _describe_answer(tool)) for step in report.steps for tool in step.tools]
    title = f"{wording.format_count(len(look_ups), 'tool call')}, and what was asked for"
    yield Fold(title, _render_table("look_ups", look_ups))
    decisions = f"{wording.format_count(len(report.decisions), 'decision')} of at most {report.limits.iterations}"
    yield Fold(decisions, _render_table("decisions", report.decisions))
    yield Fold("What was indexed", render_block("audit", "index", report.index) if report.index else "")


def _describe_answer(tool: ToolExecution) -> str:
    word = wording.OUTCOMES[tool.outcome]
    failed = f"{word}: {tool.error}" if tool.error else word
    return tool.output_summary if tool.outcome is Outcome.SUCCESS else failed


def summarize_run(report: RunReport) -> str:
    """Return the numbers of decisions, rounds and requests as a sentence."""
    total = len(report.decisions)
    if not total:
        return "Nobody decided anything: the run ended before that."
    rounds = max((step.round for step in report.steps), default=1)
    facts = [
        wording.format_count(total, "decision"),
        wording.format_count(rounds, "round") if rounds > 1 else "",
        _summarize_requests(report),
    ]
    return "; ".join(fact for fact in facts if fact) + "."


def _summarize_requests(report: RunReport) -> str:
    calls = sum(len(step.calls) for step in report.steps)
    tools = sum(len(step.tools) for step in report.steps)
    counts = [
        wording.format_count(calls, "request") + " to models" if calls else "",
        wording.format_count(tools, "tool call") if tools else "",
    ]
    return ", ".join(count for count in counts if count)


def _summarize_usage(report: RunReport) -> str:
    used, limits = report.usage, report.limits
    steps = wording.format_count(len(report.steps), "step")
    facts = [f"{steps}: {report.seconds:.1f} of {limits.run_seconds:.0f} s"]
    if used.calls or used.tokens:
        price = "price unknown"
        if used.usd is not None:
            price = f"{wording.format_dollars(used.usd)} of {wording.format_dollars(limits.usd)} US dollars"
        facts += [f"{used.tokens:,} of {limits.tokens:,} tokens", price]
    return ", ".join(facts)


def _render_table(macro: str, rows: Sequence[object]) -> str:
    if not rows:
        return ""
    rest = f"\n\nThe first {MAX_ROWS} of {len(rows):,}: the rest stands in the JSON report."
    return render_block("audit", macro, rows[:MAX_ROWS]) + (rest if len(rows) > MAX_ROWS else "")


def render_job_page(
    report: RunReport,
    mode: LabelsMode = "off",
    planned: Sequence[Effect] | None = None,
    suggestions: Sequence[Suggestion] = (),
    *,
    says_why_no_comment: bool = False,
) -> str:
    """Return the page of the job: all that was found, and how the run went.

    `planned` is for a dry run. `says_why_no_comment` is for an issue where nothing that was found speaks.
    """
    page = build_job_page(report, mode)
    blocks = [render_block("summary", "title", report, sanitize_url(report.issue.url))]
    if planned is not None:
        blocks.append(render_block("summary", "plan", [_describe_effect(effect) for effect in planned]))
    elif suggestions:
        blocks.append(render_block("summary", "suggested", _describe_suggestions(suggestions)))
    blocks += page.blocks
    if says_why_no_comment:
        blocks.append(render_block("summary", "unsaid", report))
    if report.citations.refused:
        blocks.append(render_block("summary", "citations", report.citations))
    folds = [*page.folds, *(fold for fold in build_detail_folds(report) if fold.body)]
    return render_page(replace(page, blocks=blocks, folds=folds), MAX_SUMMARY_UNITS) + "\n"


def render_fix_page(proposal: str, report: RunReport) -> str:
    """Return the page of the job that proposes a patch: `proposal` is safe Markdown, and how the run went."""
    folds = [fold.markdown for fold in build_detail_folds(report) if fold.body and not fold.is_open]
    details = ensure_safe("\n\n".join(folds), [], MAX_SUMMARY_UNITS)
    return render_notice("job", proposal, "fix") + f"\n{details}\n"


def _describe_effect(effect: Effect) -> str:
    match effect:
        case PostComment():
            return f"A new comment on issue {effect.issue_number} of {len(effect.body):,} characters"
        case EditComment():
            return f"The comment {effect.comment_id} on issue {effect.issue_number}, {len(effect.body):,} characters"
        case RemoveComment():
            return f"The comment {effect.comment_id} on issue {effect.issue_number} deleted, a second one of ours"
        case AddLabels():
            return f"Labels added to issue {effect.issue_number}: {', '.join(map(format_code_span, effect.labels))}"
        case SuggestChanges():
            return f"Suggested on issue {effect.issue_number}: {_describe_suggestions(effect.suggestions)}"
        case _:
            return type(effect).__name__


def _describe_suggestions(suggestions: Sequence[Suggestion]) -> str:
    def describe(one: Suggestion) -> str:
        reason = f"{one.confidence.lower()} confidence: {escape_markdown(one.rationale)}"
        return f"{one.kind} {format_code_span(one.name)} ({reason})"

    return ", ".join(map(describe, suggestions))
