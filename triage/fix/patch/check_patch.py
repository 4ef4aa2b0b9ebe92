"""Decides whether a patch may be shown and stored, and what a reader should know of it before anything else.

A patch writes tracked source, tests, documentation and changelogs, or new ones beside them. A rule that forbids it is a
sentence that says what to do. Every job that uses a patch asks again.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pathspec import PathSpec

from triage.base.text import quote_value
from triage.domain.proposal import MAX_FILES, Patch, PatchedFile, TextFile
from triage.fix.base_files import CHANGELOG, CHANGELOG_ENTRY, BaseFiles, has_allowed_kind
from triage.fix.patch.apply_edits import MIXED_ENDS, find_line_ends
from triage.fix.patch.modules import Module, find_modules, is_below
from triage.fix.patch.unified_diff import diff_files, read_base_text
from triage.safety.clean_text import find_invisible, find_mixed_words
from triage.safety.secrets.likely_secrets import redact_likely_secrets

MAX_PATH_CHARS = 200
_SHOWN_CHARS = 100
_NEW_NAME = re.compile(r"(?!.*\$\()[\w@$([](?:[\w.@+$()[\] -]*[\w@+$)\]-])?", re.ASCII)
"""Of a folder or file: none that begins with a dot, nor one that runs a command where a workflow puts the names of
changed files into a script."""


def check_path(
    path: str,
    files: BaseFiles,
    *,
    is_new: bool,
    modules: Sequence[Module],
    chosen: Collection[str],
    protected: Sequence[str],
) -> str:
    """Return why a patch may not write a file, in one sentence; empty if it may.

    Args:
        path: Relative to the top folder. May be hostile.
        files: Those of the base commit.
        is_new: The patch adds the file.
        modules: All of the repository.
        chosen: The names of those that the patch is limited to. Their tests may stand outside of all modules, and in
            one around theirs.
        protected: Gitignore patterns of the project.
    """
    base, shown = files.read(path), show_path(path)
    if isinstance(base, str):
        return f"{shown} cannot be changed: it is {base}."
    if is_new != (base is None):
        return f"{shown} {'exists already' if is_new else 'does not exist'}: edit files that exist, and add others."
    if not path.isprintable() or '"' in path or "\\" in path:
        return f"{shown} is no plain name: use another path."
    if any(part.startswith(".") for part in path.split("/")):
        return f"{shown} is below a name that begins with a dot, such as workflows: leave it as it is."
    if problem := _check_new_path(path, files) if is_new else "":
        return problem
    if _is_protected(path, protected):
        return f"{shown} is one of the project's protected paths: leave it as it is."
    found = find_modules(path, modules)
    chosen_paths = [one for module in modules if module.name in chosen for one in module.paths]
    encloses_chosen = all(any(is_below(one, its) for one in chosen_paths for its in module.paths) for module in found)
    is_within = any(module.name in chosen for module in found) or (files.is_test(path) and encloses_chosen)
    if not is_within and not _is_changelog(path, files, is_new=is_new):
        allowed = ", ".join(chosen_paths) or "no module"
        return f"{shown} is outside the modules that may change ({allowed}): leave it as it is."
    if not has_allowed_kind(path):
        return f"{shown} is no source, test, documentation or changelog: leave it as it is."
    reason = files.check_text(path, base.text if base else "")
    return f"{shown} is not edited by hand ({reason}): leave it as it is." if reason else ""


def _is_changelog(path: str, files: BaseFiles, *, is_new: bool) -> bool:
    """Whether it is a changelog that exists, or a new file in a folder of entries that exists."""
    if is_new:
        return CHANGELOG_ENTRY.search(path) is not None and files.read(path.rpartition("/")[0]) is not None
    return CHANGELOG.search(path) is not None


def show_path(path: str) -> str:
    """Return a path for a message: in quotes and with escapes unless it is plain."""
    shown = path if len(path) <= _SHOWN_CHARS else f"{path[:_SHOWN_CHARS]}…"
    return shown if shown.isprintable() and not find_invisible(shown) and "`" not in shown else ascii(shown)


def _check_new_path(path: str, files: BaseFiles) -> str:
    """Return why there can be no new file, which is in its folder, or in a new one."""
    shown, (*folders, name) = show_path(path), path.split("/")
    names = [name]
    while folders:
        found = files.read("/".join(folders))
        if found == "a folder":
            break
        if found is not None:
            return f"{shown} is below {'/'.join(folders)}, which is no folder: use another path."
        names.append(folders.pop())
    if len(path) > MAX_PATH_CHARS or not all(map(_NEW_NAME.fullmatch, names)):
        return f"{shown} is no plain name: use ASCII letters, digits and `_-.@+`, at most {MAX_PATH_CHARS} characters."
    return ""


def _is_protected(path: str, protected: Sequence[str]) -> bool:
    lower = tuple(one.lower() for one in protected)
    return _compile_gitignore(tuple(protected)).match_file(path) or _compile_gitignore(lower).match_file(path.lower())


@lru_cache(maxsize=8)
def _compile_gitignore(patterns: tuple[str, ...]) -> "PathSpec[Any]":
    # The default backend backtracks: a hostile pattern would keep it busy for hours.
    return PathSpec.from_lines("gitignore", patterns, backend="re2")


_SLASH = r"(?:/|&sol;|\\u002f|\\x2f)"
_COLON = r"(?::|&colon;|\\u003a|\\x3a)"
_ADDRESS = re.compile(
    rf"(?P<start>[a-z][a-z0-9+.-]{{1,20}}{_COLON}\\?{_SLASH}\\?{_SLASH}"
    rf"|\b(?:https?|wss?|ftps?){_COLON}\s*(?:{_SLASH}|\\|(?<=:)(?=[\w-]{{1,63}}\.\w))"
    r"|(?<=[\"'`(=])(?=\\{0,2}/)[\\/]{2,8}(?=[\w-]{2,63}\.|\[)"
    r"|(?:(?<=[\"'`(=])\\{4}|(?<=[r@][\"'])\\{2})(?=[\w-]{2,63}[\\.][\w\\])"
    r"|(?<=[=(:][ \t])//(?=[\w-]{1,63}(?:\.[\w-]{1,63})+\.?(?:[/\s>)?#\"']|:\d|\Z))"
    r"|\bwww\d?\.(?=\w)|(?<![\w.+-])[\w.+-]{1,64}@(?=[\w-]{1,63}(?:\.[\w-]{1,63})+:[\w~/.-]))"
    r"(?:[^\s\"'`<>]|[\"'`<>](?=[^\s/@]{0,64}@))*",
    re.IGNORECASE,
)
"""A scheme with its slashes, as browsers take them too, slashes behind a quote, also those of Windows, which sends a
host its user's login, or `git@host:path`; up to a blank or a quote, unless what stands before that is a user's name.
Behind a blank, two slashes mostly begin a comment."""
_END = ".,:;!?)]}|*_\\"
"""What ends a sentence or a call and no address."""
_NOBODYS = re.compile(
    r"(?:(?:[a-z+]+:)?//)?(?:[\w-]+\.)*(?:example\.(?:com|org|net)|test|example|invalid|localhost|127\.0\.0\.1|\[::1\]?)"
    r"(?::(?:\d+|\$?\{[\w.]*))?(?:(?=[}/?#])(?:[\w.~%?&=#+${}-]|/(?!/))*)?",
    re.IGNORECASE,
)
"""Of hosts that belong to nobody (RFC 2606, RFC 6761) or to the machine itself."""


def find_new_addresses(text: str, base_text: str) -> list[str]:
    """Return the addresses of a text that are not in the old one, without those of reserved hosts.

    An address that code puts together from parts is not found, nor is one inside of another that is returned.
    """
    known = set(_find_addresses(base_text))
    return list(dict.fromkeys(one for one in _find_addresses(text) if one not in known))


def _find_addresses(text: str) -> Iterator[str]:
    for found in _ADDRESS.finditer(text):
        address = found[0].rstrip(_END)
        if len(address) > len(found["start"]) and not _NOBODYS.fullmatch(address):
            yield address


MAX_NAMED = 5
"""Lines or addresses that a message names."""


def check_content(file: PatchedFile, base: TextFile | None, files: BaseFiles) -> Iterator[str]:
    """Yield what a file must not contain, each in a sentence that says what to do. `base` is None for a new file."""
    path, text, old = file.path, file.text, base.text if base else ""
    if base and old == text:
        yield f"{path} is not changed: leave it out."
        return
    if old.strip() and not text.strip():
        yield f"{path} would be empty: a patch cannot remove files."
        return
    # A carriage return alone ends a line for Python, and not for GitHub's diff.
    ends, expected = find_line_ends(text), find_line_ends(old) if old else "LF"
    if MIXED_ENDS in (ends, expected) or (ends and expected and ends != expected):
        yield f"{path} would have {ends} instead of {expected}: leave the line ends as they are."
    # In code, characters for the direction of text make a comment out of what the compiler reads
    # ("Trojan Source", CVE-2021-42574).
    added = "\n".join(_list_added_lines(text, old))
    if found := find_invisible(added):
        names = _list_first([f"U+{ord(char):04X}" for char in found])
        yield f"{path} has characters that nobody can see in lines that are new ({names}): write them as escapes."
    known = set(find_mixed_words(old))
    if mixed := [quote_value(word) for word in find_mixed_words(added) if word not in known]:
        yield f"{path} has words of two scripts that look alike ({_list_first(mixed)}): write each in one."
    # The old text has no secret: it would not have been shown.
    lines = zip(text.split("\n"), redact_likely_secrets(text, path).split("\n"), strict=True)
    if numbers := [str(number) for number, (line, masked) in enumerate(lines, 1) if line != masked]:
        yield f"{path} has what looks like a secret in line {_list_first(numbers)}: leave it out."
    if addresses := find_new_addresses(text, old):
        shown = _list_first([quote_value(redact_likely_secrets(address)) for address in addresses])
        yield f"{path} has an address that was not there ({shown}): leave it out, or use a host such as example.com."
    if reason := files.check_text(path, text):
        yield f"{path} would be a file that nobody edits by hand ({reason}): write it so that people can read it."
    before = (files.count_syntax_errors(path, old) or 0) if old else 0
    if (errors := files.count_syntax_errors(path, text) or 0) > before:
        yield f"{path} would have {errors} syntax errors instead of {before}: correct it so that it parses."


def _list_added_lines(text: str, old: str) -> list[str]:
    """Lines that are in the text more often than in the old one. A byte order mark may stay and go."""
    mark = "\ufeff" if old.startswith("\ufeff") else ""
    before, after = (
        Counter(line.removesuffix("\r") for line in one.removeprefix(mark).split("\n")) for one in (old, text)
    )
    return list((after - before).elements())


def _list_first(named: Sequence[str]) -> str:
    return ", ".join(named[:MAX_NAMED]) + (", …" if len(named) > MAX_NAMED else "")


MAX_CHANGED_LINES = 3_000


def check_patch(patch: Patch, files: BaseFiles, modules: Sequence[Module], protected: Sequence[str]) -> list[str]:
    """Return everything that forbids the patch, each in a sentence that says what to do; empty for a good one.

    Args:
        patch: May be hostile.
        files: Of the base commit.
        modules: All of the repository. The patch names those that it changes.
        protected: Gitignore patterns of the project.
    """
    if patch.base != files.commit:
        return [f"The patch was made for commit {patch.base[:12]}, not for {files.commit[:12]}: make it again."]
    problems = list(_find_odd_lists(patch, modules))
    if len(patch.files) <= MAX_FILES:
        problems += [*_find_odd_files(patch, files, modules, protected), *_find_secret_words(patch)]
    return list(dict.fromkeys(problems))


def _find_odd_lists(patch: Patch, modules: Sequence[Module]) -> Iterator[str]:
    """Yield what is wrong with the lists of files and of modules."""
    if len(patch.files) > MAX_FILES:
        yield f"The patch has {len(patch.files)} files; {MAX_FILES} are allowed: leave some out."
    if not patch.files:
        yield "The patch changes nothing: list the files that it changes."
    counts = Counter(file.path for file in patch.files)
    # Two versions of a file would be two commits, of which only the last one is shown.
    yield from (f"{show_path(path)} is listed twice: list it once." for path in counts if counts[path] > 1)
    for path in counts:
        if any(other.startswith(f"{path}/") for other in counts):
            yield f"{show_path(path)} is a file and a folder of the patch: rename one."
    known = {module.name for module in modules}
    if not patch.modules:
        yield "The patch names no module: name those that it changes."
    for name in patch.modules:
        if name not in known:
            yield f"{show_path(name)} is no module of the repository: name one of those that are listed."


def _find_odd_files(
    patch: Patch, files: BaseFiles, modules: Sequence[Module], protected: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with each file: its path, its content, or the list that it is in."""
    total = sum(one.changed for one in diff_files(patch, files))
    if total > MAX_CHANGED_LINES:  # the content of such a patch takes a minute to check
        yield f"The patch changes {total:,} lines; {MAX_CHANGED_LINES:,} are allowed: make a smaller one."
    else:
        for file in patch.files:
            path, is_new = file.path, file.is_new_file
            if problem := check_path(
                path, files, is_new=is_new, modules=modules, chosen=patch.modules, protected=protected
            ):
                yield problem
            else:
                base = files.read(path)
                yield from check_content(file, base if isinstance(base, TextFile) else None, files)
    for file in patch.tests:
        if not files.is_test(file.path):
            shown = show_path(file.path)
            yield f"{shown} is no test by its folder and name: list it with the changes, or give it a test's name."
    for file in patch.changes:  # else tests could differ between the two commits
        if files.is_test(file.path):
            yield f"{show_path(file.path)} is a test by its folder and name: list it with the tests."


