"""What a reader should know of a patch before anything else."""

from triage.domain.patch import BaseFile, FileVersion, PatchDraft
from triage.fix.patch.path_rules import show_path
from triage.fix.patch.tool_files import is_run_by_tools
from triage.fix.patch.unified_diff import count_changed_lines
from triage.proposal_ports import BaseFiles

LARGE_DIFF_LINES = 300
MANY_MODULES = 2
LONG_LINE_CHARS = 200
"""Of a new line. GitHub shows about so many beside each other; the rest has to be scrolled to."""


def list_warnings(draft: PatchDraft, files: BaseFiles) -> list[str]:
    """Return warnings of one sentence each. Names in them are a model's words."""
    counts = count_changed_lines(draft, files)
    lines = sum(count.added + count.removed for count in counts)
    number = "1 file" if len(counts) == 1 else f"{len(counts)} files"
    warnings = [f"Large diff: about {lines:,} lines in {number}."] if lines > LARGE_DIFF_LINES else []
    if len(draft.modules) > MANY_MODULES:
        warnings.append(f"Multi-module change: {', '.join(show_path(module.name) for module in draft.modules)}.")
    if run_by_tools := [show_path(file.path) for file in draft.files if is_run_by_tools(file.path)]:
        warnings.append(f"Runs when the project is installed, built or tested: {', '.join(run_by_tools)}.")
    if long := [show_path(file.path) for file in draft.files if _has_long_line(file, files)]:
        warnings.append(f"Lines of more than {LONG_LINE_CHARS} characters: {', '.join(long)}.")
    return warnings


def _has_long_line(file: FileVersion, files: BaseFiles) -> bool:
    base = files.read(file.path)
    known = set(base.text.splitlines()) if isinstance(base, BaseFile) else set()
    return any(len(line.expandtabs()) > LONG_LINE_CHARS and line not in known for line in file.text.splitlines())
