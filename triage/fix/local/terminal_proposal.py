"""Renders a proposed patch for a terminal."""

from collections.abc import Iterator

from rich.console import Group
from rich.text import Text

from triage.domain.proposal import PatchDraft
from triage.fix.fix_ports import BaseFiles
from triage.fix.patch.check_patch import list_warnings
from triage.fix.patch.masked_files import has_masks
from triage.fix.patch.unified_diff import diff_files
from triage.safety.clean_text import clean_text

MAX_OUTPUT_LINES = 15
MASKED = "Values that look like secrets are masked here. The patch leaves them as they are in the file."
_STYLES = {"+++": "bold", "---": "bold", "diff": "bold", "+": "green", "-": "red", "@": "cyan"}
"""By the start of a line, as `git diff` colours it. The first that fits counts."""


def render_terminal_proposal(draft: PatchDraft, diff: str, files: BaseFiles, check_output: str = "") -> Group:
    """Return what would be done and the whole diff, without Markdown and without control characters.

    `check_output` is what a check printed that fails with the change.
    """
    note = [Text(f"\n{MASKED}", style="bold")] if has_masks(diff) else []
    return Group(*_render_parts(draft, files, check_output), *note, Text(), *_render_diff(diff))


def _render_parts(draft: PatchDraft, files: BaseFiles, check_output: str) -> Iterator[Text]:
    number = f" for #{draft.issue}" if draft.issue else ""
    yield Text(f"Proposed changes{number}: {_clean_line(draft.issue_title)}", style="bold")
    yield Text(_clean_line(draft.summary))
    if draft.root_cause:
        yield from _render_section("Cause", clean_text(draft.root_cause))
    for criterion in draft.acceptance_criteria if draft.kind == "Story" else []:
        yield _indent(f"- {_clean_line(criterion)}")
    yield Text("\nFiles", style="bold")
    for version, _, added, removed in diff_files(draft, files):
        new = " (new)" if version.is_new_file else ""
        description = f": {_clean_line(version.description)}" if version.description else ""
        yield _indent(f"{_clean_line(version.path)}{new}, +{added} -{removed}{description}")
    for warning in list_warnings(draft, files):
        yield Text(f"\n{_clean_line(warning)}", style="bold yellow")
    yield from _render_section("Checked", draft.checked or "No test of the project was run with this change.")
    if check_output:
        lines = clean_text(check_output).strip().split("\n")
        yield from _render_section("It printed, at the end", "\n".join(lines[-MAX_OUTPUT_LINES:]))
    if draft.no_test_reason or not draft.tests:
        yield from _render_section("No test", _clean_line(draft.no_test_reason or "The model wrote none."))
    if draft.unverified:
        yield from _render_section("Please look at", "\n".join(_clean_line(text) for text in draft.unverified))


def _render_section(title: str, text: str) -> Iterator[Text]:
    yield Text(f"\n{title}", style="bold")
    yield _indent(text)


def _render_diff(diff: str) -> Iterator[Text]:
    # Added lines have no invisible characters: the checks of a patch refuse them.
    for line in diff.removesuffix("\n").split("\n"):
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
        yield Text(clean_text(line).replace("\n", " "), style=style)


def _indent(text: str) -> Text:
    # No `Padding`: where nothing is wrapped, it cuts lines at the width of the terminal.
    return Text("\n".join(f"  {line}".rstrip() for line in text.split("\n")))


def _clean_line(text: str) -> str:
    return " ".join(clean_text(text).split())
