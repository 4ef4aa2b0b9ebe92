"""What the new text of a file may contain."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from triage.base.text import quote_value
from triage.domain.proposal import BaseFile, FileVersion
from triage.fix.fix_ports import BaseFiles
from triage.fix.patch.apply_edits import LineEnds, find_line_ends
from triage.safety.clean_text import find_invisible, find_mixed_words
from triage.safety.secrets.likely_secrets import LIKELY_SECRET_PLACEHOLDER, redact_likely_secrets

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
MAX_BLANK_COLUMNS = 60
"""Of a new line: its indentation and its wide gaps together, where the file has no line with more. In 3,000 files of
Python packages one line in 2,000 has more, and one file in 270 has a single such line."""
_TAB_COLUMNS = 8
"""As GitHub shows a tab."""
_WIDE_GAP = re.compile(rf"^ +| {{{_TAB_COLUMNS + 1},}}")
"""Indentation, or blanks inside of a line that a tab may leave between two words."""


def find_content_problems(file: FileVersion, base: BaseFile | None, files: BaseFiles) -> Iterator[str]:
    """Yield what a file must not contain, each in a sentence that says what to do. `base` is None for a new file."""
    path, text, old = file.path, file.text, base.text if base else ""
    if base and old == text:
        yield f"{path} is not changed: leave it out."
        return
    if old.strip() and not text.strip():
        yield f"{path} would be empty: a patch cannot remove files."
        return
    yield from _find_other_line_ends(path, text, old)
    yield from _find_code_off_screen(path, text, old)
    yield from _find_odd_characters(path, text, old)
    yield from _find_secrets(path, text, old)
    if addresses := find_new_addresses(text, old):
        shown = _join([quote_value(redact_likely_secrets(address)) for address in addresses])
        yield f"{path} has an address that was not there ({shown}): leave it out, or use a host such as example.com."
    if reason := files.find_skip_reason(path, text):
        yield f"{path} would be a file that nobody edits by hand ({reason}): write it so that people can read it."
    before = (files.count_syntax_errors(path, old) or 0) if old else 0
    if (errors := files.count_syntax_errors(path, text) or 0) > before:
        yield f"{path} would have {errors} syntax errors instead of {before}: correct it so that it parses."


def _find_other_line_ends(path: str, text: str, old: str) -> Iterator[str]:
    # A carriage return alone ends a line for Python, and not for GitHub's diff.
    ends, expected = find_line_ends(text), find_line_ends(old) if old else LineEnds.LF
    if LineEnds.MIXED in (ends, expected) or (ends is not expected and LineEnds.NONE not in (ends, expected)):
        yield f"{path} would have {ends.value} instead of {expected.value}: leave the line ends as they are."


def _list_added_lines(text: str, old: str) -> list[str]:
    """Lines that are in the text more often than in the old one. A byte order mark may stay and go."""
    mark = "\ufeff" if old.startswith("\ufeff") else ""
    return list((Counter(_split(text.removeprefix(mark))) - Counter(_split(old.removeprefix(mark)))).elements())


def _split(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


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
        names = _join([f"U+{ord(char):04X}" for char in found])
        yield f"{path} has characters that nobody can see in lines that are new ({names}): write them as escapes."
    known = set(find_mixed_words(old))
    if mixed := [quote_value(word) for word in find_mixed_words(added) if word not in known]:
        yield f"{path} has words of two scripts that look alike ({_join(mixed)}): write each in one."


def _find_secrets(path: str, text: str, old: str) -> Iterator[str]:
    """Yield what looks like a secret, of which the old text has none, or like our mask of one."""
    lines = zip(text.split("\n"), redact_likely_secrets(text, path).split("\n"), strict=True)
    if numbers := [str(number) for number, (line, masked) in enumerate(lines, 1) if line != masked]:
        yield f"{path} has what looks like a secret in line {_join(numbers)}: leave it out."
    if text.count(LIKELY_SECRET_PLACEHOLDER[:-1]) > old.count(LIKELY_SECRET_PLACEHOLDER[:-1]):
        yield f"{path} has a mask in place of a value that is not shown: leave it out."


def _join(named: Sequence[str]) -> str:
    return ", ".join(named[:MAX_NAMED]) + (", …" if len(named) > MAX_NAMED else "")