def _find_secret_words(patch: Patch) -> Iterator[str]:
    # They become the messages of commits.
    words = {"summary": patch.summary, "root_cause": patch.root_cause or ""}
    words |= {f"description of {show_path(file.path)}": file.description for file in patch.changes}
    for name, text in {**words, "words of the revision": patch.revision_words}.items():
        if redact_likely_secrets(text) != text:
            yield f"The {name} has what looks like a secret: leave it out."


LARGE_DIFF_LINES = 300
MANY_MODULES = 2
LONG_LINE_CHARS, UNUSUAL_LINE_CHARS = 200, 120
"""Of a new line. GitHub shows about 200 beside each other, narrow windows 120; the rest has to be scrolled to. A line
between the two is a warning only where the file has none as long."""


def list_warnings(patch: Patch, files: BaseFiles) -> list[str]:
    """Return warnings of one sentence each. Names in them are a model's words."""
    lines = sum(one.changed for one in diff_files(patch, files))
    number = "1 file" if len(patch.files) == 1 else f"{len(patch.files)} files"
    warnings = [f"Large diff: about {lines:,} lines in {number}."] if lines > LARGE_DIFF_LINES else []
    if len(patch.modules) > MANY_MODULES:
        warnings.append(f"Multi-module change: {', '.join(map(show_path, patch.modules))}.")
    if long := [show_path(file.path) for file in patch.files if _has_long_line(file, files)]:
        warnings.append(f"Lines of more than {UNUSUAL_LINE_CHARS} characters: {', '.join(long)}.")
    return warnings


def _has_long_line(file: PatchedFile, files: BaseFiles) -> bool:
    known = set(read_base_text(file.path, files).splitlines())
    usual = max((len(line.expandtabs()) for line in known), default=0)
    limit = min(LONG_LINE_CHARS, max(UNUSUAL_LINE_CHARS, usual))
    return any(len(line.expandtabs()) > limit for line in file.text.splitlines() if line not in known)
