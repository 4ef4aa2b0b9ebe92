"""The job's page: the report, a picture of what ran, and what it cost."""

from collections.abc import Sequence
from dataclasses import replace

from triage.domain.effect import AddLabels, EditComment, Effect, LabelsMode, PostComment, RemoveComment
from triage.domain.report import RunReport
from triage.publish import run_details
from triage.publish.diagram import render_diagram
from triage.publish.hidden_state import PostedState
from triage.publish.permalink import sanitize_url
from triage.publish.sections import MAX_ITEMS, build_page
from triage.publish.size_limit import MAX_SUMMARY_UNITS, ensure_inert, fit_page
from triage.publish.template import render_block
from triage.text.inert_markdown import format_code_span


def render_summary(
    report: RunReport,
    previous: PostedState | None = None,
    paths: Sequence[str] = (),
    *,
    labels: LabelsMode = "suggest",
    planned: Sequence[Effect] | None = None,
) -> str:
    """The whole page. `planned` is what a dry run would have written."""
    content = build_page(report, previous, paths, labels, run_fold=False)
    blocks = [render_block("summary", "title", report, sanitize_url(report.issue.url))]
    blocks += [render_plan(planned)] if planned is not None else []
    blocks += content.blocks
    picture = render_diagram(report)
    whole = replace(
        content,
        blocks=blocks,
        folds=[*content.folds, *(fold for fold in run_details.build_detail_folds(report, picture) if fold.body)],
    )
    return ensure_inert(fit_page(whole, MAX_SUMMARY_UNITS), whole.links, MAX_SUMMARY_UNITS, picture) + "\n"


def render_skip_summary(reason: str) -> str:
    """Nothing was done, and why."""
    return ensure_inert(render_block("summary", "skip", reason), [], MAX_SUMMARY_UNITS) + "\n"


def render_index_summary(told: str, notes: Sequence[str]) -> str:
    """An index was made, and what did not go as asked."""
    return ensure_inert(render_block("summary", "indexed", told, notes[:MAX_ITEMS]), [], MAX_SUMMARY_UNITS) + "\n"


def render_unfinished_summary(message: str) -> str:
    """There is nothing to tell, and why."""
    return ensure_inert(render_block("summary", "unfinished", message), [], MAX_SUMMARY_UNITS) + "\n"


def render_failure_summary(message: str) -> str:
    """Nothing could be done, and who must mend what."""
    return ensure_inert(render_block("summary", "failure", message), [], MAX_SUMMARY_UNITS) + "\n"


def render_unpublished_notice(messages: Sequence[str]) -> str:
    """What GitHub did not take, to stand before the report."""
    return ensure_inert(render_block("summary", "unpublished", messages[:MAX_ITEMS]), [], MAX_SUMMARY_UNITS) + "\n"


def render_plan(effects: Sequence[Effect]) -> str:
    """What would be written to the issue, one line each; what it says is the report below."""
    return render_block("summary", "plan", [_describe_effect(effect) for effect in effects])


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
