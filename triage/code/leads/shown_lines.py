"""The lines of a lead that a comment shows: those that matter, not a docstring or a bare signature."""

import re
from collections.abc import Sequence

from triage.code.rank.query_scores import QueryScores
from triage.code.rank.snippets import COMMENT, skip_docstring
from triage.code.words.tokens import find_words

MAX_SHOWN_LINES = 20
"""A function that is not longer is shown whole."""
LINES_AROUND = 3
"""Shown above and below the line of a trace or message, in a longer function."""
_WINDOW = 12
_JAVADOC = re.compile(r"/\*\*|\*|@\w")


def choose_lines_around(lines: Sequence[str], line: int, function: tuple[int, int] | None) -> tuple[int, int]:
    """Return the first and the last line to show of one that fails or is named: its function if that is short."""
    if function and function[1] - function[0] < MAX_SHOWN_LINES and function[0] <= line <= function[1]:
        return _skip_comment(lines, *function), min(function[1], len(lines))
    return max(1, line - LINES_AROUND), max(line, min(len(lines), line + LINES_AROUND))


def choose_definition_lines(query_scores: QueryScores, file: int, start: int, end: int) -> tuple[int, int]:
    """Return the lines to show of a definition: all of a short one, else those with most words of the report."""
    lines = query_scores.file_lines(file)
    end = min(end, len(lines))
    body = skip_docstring(lines, _skip_comment(lines, start, end), end)
    if end - body < MAX_SHOWN_LINES:
        return body, end
    wanted = {word.lower() for word in query_scores.query.code_words | query_scores.query.title_words}
    wanted -= {word.lower() for word in find_words(lines[body - 1])}  # the definition's own name
    hits = [len(wanted.intersection(word.lower() for word in find_words(lines[at - 1]))) for at in range(body, end + 1)]
    sums = [sum(hits[at : at + _WINDOW]) for at in range(len(hits) - _WINDOW + 1)]
    first = body + sums.index(max(sums))
    return first, first + _WINDOW - 1


def _skip_comment(lines: Sequence[str], start: int, end: int) -> int:
    """Return the first line of a definition behind the comment above it."""
    for number in range(start, end + 1):
        text = lines[number - 1].strip()
        if text and not COMMENT.match(text) and not _JAVADOC.match(text):
            return number
    return start
