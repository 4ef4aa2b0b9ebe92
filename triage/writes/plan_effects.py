"""Decides what a run writes: turns a report and a policy into effects.

The list leaves out a comment that says nothing new, labels that the issue has, and every change of a dry run.
"""

import json
from collections.abc import Mapping, Sequence

from triage.comment.comment import render_quiet_comment, render_visible_comment
from triage.comment.hidden_state import CommentState, parse_state
from triage.comment.sections import build_page
from triage.comment.wording import truncate
from triage.domain.effect import (
    Annotate,
    Effect,
    Policy,
    SetOutputs,
    Suggestion,
    WriteReport,
    WriteSummary,
)
from triage.domain.issue import IssueComment, Repository
from triage.domain.report import MAX_LABELS, RunReport
from triage.domain.run import Status, Usage
from triage.job_page.notices import EMPTY_OUTPUTS, skip_effects
from triage.job_page.summary import render_fix_page, render_summary
from triage.safety.clean_text import clean_text
from triage.writes.plan_issue_effects import (
    PlanInput,
    plan_issue_effects,
    post_or_edit,
    says_nothing_new,
)
from triage.writes.plan_suggestions import plan_suggestions
from triage.writes.suggestion_proposal import freeze_suggestions, plan_proposal, render_suggestions

MAX_TITLE_CHARS = 200
_FULL_WIDTH = str.maketrans({"`": None, "@": "＠", "$": "＄"})
MAX_WARNING_CHARS = 500


def with_known_repository(report: RunReport, repository: Repository, number: int | None) -> RunReport:
    """Returns the report with everything that links and labels are made of as the run itself knows it."""
    is_on_server = number is not None and repository.server_url
    url = f"{repository.server_url}/{repository.slug}/issues/{number}" if is_on_server else ""
    return report.model_copy(
        update={
            "repository": repository.slug,
            "server_url": repository.server_url,
            "commit": repository.commit,
            "issue": report.issue.model_copy(update={"number": number, "url": url}),
            "ticket": report.ticket.model_copy(
                update={"labels": _select_allowed(report.ticket.labels, repository.labels)}
            ),
        }
    )


def _select_allowed(labels: Sequence[str], allowed: Sequence[str]) -> list[str]:
    by_name = {label.casefold(): label for label in allowed}
    return list(dict.fromkeys(by_name[name.casefold()] for name in labels if name.casefold() in by_name))[:MAX_LABELS]


def plan_report(report: RunReport, given: PlanInput) -> list[Effect]:
    """Returns all effects of a report, in the order in which they are applied.

    It is a comment if `report.comment_reason` says why. The report of a cancelled run is one only if it has findings
    and there is no earlier comment. Links and labels are those of the repository, whatever the report says.
    """
    policy, previous, state = given.policy, given.previous, given.previous_state
    report = with_known_repository(report, given.repository, given.issue.number)
    if not given.may_write or (given.is_cancelled and (previous or not report.findings)):
        report = report.model_copy(update={"comment_reason": None})
    may_propose = given.may_write and not given.is_cancelled
    suggestions: list[Suggestion] = []
    if may_propose and given.options and given.options.can_suggest and not says_nothing_new(report, state):
        suggestions = plan_suggestions(report, policy.labels, given.options, state)
    proposal = None
    if may_propose and report.comment_reason:
        proposal = plan_proposal(report, policy.labels, given.issue, given.options, state)
    page = build_page(
        report,
        state,
        given.paths,
        "off" if any(one.kind == "label" for one in suggestions) else policy.labels,
        render_suggestions(proposal) if proposal else "",
        freeze_suggestions(proposal) if proposal else "",
    )
    report = report.model_copy(update={"comment": render_visible_comment(page) if report.comment_reason else None})
    writes = list(plan_issue_effects(report, page, given, suggestions))
    says_why_no_comment = may_propose and report.comment_reason is None
    summary = render_summary(
        page, report, writes if policy.dry_run else None, suggestions, says_why_no_comment=says_why_no_comment
    )
    url = f"{report.issue.url}#issuecomment-{previous.comment_id}" if previous and report.issue.url else ""
    why = f"The triage is incomplete. {' '.join(report.notes) or 'Part of the run failed.'}"
    warning = Annotate(level="warning", message=truncate(why, MAX_WARNING_CHARS))
    return [
        *([] if policy.dry_run else writes),
        WriteReport(json_text=dump_report(report)),
        WriteSummary(markdown=summary),
        *([warning] if report.status is Status.DEGRADED else []),
        SetOutputs(values=build_outputs(report) | {"comment-url": url}),
    ]


def dump_report(report: RunReport) -> str:
    """Returns the report as JSON. Lone surrogates, which JSON readers reject, become question marks."""
    text = json.dumps(report.model_dump(mode="json"), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def build_outputs(report: RunReport) -> dict[str, str]:
    """Returns the outputs of the action. Those that are known after writing are empty."""
    ticket = report.ticket
    return EMPTY_OUTPUTS | {
        "status": report.status.value,
        "engine": report.engine,
        "severity": report.severity or "",
        "confidence": f"{report.confidence:.2f}",
        "verdict": report.verdict or "",
        "suspect-files": _format_json_list(list(dict.fromkeys(suspect.path for suspect in report.suspects))),
        "ticket-title": _format_title(ticket.title),
        "ticket-labels": _format_json_list(ticket.labels),
        "ticket-assignee": ticket.assignee.lstrip("@"),
        "ticket-effort": ticket.effort if report.kind == "bug" else "",
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


def plan_quiet(number: int, previous: IssueComment | None, policy: Policy) -> list[Effect]:
    """Returns the effects of `/triage quiet`: our comment says that nothing more is written until somebody asks."""
    body = previous.body if previous else ""
    state = parse_state(body) or CommentState()
    needs_comment = policy.comment != "never" and not policy.dry_run and not state.quiet
    writes = [post_or_edit(number, previous, render_quiet_comment(body, state))] if needs_comment else []
    return [*writes, *skip_effects(f"Triage is quiet on issue {number}. A comment that says `/triage` wakes it.")]
