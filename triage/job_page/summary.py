"""Renders the page of the job: the report, a picture of the run, and its cost."""

from collections.abc import Sequence
from dataclasses import replace

from triage.comment.inert_page import MAX_SUMMARY_UNITS, ensure_inert
from triage.comment.permalink import sanitize_url
from triage.comment.sections import Page, render_page
from triage.comment.template import render_block
from triage.domain.effect import (
    AddLabels,
    EditComment,
    Effect,
    PostComment,
    RemoveComment,
    RemoveLabel,
    SuggestChanges,
    Suggestion,
)
from triage.domain.report import RunReport
from triage.job_page.diagram import render_diagram
from triage.job_page.notices import render_notice
from triage.job_page.run_details import build_detail_folds
from triage.safety.inert_markdown import escape_markdown, format_code_span


def render_summary(
    page: Page,
    report: RunReport,
    planned: Sequence[Effect] | None = None,
    suggestions: Sequence[Suggestion] = (),
    *,
    is_unsaid: bool = False,
) -> str:
    """Returns the page of the job: the page of the report, and how the run went.

    `planned` is for a dry run. `is_unsaid` says that the issue gets no comment, because nothing is sure enough.
    """
    blocks = [render_block("summary", "title", report, sanitize_url(report.issue.url))]
    if planned is not None:
        blocks.append(render_block("summary", "plan", [_describe_effect(effect) for effect in planned]))
    elif suggestions:
        blocks.append(render_block("summary", "suggested", _describe_suggestions(suggestions)))
    if is_unsaid:
        blocks.append(render_block("summary", "unsaid"))
    counted = report.citations.refused or report.citations.corrected
    found = [render_block("summary", "citations", report.citations)] if counted else []
    picture = render_diagram(report)
    folds = [fold for fold in page.folds if not fold.is_comment_only]
    folds += [fold for fold in build_detail_folds(report, picture) if fold.body]
    whole = replace(page, blocks=[*blocks, *page.blocks, *found], folds=folds)
    return render_page(whole, MAX_SUMMARY_UNITS, picture) + "\n"


def render_fix_page(proposal: str, report: RunReport) -> str:
    """Returns the page of the job that proposes a patch: `proposal` is safe Markdown, and how the run went."""
    folds = [fold.markdown for fold in build_detail_folds(report, "") if fold.body and not fold.is_open]
    details = ensure_inert("\n\n".join(folds), [], MAX_SUMMARY_UNITS)
    return render_notice("fix", proposal) + f"\n{details}\n"


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
        case RemoveLabel():
            return f"Label removed from issue {effect.issue_number}: {format_code_span(effect.label)}"
        case _:
            return type(effect).__name__


def _describe_suggestions(suggestions: Sequence[Suggestion]) -> str:
    def describe(one: Suggestion) -> str:
        reason = f"{one.confidence.lower()} confidence: {escape_markdown(one.rationale)}"
        return f"{one.kind} {format_code_span(one.name)} ({reason})"

    return ", ".join(map(describe, suggestions))
