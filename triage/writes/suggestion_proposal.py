"""Suggestions that a person applies with a command, where GitHub has no panel for them.

They stand in our comment as canonical JSON, in a fold below the line that names them.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from triage.approval.proposal_id import compute_proposal_id, dump_canonical
from triage.comment.hidden_state import CommentState, hash_text
from triage.comment.template import render_block
from triage.domain.effect import LabelsMode, Suggestion, SuggestionOptions
from triage.domain.issue import Issue
from triage.domain.proposal import SuggestionProposal
from triage.domain.report import RunReport
from triage.safety.safe_markdown import format_code_block
from triage.writes.plan_suggestions import plan_suggestions

MAX_JSON_CHARS = 4_000


def plan_proposal(
    report: RunReport, mode: LabelsMode, issue: Issue, options: SuggestionOptions | None, known: CommentState | None
) -> SuggestionProposal | None:
    """Return what our comment proposes; None if nothing is, or if GitHub's own panel has it."""
    if issue.number is None or "/" not in report.repository or (options and options.can_suggest):
        return None
    present = {label.casefold() for label in issue.labels}
    free = [label for label in report.ticket.labels if label.casefold() not in present]
    # Where GitHub does not say what is possible, labels are left: they are read from the repository.
    options = options or SuggestionOptions(can_suggest=False, labels=free)
    return build_proposal(report, issue, plan_suggestions(report, mode, options, known))


def build_proposal(report: RunReport, issue: Issue, wanted: Sequence[Suggestion]) -> SuggestionProposal | None:
    if not wanted:
        return None
    return SuggestionProposal(
        repository=report.repository,
        issue=issue.number or 0,
        issue_text=hash_text(issue.title, issue.body),
        created_at=report.started_at.replace(microsecond=0),
        labels=[one.name for one in wanted if one.kind == "label"],
        issue_type=next((one.name for one in wanted if one.kind == "type"), ""),
        assignee=next((one.name for one in wanted if one.kind == "assignee"), ""),
    )


def render_suggestions(proposal: SuggestionProposal) -> str:
    """Return what the comment shows: the suggestions, the commands, and the frozen value itself."""
    json_block = format_code_block(dump_canonical(proposal), "json")
    return render_block("blocks", "suggestions", proposal, compute_proposal_id(proposal), json_block)


def find_proposals(body: str) -> list[SuggestionProposal]:
    """Return the proposals in our comment. One that is not exactly as we write it is none."""
    found = []
    for line in body.splitlines():
        if not line.startswith("{") or len(line) > MAX_JSON_CHARS:
            continue
        try:
            proposal = SuggestionProposal.model_validate_json(line)
        except ValidationError:
            continue
        if dump_canonical(proposal) == line:
            found.append(proposal)
    return found


def describe_proposal(proposal: SuggestionProposal) -> str:
    """Return what a proposal changes, in inert Markdown."""
    return render_block("blocks", "suggested_changes", proposal)


def remove_suggestions(body: str, proposal: SuggestionProposal) -> str:
    """Return our comment without these suggestions, which were applied or rejected."""
    head, found, tail = body.partition(render_suggestions(proposal))
    return f"{head.rstrip()}\n\n{tail.lstrip()}" if found else body
