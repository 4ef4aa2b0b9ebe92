"""The paragraphs of the writer's comment draft: why it fails, how it may be fixed, how to check it."""

import re

from triage.domain.value import Value

MAX_DRAFT_CHARS = 6_000
_LABEL = re.compile(r"^[ \t>*_#-]*(why|fix idea|check)[ \t]*(?:[*_]*[:.][*_]*|[*_]+)[ \t]*", re.I | re.M)


class CommentDraft(Value):
    why: str = ""
    fix_idea: str = ""
    check: str = ""


def parse_comment_draft(text: str) -> CommentDraft:
    """Return the labelled paragraphs of a model's text, each once; a text without labels is the explanation."""
    text = text[:MAX_DRAFT_CHARS].strip()
    matches = list(_LABEL.finditer(text))
    if not matches:
        return CommentDraft(why=text)
    ends = [match.start() for match in matches[1:]] + [len(text)]
    found: dict[str, str] = {}
    for match, end in zip(matches, ends, strict=True):
        found.setdefault(match[1].lower().replace(" ", "_"), text[match.end() : end].strip())
    return CommentDraft(**found)
