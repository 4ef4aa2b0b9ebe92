"""What a reader should know of a patch before anything else."""

from collections.abc import Iterator

from triage.base.quote_value import MAX_QUOTED_CHARS, quote_value
from triage.domain.proposal import BaseFile, FileVersion, PatchDraft
from triage.fix.patch.path_rules import show_path
from triage.fix.patch.tool_files import is_run_by_tools
from triage.fix.patch.unified_diff import count_changed_lines
from triage.proposal_ports import BaseFiles
from triage.safety.secrets.masked_values import find_masks

LARGE_DIFF_LINES = 300
MANY_MODULES = 2
LONG_LINE_CHARS = 200
"""Of a new line. GitHub shows about so many beside each other; the rest has to be scrolled to."""
UNUSUAL_LINE_CHARS = 120
"""Of a new line in a file that has no line as long: narrow windows show no more."""
MAX_NAMED = 3


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
    for chars in (LONG_LINE_CHARS, UNUSUAL_LINE_CHARS):
        long = ", ".join(show_path(file.path) for file in draft.files if _find_long_line(file, files) == chars)
        warnings += [f"Lines of more than {chars} characters: {long}."] if long else []
    moved = dict.fromkeys(warning for file in draft.files for warning in _find_moved_masks(file, files))
    return warnings + list(moved)[:MAX_NAMED]


def _find_long_line(file: FileVersion, files: BaseFiles) -> int:
    """Which of the two limits a new line exceeds; 0 for none."""
    known = set(_read_text(file, files).splitlines())
    longest = max((len(line.expandtabs()) for line in file.text.splitlines() if line not in known), default=0)
    if longest > LONG_LINE_CHARS:
        return LONG_LINE_CHARS
    is_unusual = longest > max([UNUSUAL_LINE_CHARS, *(len(line.expandtabs()) for line in known)])
    return UNUSUAL_LINE_CHARS if is_unusual else 0


def _find_moved_masks(file: FileVersion, files: BaseFiles) -> Iterator[str]:
    # The value may have become that of another name, such as one that is sent somewhere.
    known = set(_list_masks_with_words(_read_text(file, files)))
    for mask, words in _list_masks_with_words(file.text):
        if (mask, words) not in known:
            shown = quote_value(words[-MAX_QUOTED_CHARS:])
            yield f"The value of {mask} in {show_path(file.path)} stands after other words now: {shown}."


def _list_masks_with_words(text: str) -> Iterator[tuple[str, str]]:
    """Each mask and what stands before it: in its line, or else in the line above."""
    above = ""
    for line in text.splitlines():
        for mask in find_masks(line):
            yield mask[0], line[: mask.start()].strip(" \t\"'") or above
        above = line.strip() or above


def _read_text(file: FileVersion, files: BaseFiles) -> str:
    base = files.read(file.path)
    return base.text if isinstance(base, BaseFile) else ""
