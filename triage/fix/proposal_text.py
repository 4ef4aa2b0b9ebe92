"""Renders a proposed patch: for the comment, for the job's page, and for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.domain.proposal import (
    MAX_REVISIONS,
    PROPOSAL_LIFETIME,
    ExampleOutcome,
    ExampleResult,
    Patch,
    Proposal,
    TestsOutcome,
)
from triage.fix.commit_text import CommitSummary
from triage.fix.patch.check_patch import list_warnings
from triage.fix.patch.unified_diff import FileDiff, cut_diff, diff_files
from triage.safety.safe_markdown import format_code_block
from triage.say.report_pages import Fold, utf16_length
from triage.say.template import ensure_safe, render_block
from triage.say.wording import format_count

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles

MAX_PART_UNITS = 25_000
"""Of the comment, in UTF-16 code units. The report has the rest."""
NOBODY_YET = "Written by a model, approved by nobody yet."
"""Begins the part with the commands."""
MAX_DIFF_UNITS = 15_000
MAX_DIFF_LINES = 200
_EXAMPLE_ENDS: dict[ExampleOutcome, str] = {
    "": "",
    "fixed": "failed before and passes with this change",
    "still": "still fails with this change",
    "other": "failed before, and fails in another way with this change",
    "broken": "did not fail before, and fails with this change",
    "changed": "did not fail before, and prints something else with this change",
    "unchanged": "did not fail before, and prints the same with this change",
    "not-run": "could not be run",
}


def describe_example(outcome: ExampleOutcome, reason: str = "") -> str:
    """Return what became of the report's example, as a sentence; empty if nobody ran it."""
    end = f"{_EXAMPLE_ENDS[outcome]}: {reason}" if reason else _EXAMPLE_ENDS[outcome]
    return f"The report's example {end}." if outcome else ""


def render_patch(patch: Patch, files: "BaseFiles") -> str:
    """Return a patch without a word on what happens next: heading, cause, files, warnings, diff."""
    return "\n\n".join(_render_parts(patch, files, diff_url=""))


def render_without_diff(patch: Patch, files: "BaseFiles") -> str:
    """Return the same with what was checked and without the diff."""
    *words, _ = _render_parts(patch, files, diff_url="")
    return "\n\n".join([*words, render_block("proposal", "checks", patch, "", "", "")])


def render_proposal(
    patch: Patch,
    files: "BaseFiles",
    proposal: Proposal,
    *,
    tests_outcome: TestsOutcome,
    diff_url: str,
    run_url: str,
    example_result: ExampleResult,
) -> str:
    """Return the part of the comment that shows a stored proposal and says how to answer it."""
    until = f"{proposal.created_at + PROPOSAL_LIFETIME:%Y-%m-%d}"
    said = describe_example(example_result.outcome, example_result.reason)
    parts = [
        *_render_parts(patch, files, diff_url),
        render_block("proposal", "checks", patch, tests_outcome, run_url, said),
        render_block("proposal", "commands", proposal.id, until, MAX_REVISIONS - patch.revision, NOBODY_YET),
    ]
    return "\n\n".join(filter(None, parts))


def _render_parts(patch: Patch, files: "BaseFiles", diff_url: str) -> list[str]:
    """Return the heading, what the patch does file by file, and the folded diff, which links to `diff_url` if given."""
    diffs = diff_files(patch, files)
    rows = [(one.file, one.added, one.removed) for one in diffs]
    body = render_block("proposal", "patch", patch, rows, list_warnings(patch, files))
    return [render_block("proposal", "heading", patch), body, _render_diff(diffs, diff_url)]


def _render_diff(diffs: Sequence[FileDiff], diff_url: str) -> str:
    """Return the folded diff, cut to what fits."""
    diff = "".join(one.text for one in diffs)
    max_lines = MAX_DIFF_LINES
    while utf16_length(shown := cut_diff(diff, max_lines)) > MAX_DIFF_UNITS and max_lines > 1:
        max_lines //= 2
    lines = format_count(sum(one.changed for one in diffs), "changed line")
    is_cut = shown.rstrip("\n") != diff.rstrip("\n")
    block = format_code_block(shown, "diff")
    is_escaped = shown.strip("\n") not in block
    return render_block("proposal", "diff", lines, block, diff_url, is_cut, is_escaped)


def render_pull_request_body(
    proposal_id: str,
    issue_url: str,
    actor: str,
    tests_outcome: TestsOutcome,
    words: CommitSummary,
    test_paths: Sequence[str],
    example_outcome: ExampleOutcome = "",
) -> str:
    """Return the body of a pull request: what it does, what made it, what proved it, and what to look at.

    `test_paths` are the files of the commit with the new test, if there is one.
    """
    said = describe_example(example_outcome)
    text = render_block(
        "proposal", "pull_request", issue_url, proposal_id, actor, tests_outcome, words, test_paths, said
    )
    return ensure_safe(text, [issue_url], MAX_PART_UNITS)


def fold_approved(part: str) -> str:
    """Return a shown proposal as it stays below the line that says what became of it: without the commands.

    `part` is ours alone, as `render_proposal` wrote it.
    """
    shown, found, _ = part.rpartition(NOBODY_YET)
    return f"\n\n{Fold('The change as it was approved', shown.strip()).markdown}" if found else ""
