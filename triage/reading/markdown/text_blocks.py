"""Blocks of text while a page is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from triage.reading.markdown.hidden_html import strip_hiding_formulas
from triage.text.clean_text import clean_and_count

_SPACES = re.compile(r"(?<=\S) {2,}|(?<=^ {16}) +", re.M)
"""Runs of spaces, also from entities, except the indents of our lists."""
_EMPTY_LINES = re.compile(r"\n{3,}")
"""Many `<br>` would make patterns that begin with white space slow."""


class CodeSpan(str):
    """Text of a code span, in which no formula begins or ends."""

    __slots__ = ()


@dataclass
class BlockDraft:
    kind: Literal["text", "heading", "code"]
    parts: list[str]
    language: str = ""
    level: int = 0

    def visible_text(self) -> tuple[str, int]:
        """The lines of all parts, and how many runs of invisible characters were removed from them."""
        text, removed = clean_and_count("\n".join(self.parts))
        if self.kind == "heading":
            return " ".join(text.split()), removed
        lines = (line.rstrip() for line in text.split("\n"))
        if self.kind == "code":
            return "\n".join(lines).strip("\n"), removed
        return _EMPTY_LINES.sub("\n\n", _SPACES.sub(" ", "\n".join(lines))), removed


def join_words(words: Sequence[str]) -> tuple[str, int]:
    """All words without formulas that hide text, and how many such formulas there were."""
    texts: list[str] = []
    hidden = 0
    for is_code, run in groupby(words, key=lambda word: isinstance(word, CodeSpan)):
        joined = "".join(run)
        text, found = (joined, 0) if is_code else strip_hiding_formulas(joined)
        texts.append(text)
        hidden += found
    return "".join(texts), hidden
