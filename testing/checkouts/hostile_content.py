"""Checkouts whose files are too much, too deep, or in odd encodings."""

from collections.abc import Mapping
from pathlib import Path

from testing.checkouts.hostile_base import make_checkout

_TEXT = "def größe(preis):\n    return preis\n"
_KANA = "def total():\n    return '合計'\n"
ENCODINGS: Mapping[str, bytes] = {
    "latin1.py": _TEXT.encode("latin-1"),
    "utf8-bom.py": _TEXT.encode("utf-8-sig"),
    "utf16-bom.py": _TEXT.encode("utf-16"),
    "utf16-le.py": _TEXT.encode("utf-16-le"),
    "utf16-be.py": _TEXT.encode("utf-16-be"),
    "utf16-odd.py": _TEXT.encode("utf-16") + b"\x00\xd8x",
    "utf32.py": _TEXT.encode("utf-32"),
    "utf32-cut.py": _TEXT.encode("utf-32")[:-3],
    "utf7.py": _TEXT.encode("utf-7"),
    "ebcdic.py": _TEXT.encode("cp500"),
    "shift-jis.py": _KANA.encode("shift-jis"),
    "iso2022.py": _KANA.encode("iso2022-jp"),
    "nul.py": b"x = 1\0\ny = 2\n",
    "nul-late.py": b"x = 1\n" * 3_000 + b"\0",
    "mixed.py": b"a = 1\r\nb = 2\nc = 3\rd = 4\r\r\ne = 5\x0bf\x0cg\xc2\x85h\xe2\x80\xa8i",
    "cr.py": b"a = 1\rb = 2\rc = 3\r",
    "surrogates.py": b"x = '\xed\xa0\x80\xed\xb0\x80'\n",
    "bom-only.py": b"\xef\xbb\xbf",
    "bom16-only.py": b"\xff\xfe",
    "empty.py": b"",
    "no-end.py": b"x = 1",
    "invisible.py": "x = 1  # \u202e\u2066\u200b\U000e0041\ufeff\n".encode(),
    "cookie.py": b"# -*- coding: no-such-codec -*-\nx = 1\n",
}


def encodings(root: Path) -> None:
    make_checkout(root, {f"shop/{name}": data for name, data in ENCODINGS.items()})


_BRACKETS: Mapping[str, str] = {
    "py": "(", "js": "[", "ts": "{", "tsx": "<a>", "go": "(", "rs": "(", "java": "(", "c": "(", "cpp": "<", "cs": "(",
    "rb": "[", "php": "[", "kt": "(", "swift": "(", "scala": "(", "lua": "{", "sh": "$(", "ex": "(", "hs": "(", "dart": "(",
    "json": "[", "yml": "[", "html": "<b>", "css": "a{", "sql": "(", "ml": "(", "clj": "(", "vue": "<b>", "zig": "(",
}  # fmt: skip


def deep(root: Path) -> None:
    """Brackets in brackets, for every grammar: fifty, a thousand, a hundred thousand."""
    files = {
        f"deep/{count}.{end}": ("<?php " if end == "php" else "") + "x = " + "\n".join([bracket * 50] * (count // 50))
        for end, bracket in _BRACKETS.items()
        for count in (50, 1_000, 100_000)
    }
    make_checkout(root, files)


def many_definitions(root: Path) -> None:
    """As many definitions as a file can hold."""
    make_checkout(root, {
        "shop/many.py": "".join(f"def f{number}():0\n" for number in range(33_000)),
        "shop/many.js": "".join(f"let f{number}=()=>0\n" for number in range(27_000)),
        "shop/nested.py": "".join(" " * number + f"class C{number}:\n" for number in range(900)),
    })  # fmt: skip


def large_files(root: Path) -> None:
    """A hundred megabytes, a line of ten megabytes, lines of half a megabyte."""
    make_checkout(root, {"shop/large.py": b"x = 1\n" * (100_000_000 // 6), "shop/line.py": b"x" * 10_000_000})
    make_checkout(root, {"shop/long.py": "x = '" + "y" * 500_000 + "'\n", "shop/words.py": "word " * 100_000})
