"""Decides which of the project's skills apply to an issue by their own conditions."""

import re
from collections.abc import Iterator, Sequence

from pathspec import PathSpec

from triage.domain.issue import Issue
from triage.domain.skill import Skill
from triage.safety.inert_markdown import format_code_span

MAX_PATHS = 200
"""Files that an issue names."""


def match_skills(skills: Sequence[Skill], issue: Issue, text: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """Return the skills that apply, by id, with the reasons: a label first, then a file, then a word.

    `text` is the visible text of the issue, and `paths` are files of the repository that it names or that are suspects.
    One entry of one condition is enough.
    """
    plain = _fold(text)
    found = {skill.id: list(_find_reasons(skill, issue, plain, paths[:MAX_PATHS])) for skill in skills}
    matched = [(min(rank for rank, _ in reasons), skill) for skill, reasons in found.items() if reasons]
    return {skill: [reason for _, reason in found[skill]] for _, skill in sorted(matched)}


def _find_reasons(skill: Skill, issue: Issue, text: str, paths: Sequence[str]) -> Iterator[tuple[int, str]]:
    when = skill.when
    label = next((label for label in when.labels if issue.has_label(label)), None)
    if label:
        yield 1, f"the label {format_code_span(label)}"
    # The default backend backtracks, see `code/files/file_filter.py`.
    patterns = PathSpec.from_lines("gitignore", when.paths, backend="re2") if when.paths else None
    path = next((path for path in paths if patterns.match_file(path)), None) if patterns else None
    if path:
        yield 2, f"the file {format_code_span(path)}"
    word = next((word for word in when.words if _has_word(text, _fold(word))), None)
    if word:
        yield 3, f"the word {format_code_span(word)}"


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _has_word(text: str, word: str) -> bool:
    if word not in text:
        return False
    before = r"(?<!\w)" if _has_spaces_around(word[0]) else ""
    after = r"(?!\w)" if _has_spaces_around(word[-1]) else ""
    return re.search(f"{before}{re.escape(word)}{after}", text) is not None


def _has_spaces_around(character: str) -> bool:
    """Whether a word ends with this character: Chinese, Japanese and Thai have no spaces, Korean has particles."""
    is_thai = "\u0e00" <= character <= "\u0eff"  # with Lao
    return (character.isalnum() or character == "_") and character < "\u2e80" and not is_thai
