"""Checkouts whose files are too much or too deep."""

from collections.abc import Mapping
from pathlib import Path

from testing.checkouts.hostile_base import make_checkout

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
