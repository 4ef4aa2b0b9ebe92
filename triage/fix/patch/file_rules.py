"""What the new text of a file may contain."""

import re
from collections import Counter
from collections.abc import Iterator

from triage.base.text import quote_value
from triage.domain.proposal import BaseFile, FileVersion
from triage.fix.fix_ports import BaseFiles
from triage.fix.patch.apply_edits import LineEnds, find_line_ends
from triage.fix.patch.masked_files import find_mask_problems, mask_output, restore_text
from triage.safety.clean_text import find_invisible, find_mixed_words

_SLASH = r"(?:/|&sol;|\\u002[fF]|\\x2[fF])"
_COLON = r"(?::|&colon;|\\u003[aA]|\\x3[aA])"
_START = re.compile(
    rf"(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}{_COLON}\\?{_SLASH}\\?{_SLASH}"
    rf"|\b(?i:https?|wss?|ftps?){_COLON}\s*(?:{_SLASH}|\\|(?<=:)(?=[\w-]{{1,63}}\.\w))"
    r"|(?<=[\"'`(=])(?=\\{0,2}/)[\\/]{2,8}(?=[\w-]{2,}\.|\[[0-9A-Fa-f:]+\])"
    r"|(?:(?<=[\"'`(=])\\{4}|(?<=[rR@][\"'])\\{2})(?=[\w-]{2,63}[\\.][\w\\])"
    r"|(?:(?<=[=(:]) |(?<=\]: ))//(?=[\w-]+(?:\.[\w-]+)+(?:[/\s>)?#]|\Z))"
    r")[\\/]*"
    r"|\b(?=www\d?\.\w)"
    r"|(?<![\w.+-])[\w.+-]{1,64}@(?=[\w-]{1,63}(?:\.[\w-]{1,63})+:[\w~/.-])"
)
"""What stands before a host: a scheme with its slashes, as browsers take them too, or the `git@` of `git@host:path`.

Slashes alone count behind a quote or a bracket, and behind a blank where no comment begins.
"""
_MAX_CHARS = 2_000
"""Of an address. No browser and no server takes a longer host."""
_USER = re.compile(r"[^/?#\s]*@")
_WORD = re.compile(r"\S*")
_NO_END = r"\s\"'`<>)\]},;|"
"""What ends an address in code and prose."""
_HOST = re.compile(rf"(?:\[[^\s\]/?#\\]{{0,64}}\])?[^/?#\\{_NO_END}]*")
"""The brackets of an IPv6 address are part of it."""
_REST = re.compile(rf"(?:\[[^\s\]]{{0,64}}\])?[^{_NO_END}]*")
_NOBODY = r"(?:(?:[a-z0-9-]*\.)*(?:example\.(?:com|org|net)|test|example|invalid|localhost)\.?|127\.0\.0\.1|\[::1\])"
_RESERVED = re.compile(rf"{_NOBODY}(?::[^@]*)?", re.IGNORECASE)
"""Hosts that belong to nobody (RFC 2606, RFC 6761), also with empty labels, or to the machine itself."""
_GOES_ON = re.compile(
    rf"(?:[,;]{_NOBODY}(?::\d+)?(?![\w.:-]))*[,;](?!{_NOBODY}(?::\d+)?(?![\w.:-]))[\w-]+(?:\.\w|:\d)"
    r"|\\(?![nrtbf\"'`\\/\s]|\Z)",
    re.IGNORECASE,
)
"""Behind a reserved host: a list with another host, or an escape that goes on with the name."""


def find_new_urls(text: str, base_text: str, limit: int = 10) -> list[str]:
    """Return the first addresses of a text that are not in the old one, without those of reserved hosts.

    An address that code puts together from parts is not found, nor is one inside of another that is returned.
    """
    known = set(_find_urls(base_text))
    new: list[str] = []
    for url in _find_urls(text):
        if url not in known:
            known.add(url)
            new.append(url)
        if len(new) == limit:
            break
    return new


def _find_urls(text: str) -> Iterator[str]:
    done = 0
    for start in _START.finditer(text):
        if start.start() < done:
            continue
        place = start.end(), start.start() + _MAX_CHARS
        host = _match(_HOST, text, place)
        if _USER.match(text, *place):  # What seems to be the host may be the name of a user.
            url = start[0] + _match(_WORD, text, place)
        elif host and not (_RESERVED.fullmatch(host) and not _GOES_ON.match(text, start.end() + len(host), place[1])):
            url = start[0] + _match(_REST, text, place)
        else:
            done = start.end() + len(host.partition(":")[0])
            continue
        done = start.start() + len(url)
        yield url


def _match(pattern: re.Pattern[str], text: str, place: tuple[int, int]) -> str:
    found = pattern.match(text, *place)
    assert found is not None  # the patterns match an empty text as well
    return found[0] if pattern is _WORD else found[0].rstrip(".:!?*_")


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
    yield from _find_odd_characters(path, text, old)
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


def _find_odd_characters(path: str, text: str, old: str) -> Iterator[str]:
    added = "\n".join(_list_added_lines(text, old))
    # In code, characters for the direction of text make a comment out of what the compiler reads
    # ("Trojan Source", CVE-2021-42574).
    if found := find_invisible(added):
        names = _join(f"U+{ord(char):04X}" for char in found)
        yield f"{path} has characters that nobody can see in lines that are new ({names}): write them as escapes."
    known = set(find_mixed_words(old))
    if mixed := [quote_value(word) for word in find_mixed_words(added) if word not in known]:
        yield f"{path} has words of two scripts that look alike ({_join(iter(mixed))}): write each in one."


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
