"""Parses skills of the project, `.github/triage/skills/<id>.md`, and decides which of them apply to an issue."""

import re
from collections.abc import Iterator, Sequence

from pathspec import PathSpec

from triage.base.strict_yaml import InvalidYaml, decode_strictly, parse_strictly
from triage.domain.issue import Issue
from triage.domain.skill import BrokenSkill, Skill, SkillHeader
from triage.safety.clean_text import clean_text
from triage.safety.safe_markdown import format_code_span
from triage.safety.secrets.likely_secrets import redact_likely_secrets

MAX_SKILL_BYTES = 32 * 1024
MAX_BODY_CHARS = 6_000
"""About 2,000 tokens, in every prompt that follows."""
MAX_REFERENCES = 30
"""Links and code spans that may be paths."""
MAX_NAME_CHARS = 80
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"#[ \t]+(\S[^\n]{0,300})(?:\n|\Z)")
_LINK = re.compile(r"\]\([ \t]*<?([^()\s<>]{1,300})")
_CODE_SPAN = re.compile(r"`([^`\s]{1,300})`")


def parse_skill(path: str, data: bytes) -> Skill | BrokenSkill:
    """Return the skill in a file's bytes, or what is wrong with it."""
    skill_id = path.rpartition("/")[2].removesuffix(".md")
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", skill_id):
        problem = "the name of the file may have small letters, digits and hyphens, at most 64, before .md"
        return BrokenSkill(path=path, problem=problem)
    try:
        text = clean_text(redact_likely_secrets(decode_strictly(data, MAX_SKILL_BYTES), path))
        header, body = _split_text(text)
    except (InvalidYaml, _BadText) as error:
        return BrokenSkill(path=path, problem=str(error))
    title = _TITLE.match(body)
    approval = header.requires_approval
    return Skill(
        id=skill_id,
        path=path,
        name=title[1].rstrip("# \t")[:MAX_NAME_CHARS] if title else skill_id,
        description=header.description,
        when=header.when,
        requires_approval=approval != "false",
        checkpoint_type=approval if approval not in ("true", "false") else "",
        text=body[title.end() :].strip() if title else body,
        references=_find_references(body),
    )


class _BadText(ValueError):
    pass


def _split_text(text: str) -> tuple[SkillHeader, str]:
    """Return the front matter and the text below it. Raises _BadText or InvalidYaml."""
    front = _FRONT_MATTER.match(text)
    if front is None:
        raise _BadText("line 1: the file must begin with front matter between two lines `---`, with a description")
    # The empty line stands for the first `---`, so that the lines of errors are those of the file.
    header = parse_strictly("\n" + front[1], SkillHeader)
    if header is None:
        raise _BadText("line 1: description is missing")
    body = text[front.end() :].strip()
    if not body:
        raise _BadText("there is no text below the front matter")
    if len(body) > MAX_BODY_CHARS:
        raise _BadText(
            f"the text has {len(body):,} characters; {MAX_BODY_CHARS:,} are allowed: move details into a file that it "
            "links to"
        )
    return header, body


def _find_references(body: str) -> list[str]:
    found = [*_LINK.findall(body), *(span for span in _CODE_SPAN.findall(body) if "/" in span or "." in span)]
    paths = [path for path in dict.fromkeys(found) if "://" not in path and not path.startswith(("#", "//", "mailto:"))]
    return paths[:MAX_REFERENCES]


MAX_PATHS = 200
"""Files that an issue names."""
_SPACED = r"[^\W\u0e00-\u0eff\u2e80-\U0010ffff]"
"""A letter of a script with spaces between words: Chinese, Japanese and Thai have none, Korean has particles."""


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
    """Yield each reason, and before it 1 for a label, 2 for a file, 3 for a word: a smaller one comes first."""
    when = skill.when
    label = next((label for label in when.labels if issue.has_label(label)), None)
    if label:
        yield 1, f"the label {format_code_span(label)}"
    # The default backend backtracks, see `find/files/file_filter.py`.
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
    before = rf"(?<!{_SPACED})" if re.match(_SPACED, word) else ""
    after = rf"(?!{_SPACED})" if re.match(_SPACED, word[-1]) else ""
    return re.search(f"{before}{re.escape(word)}{after}", text) is not None
