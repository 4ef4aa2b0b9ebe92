"""Decides whether a draft may be shown and stored, and what a reader should know of it before anything else.

It trusts nothing: every job that uses a draft asks again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from triage.base.text import MAX_QUOTED_CHARS, quote_value
from triage.domain.proposal import MAX_FILES, AffectedModule, FileVersion, ModuleSummary, PatchDraft
from triage.fix.fix_ports import BaseFiles
from triage.fix.patch.file_rules import find_content_problems
from triage.fix.patch.masked_files import read_base_text
from triage.fix.patch.path_rules import (
    find_path_problem,
    find_spelling_problem,
    fold_path,
    is_inside,
    is_run_by_tools,
    show_path,
)
from triage.fix.patch.unified_diff import diff_file, diff_files
from triage.safety.secrets.likely_secrets import find_masks, redact_likely_secrets

MAX_CHANGED_LINES = 3_000
MAX_ENTRY_LINES = 15
"""Of a changelog that is in none of the modules."""


def find_problems(
    draft: PatchDraft, files: BaseFiles, modules: Sequence[ModuleSummary], protected: Sequence[str]
) -> list[str]:
    """Return everything that forbids the draft, each in a sentence that says what to do; empty for a good one.

    Args:
        draft: May be hostile.
        files: Of the base commit.
        modules: All of the repository. The draft names those that it changes.
        protected: Gitignore patterns of the project.
    """
    if draft.base != files.commit:
        return [f"The patch was made for commit {draft.base[:12]}, not for {files.commit[:12]}: make it again."]
    problems = [*_find_odd_lists(draft), *_find_odd_modules(draft, modules)]
    if len(draft.files) <= MAX_FILES:
        too_large = list(_find_size(draft, files))
        # The content of a large patch takes a minute to check.
        contents = [] if too_large else _find_file_problems(draft, files, modules, protected)
        problems += [*too_large, *contents, *_find_odd_tests(draft, files), *_find_words_problems(draft)]
    return list(dict.fromkeys(problems))


def _find_odd_lists(draft: PatchDraft) -> Iterator[str]:
    if len(draft.files) > MAX_FILES:
        yield f"The patch has {len(draft.files)} files; {MAX_FILES} are allowed: leave some out."
    if not draft.files:
        yield "The patch changes nothing: list the files that it changes."
    counts = Counter(file.path for file in draft.files)
    # Two versions of a file would be two commits, of which only the last one is shown.
    yield from (f"{show_path(path)} is listed twice: list it once." for path in counts if counts[path] > 1)
    paths = list(counts)
    folded = Counter(map(fold_path, paths))
    for path in paths:
        if folded[fold_path(path)] > 1:
            yield f"{show_path(path)} differs from another file of the patch by upper and lower case only: rename one."
        if any(other.startswith(f"{path}/") for other in paths):
            yield f"{show_path(path)} is a file and a folder of the patch: rename one."


def _find_odd_modules(draft: PatchDraft, modules: Sequence[ModuleSummary]) -> Iterator[str]:
    known = {module.name for module in modules}
    if not draft.modules:
        yield "The patch names no module: name those that it changes."
    for module in draft.modules:
        if module.name not in known:
            yield f"{show_path(module.name)} is no module of the repository: name one of those that are listed."


def limit_places(
    chosen: Sequence[AffectedModule], files: BaseFiles, modules: Sequence[ModuleSummary], protected: Sequence[str]
) -> Callable[[str, bool], str]:
    """Return what says why a patch may not write a path, which is of a new file or not; see `find_path_problem`."""
    names = {module.name for module in chosen}
    inside = [module for module in modules if module.name in names]

    def find_place_problem(path: str, is_new: bool) -> str:
        return find_path_problem(
            path,
            files,
            is_new=is_new,
            module_paths=[place for module in inside for place in module.paths],
            test_paths=[place for module in inside for place in module.tests],
            protected=protected,
        )

    return find_place_problem


def _find_file_problems(
    draft: PatchDraft, files: BaseFiles, modules: Sequence[ModuleSummary], protected: Sequence[str]
) -> Iterator[str]:
    find_place_problem = limit_places(draft.modules, files, modules, protected)
    names = {module.name for module in draft.modules}
    places = [place for module in modules if module.name in names for place in (*module.paths, *module.tests)]
    for file in draft.files:
        problem = find_place_problem(file.path, file.is_new_file)
        if not problem and not file.is_new_file and not is_inside(file.path, places):
            problem = _find_entry_problem(file, files)
        base = None if problem else files.read_original(file.path)
        yield from [problem] if problem else find_content_problems(file, base, files)


def _find_entry_problem(file: FileVersion, files: BaseFiles) -> str:
    """Return why a file outside of all modules, which is a changelog, gets more than an entry; empty if it does not."""
    diff = diff_file(file, read_base_text(file.path, files))
    if not diff.removed and diff.added <= MAX_ENTRY_LINES:
        return ""
    return f"{file.path} is a changelog outside of the modules: add at most {MAX_ENTRY_LINES} lines, and remove none."


def _find_odd_tests(draft: PatchDraft, files: BaseFiles) -> Iterator[str]:
    for file in draft.tests:
        if not find_spelling_problem(file.path) and not files.is_test(file.path):
            yield f"{file.path} is no test by its folder and name: list it with the changes, or give it a test's name."
    for file in draft.changes:  # else tests could differ between the two commits
        if not find_spelling_problem(file.path) and files.is_test(file.path):
            yield f"{file.path} is a test by its folder and name: list it with the tests."


def _find_size(draft: PatchDraft, files: BaseFiles) -> Iterator[str]:
    total = sum(one.changed for one in diff_files(draft, files))
    if total > MAX_CHANGED_LINES:
        yield f"The patch changes {total:,} lines; {MAX_CHANGED_LINES:,} are allowed: make a smaller one."


def _find_words_problems(draft: PatchDraft) -> Iterator[str]:
    # They become the messages of commits.
    words = {"summary": draft.summary, "root_cause": draft.root_cause or ""}
    words |= {f"description of {show_path(file.path)}": file.description for file in draft.changes}
    for name, text in {**words, "words of the revision": draft.revised_after}.items():
        if redact_likely_secrets(text) != text:
            yield f"The {name} has what looks like a secret: leave it out."


LARGE_DIFF_LINES = 300
MANY_MODULES = 2
LONG_LINE_CHARS = 200
"""Of a new line. GitHub shows about so many beside each other; the rest has to be scrolled to."""
UNUSUAL_LINE_CHARS = 120
"""Of a new line in a file that has no line as long: narrow windows show no more."""
MAX_NAMED = 3


def list_warnings(draft: PatchDraft, files: BaseFiles) -> list[str]:
    """Return warnings of one sentence each. Names in them are a model's words."""
    lines = sum(one.changed for one in diff_files(draft, files))
    number = "1 file" if len(draft.files) == 1 else f"{len(draft.files)} files"
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
    known = set(read_base_text(file.path, files).splitlines())
    longest = max((len(line.expandtabs()) for line in file.text.splitlines() if line not in known), default=0)
    if longest > LONG_LINE_CHARS:
        return LONG_LINE_CHARS
    is_unusual = longest > max([UNUSUAL_LINE_CHARS, *(len(line.expandtabs()) for line in known)])
    return UNUSUAL_LINE_CHARS if is_unusual else 0


def _find_moved_masks(file: FileVersion, files: BaseFiles) -> Iterator[str]:
    # The value may have become that of another name, such as one that is sent somewhere.
    known = set(_list_masks_with_words(read_base_text(file.path, files)))
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
