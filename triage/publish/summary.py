"""Renders the page of the job: the report, a picture of the run, and its cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from triage.domain.effect import AddLabels, EditComment, Effect, LabelsMode, PostComment, RemoveComment
from triage.domain.report import RunReport
from triage.publish import run_details
from triage.publish.diagram import render_diagram
from triage.publish.hidden_state import PostedState
from triage.publish.permalink import sanitize_url
from triage.publish.sections import MAX_SUMMARY_UNITS, build_page, ensure_inert, render_page
from triage.publish.template import render_block
from triage.text.inert_markdown import format_code_span

Notice = Literal["skip", "index", "unfinished", "failure", "unpublished"]


def render_summary(
    report: RunReport,
    previous: PostedState | None = None,
    paths: Sequence[str] = (),
    *,
    labels: LabelsMode = "suggest",
    planned: Sequence[Effect] | None = None,
) -> str:
    """Returns the page with the report. `planned` is what a dry run would write."""
    content = build_page(report, previous, paths, labels, run_fold=False)
    blocks = [render_block("summary", "title", report, sanitize_url(report.issue.url))]
    if planned is not None:
        blocks.append(render_block("summary", "plan", [_describe_effect(effect) for effect in planned]))
    blocks += content.blocks
    picture = render_diagram(report)
    whole = replace(
        content,
        blocks=blocks,
        folds=[*content.folds, *(fold for fold in run_details.build_detail_folds(report, picture) if fold.body)],
    )
    return render_page(whole, MAX_SUMMARY_UNITS, picture) + "\n"


def render_notice(kind: Notice, *values: object) -> str:
    """Returns a short page without a report, or a part of one: `values` are the parameters of the macro `kind`."""
    return ensure_inert(render_block("summary", kind, *values), [], MAX_SUMMARY_UNITS) + "\n"


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
        case _:
            return type(effect).__name__
