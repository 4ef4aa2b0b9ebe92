"""Blocks of a page under way, and the words that make one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from triage.reading.markdown.hidden_html import strip_hiding_formulas
from triage.text.clean_text import clean_and_count

_SPACES = re.compile(r"(?<=\S) {2,}|(?<=^ {16}) +", re.M)
"""Runs of them, but for the indents of our lists; entities name spaces too."""
_EMPTY_LINES = re.compile(r"\n{3,}")
"""`<br>` makes any number, over which patterns that begin with white space would try again and again."""


class CodeSpan(str):
    """Words in code marks: no formula begins or ends in them."""

    __slots__ = ()


@dataclass
class BlockDraft:
    """A block under way."""

    kind: Literal["text", "heading", "code"]
    parts: list[str]
    language: str = ""
    level: int = 0

    def visible_text(self) -> tuple[str, int]:
        """All parts, one under the other, and how many invisible runs were taken out: entities name such letters."""
        text, removed = clean_and_count("\n".join(self.parts))
        if self.kind == "heading":
            return " ".join(text.split()), removed
        lines = (line.rstrip() for line in text.split("\n"))
        if self.kind == "code":
            return "\n".join(lines).strip("\n"), removed
        return _EMPTY_LINES.sub("\n\n", _SPACES.sub(" ", "\n".join(lines))), removed


def join_words(words: Sequence[str]) -> tuple[str, int]:
    """All words, and how many formulas that hide something were left out."""
    said: list[str] = []
    hiding = 0
    for is_code, run in groupby(words, key=lambda word: isinstance(word, CodeSpan)):
        together = "".join(run)
        text, found = (together, 0) if is_code else strip_hiding_formulas(together)
        said.append(text)
        hiding += found
    return "".join(said), hiding
