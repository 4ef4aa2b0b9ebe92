"""Removes what nobody can see from untrusted text."""

import re

import regex  # type: ignore[import-untyped]

_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_COLOUR = re.compile("\x1b\\[[0-9;:]{0,64}[mK]")
_TERMINAL_ESCAPE = re.compile(
    "\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\x1b[]PX^_])[^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\\\)?"
)
# Part of an emoji, and visible as such: a joiner between two pictures, and the selector that gives one its colours.
_INVISIBLE = regex.compile(
    r"(?P<emoji>(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])"
    r"(?:\uFE0F?\u200D(?=\p{Extended_Pictographic})|(?<!\p{Emoji_Presentation})\uFE0F(?!\p{Default_Ignorable_Code_Point})))"
    r"|[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}"
    r"--[\n\t\p{Prepended_Concatenation_Mark}]]+",
    regex.V1,
)
_UNUSUAL_SPACE = regex.compile(r"[\p{Zs}\u2800--[ ]]", regex.V1)
_BLANK_GLYPH = re.compile("[\ufffc\U00013441\U00013442\U00016fe4\U0001d159]")
"""Letters and symbols that are drawn as nothing: in the tables of Unicode they look like any other."""
_LINE_SEPARATOR = re.compile("[\u2028\u2029]")
_WORD = regex.compile(r"[\\%].|(\w+)")
"""In code: `\\n` and `%s` are no letters of the word behind them."""
_LATIN, _ALIKE = regex.compile(r"\p{Latin}"), regex.compile(r"[\p{Cyrillic}\p{Greek}]")
_STACKED_MARKS = regex.compile(r"(\p{M}{8})\p{M}+")
"""No script stacks more than eight combining marks on a letter; more of them cover the text around it."""


def find_invisible(text: str) -> list[str]:
    """Return the different characters that a reader does not see or takes for a space, sorted; none of those in emoji.

    Tabs and line feeds are visible. A carriage return is not.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return []
    runs = [match[0] for match in _INVISIBLE.finditer(text) if not match["emoji"]]
    return sorted(
        set(
            "".join([*runs, *_UNUSUAL_SPACE.findall(text), *_BLANK_GLYPH.findall(text), *_LINE_SEPARATOR.findall(text)])
        )
    )


def find_mixed_words(text: str) -> list[str]:
    """Return the different words that mix Latin letters with Cyrillic or Greek ones, which look the same."""
    words = [] if text.isascii() else dict.fromkeys(_WORD.findall(text))
    return [word for word in words if _LATIN.search(word) and _ALIKE.search(word)]


def clean_text(text: str | None) -> str:
    return clean_and_count(text)[0]


def clean_and_count(text: str | None) -> tuple[str, int]:
    r"""Return the text without invisible characters, and how many runs of them were removed.

    Removes control, format, bidirectional and default-ignorable code points (by Unicode property), lone surrogates and
    terminal escapes; emoji stay whole. Terminal colours are removed and not counted. Every line ends with `\n`.
    """
    if text and text.isascii() and text.replace("\n", "").isprintable():
        return text, 0  # the usual case, and the fastest
    text = _COLOUR.sub("", _LINE_END.sub("\n", (text or "").removeprefix("\ufeff")))
    text, escapes = _TERMINAL_ESCAPE.subn("", text)
    removed = 0

    def remove(match: "regex.Match[str]") -> str:
        nonlocal removed
        if match["emoji"]:
            return str(match[0])
        removed += 1
        return ""

    text = _INVISIBLE.sub(remove, text)
    return _STACKED_MARKS.sub(r"\1", _UNUSUAL_SPACE.sub(" ", text)), removed + escapes
