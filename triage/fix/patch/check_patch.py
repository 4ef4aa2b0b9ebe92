"""Decides whether a draft may be shown and stored, and what a reader should know of it before anything else.

It trusts nothing: every job that uses a draft asks again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from triage.domain.proposal import MAX_FILES, AffectedModule, BaseFile, FileVersion, ModuleSummary, PatchDraft
from triage.fix.fix_ports import BaseFiles
from triage.fix.patch.file_rules import find_content_problems
from triage.fix.patch.path_rules import find_path_problem, is_inside, show_path
from triage.fix.patch.unified_diff import diff_file, diff_files, read_base_text
from triage.safety.secrets.likely_secrets import redact_likely_secrets

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
    folded = Counter(map(str.casefold, paths))
    for path in paths:
        if folded[path.casefold()] > 1:
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
        base = files.read(file.path)
        yield from (
            [problem] if problem else find_content_problems(file, base if isinstance(base, BaseFile) else None, files)
        )


def _find_entry_problem(file: FileVersion, files: BaseFiles) -> str:
    """Return why a file outside of all modules, which is a changelog, gets more than an entry; empty if it does not."""
    diff = diff_file(file, read_base_text(file.path, files))
    if not diff.removed and diff.added <= MAX_ENTRY_LINES:
        return ""
    return f"{file.path} is a changelog outside of the modules: add at most {MAX_ENTRY_LINES} lines, and remove none."


def _find_odd_tests(draft: PatchDraft, files: BaseFiles) -> Iterator[str]:
    for file in draft.tests:
        if not files.is_test(file.path):
            shown = show_path(file.path)
            yield f"{shown} is no test by its folder and name: list it with the changes, or give it a test's name."
    for file in draft.changes:  # else tests could differ between the two commits
        if files.is_test(file.path):
            yield f"{show_path(file.path)} is a test by its folder and name: list it with the tests."


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
LONG_LINE_CHARS, UNUSUAL_LINE_CHARS = 200, 120
"""Of a new line. GitHub shows about 200 beside each other, narrow windows 120; the rest has to be scrolled to. A line
between the two is a warning only where the file has none as long."""


def list_warnings(draft: PatchDraft, files: BaseFiles) -> list[str]:
    """Return warnings of one sentence each. Names in them are a model's words."""
    lines = sum(one.changed for one in diff_files(draft, files))
    number = "1 file" if len(draft.files) == 1 else f"{len(draft.files)} files"
    warnings = [f"Large diff: about {lines:,} lines in {number}."] if lines > LARGE_DIFF_LINES else []
    if len(draft.modules) > MANY_MODULES:
        warnings.append(f"Multi-module change: {', '.join(show_path(module.name) for module in draft.modules)}.")
    if long := [show_path(file.path) for file in draft.files if _has_long_line(file, files)]:
        warnings.append(f"Lines of more than {UNUSUAL_LINE_CHARS} characters: {', '.join(long)}.")
    return warnings


def _has_long_line(file: FileVersion, files: BaseFiles) -> bool:
    known = set(read_base_text(file.path, files).splitlines())
    usual = max((len(line.expandtabs()) for line in known), default=0)
    limit = min(LONG_LINE_CHARS, max(UNUSUAL_LINE_CHARS, usual))
    return any(len(line.expandtabs()) > limit for line in file.text.splitlines() if line not in known)
