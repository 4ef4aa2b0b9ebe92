"""What the new text of a file may contain."""

import re
from collections import Counter
from collections.abc import Iterator

from triage.base.quote_value import quote_value
from triage.domain.proposal import BaseFile, FileVersion
from triage.fix.patch.line_ends import LineEnds, find_line_ends
from triage.fix.patch.masked_files import find_mask_problems, mask_output, restore_text
from triage.fix.patch.new_urls import find_new_urls
from triage.proposal_ports import BaseFiles
from triage.safety.clean_text import find_invisible

MAX_NAMED = 5
"""Lines or addresses that a message names."""
MAX_BLANK_COLUMNS = 60
"""Of a new line: its indentation and its wide gaps together, where the file has no line with more. In 3,000 files of
Python packages one line in 2,000 has more, and one file in 270 has a single such line."""
_TAB_COLUMNS = 8
"""As GitHub shows a tab."""
_WIDE_GAP = re.compile(rf"^ +| {{{_TAB_COLUMNS + 1},}}")
"""Indentation, or blanks inside of a line that a tab may leave between two words."""
_BYTE_ORDER_MARK = "\ufeff"


def find_content_problems(file: FileVersion, base: BaseFile | str | None, files: BaseFiles) -> Iterator[str]:
    """Yield what a file must not contain, each in a sentence that says what to do.

    `base` is the file of the base commit as it is there, without masks, or None for a new file.
    """
    path, old = file.path, base.text if isinstance(base, BaseFile) else ""
    text = restore_text(path, file.text, files)
    if isinstance(base, BaseFile) and old == text:
        yield f"{path} is not changed: leave it out."
        return
    if old.strip() and not text.strip():
        yield f"{path} would be empty: a patch cannot remove files."
        return
    if "\0" in text:
        yield f"{path} has a NUL character: a patch cannot have binary files."
        return
    yield from _find_form_problems(path, text, old)
    yield from _find_code_off_screen(path, text, old)
    yield from _find_hidden_characters(path, text, old)
    yield from find_mask_problems(path, file.text, old)
    if urls := find_new_urls(text, old):
        shown = (quote_value(mask_output(url, [path], files)) for url in urls)
        yield (
            f"{path} has an address that was not there ({_join(shown)}): leave it out, or use a host such as "
            "example.com."
        )
    if reason := files.find_skip_reason(path, text):
        yield f"{path} would be a file that nobody edits by hand ({reason}): write it so that people can read it."
    yield from _find_syntax_errors(path, text, old, files)


def _find_form_problems(path: str, text: str, old: str) -> Iterator[str]:
    ends = find_line_ends(text)
    expected = find_line_ends(old) if old else LineEnds.LF
    is_same = ends is expected or LineEnds.NONE in (ends, expected)
    if LineEnds.MIXED in (ends, expected) or not is_same:
        yield f"{path} would have {ends.value} instead of {expected.value}: leave the line ends as they are."
    is_final = text.endswith("\n")
    if text and is_final != (old.endswith("\n") or not old):
        yield f"{path} would {'gain' if is_final else 'lack'} a newline at its end: leave the end as it is."
    if text.startswith(_BYTE_ORDER_MARK) != old.startswith(_BYTE_ORDER_MARK):
        yield f"{path} would gain or lose a byte order mark: leave the start of the file as it is."


def _list_added_lines(text: str, old: str) -> list[str]:
    """Lines that are in the text more often than in the old one."""
    return list((Counter(_split(text)) - Counter(_split(old))).elements())


def _split(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removeprefix(_BYTE_ORDER_MARK).split("\n")]


def _find_code_off_screen(path: str, text: str, old: str) -> Iterator[str]:
    # GitHub does not wrap lines of a diff: what stands behind many blanks is not seen.
    added = max(map(_count_blank_columns, _list_added_lines(text, old)), default=0)
    if added > MAX_BLANK_COLUMNS and added > max(map(_count_blank_columns, _split(old))):
        yield (
            f"{path} has a new line with {added} columns of blanks before or inside of it, more than any other line of "
            f"the file and more than {MAX_BLANK_COLUMNS}: start a new line instead."
        )


def _count_blank_columns(line: str) -> int:
    shown = line.rstrip(" \t").expandtabs(_TAB_COLUMNS)
    return sum(len(gap[0]) for gap in _WIDE_GAP.finditer(shown))


def _find_hidden_characters(path: str, text: str, old: str) -> Iterator[str]:
    # In code, characters for the direction of text make a comment out of what the compiler reads
    # ("Trojan Source", CVE-2021-42574).
    if found := find_invisible("\n".join(_list_added_lines(text, old))):
        names = _join(f"U+{ord(char):04X}" for char in found)
        yield f"{path} has characters that nobody can see in lines that are new ({names}): write them as escapes."


def _find_syntax_errors(path: str, text: str, old: str, files: BaseFiles) -> Iterator[str]:
    errors = files.count_syntax_errors(path, text)
    if not errors:
        return
    before = (files.count_syntax_errors(path, old) or 0) if old else 0
    if errors > before:
        yield f"{path} would have {errors} syntax errors instead of {before}: correct it so that it parses."


def _join(words: Iterator[str]) -> str:
    named = list(words)
    return ", ".join(named[:MAX_NAMED]) + (", …" if len(named) > MAX_NAMED else "")
