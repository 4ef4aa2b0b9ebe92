"""Finds the comments that take more room in a prompt than they are worth."""

from collections.abc import Sequence

from triage.code.rank.snippets import COMMENT, DOCSTRING

MIN_DOCSTRING_LINES, KEPT_DOCSTRING_LINES = 5, 2
MIN_COMMENT_LINES, KEPT_COMMENT_LINES = 8, 3


def find_long_comments(lines: Sequence[str]) -> set[int]:
    """Return the numbers of all lines, from 1, that belong to a long comment or docstring, but for its first lines.

    In scientific Python more than half of a file's characters are docstrings.
    """
    found: set[int] = set()
    number = 0
    while number < len(lines):
        end = _find_docstring_end(lines, number)
        if end - number >= MIN_DOCSTRING_LINES:
            found.update(range(number + KEPT_DOCSTRING_LINES + 1, end + 1))
        elif end == number:
            end = _find_comments_end(lines, number)
            if end - number >= MIN_COMMENT_LINES:
                found.update(range(number + KEPT_COMMENT_LINES + 1, end + 1))
        number = max(end, number + 1)
    return found


def _find_docstring_end(lines: Sequence[str], start: int) -> int:
    """Return the index after the docstring that begins in this line; `start` if none does, or if it never ends."""
    opening = DOCSTRING.match(lines[start].strip())
    if not opening or lines[start].count(opening[1]) != 1:
        return start
    return next((end + 1 for end in range(start + 1, len(lines)) if opening[1] in lines[end]), start)


def _find_comments_end(lines: Sequence[str], start: int) -> int:
    return next((end for end in range(start, len(lines)) if not COMMENT.match(lines[end].strip())), len(lines))
