"""Suggestions that a person applies with a command, where GitHub has no panel for them.

They stand in our comment as canonical JSON, in a fold below the line that names them. Another line answers the last
command.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from triage.approval.proposal_id import compute_proposal_id, dump_canonical
from triage.comment.comment import join_comment, split_comment
from triage.comment.hidden_state import MAX_APPLIED, CommentState, hash_text, parse_state, render_state
from triage.comment.template import render_block
from triage.domain.effect import EditComment, LabelsMode, Suggestion, SuggestionOptions
from triage.domain.issue import Issue, IssueComment
from triage.domain.proposal import SuggestionProposal
from triage.domain.report import RunReport
from triage.safety.safe_markdown import format_code_block
from triage.writes.plan_suggestions import plan_suggestions, to_suggestions

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
    """Return what a proposal changes, in safe Markdown."""
    return render_block("blocks", "suggested_changes", proposal)


def remove_suggestions(body: str, proposal: SuggestionProposal) -> str:
    """Return our comment without these suggestions, which were applied or rejected."""
    head, found, tail = body.partition(render_suggestions(proposal))
    return f"{head.rstrip()}\n\n{tail.lstrip()}" if found else body


def render_answer(command: str, actor: str, text: str) -> str:
    """Return one line of Markdown. `text` is inert; command and actor may be anything."""
    return render_block("proposal", "answer", command, actor, text)


def plan_answer(number: int, comment: IssueComment, answer: str) -> EditComment:
    """Return the edit that puts an answer into our comment. Everything else stays."""
    parts = split_comment(comment.body)._replace(answer=answer)
    return EditComment(issue_number=number, comment_id=comment.comment_id or 0, body=join_comment(parts))


def plan_decided(
    number: int, comment: IssueComment, answer: str, proposal: SuggestionProposal, applied_id: str = ""
) -> EditComment:
    """Return the edit that also takes decided suggestions out, and remembers them.

    `applied_id` is the id of the proposal if it was applied.
    """
    state = (parse_state(comment.body) or CommentState()).with_suggestions(to_suggestions(proposal))
    if applied_id:
        state = state.model_copy(update={"applied": [*state.applied, applied_id][-MAX_APPLIED:]})
    parts = split_comment(comment.body)
    parts = parts._replace(
        state_line=render_state(state), report=remove_suggestions(parts.report, proposal), answer=answer
    )
    return EditComment(issue_number=number, comment_id=comment.comment_id or 0, body=join_comment(parts))
