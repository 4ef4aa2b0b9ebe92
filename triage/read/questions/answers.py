"""Tells whether a comment of the reporter answers what was asked: it has a value for it."""

import re
from collections.abc import Collection

from triage.domain.findings import MissingKind
from triage.domain.issue import Issue, ParsedIssue
from triage.read.questions.missing_information import can_be_seen
from triage.read.read_issue import read_issue
from triage.read.text_signs import count_words, find_sentences, has_code, has_error
from triage.read.versions.versions import MOVING_VERSION, names_platform

_MAX_CHARS = 20_000
_TELLING_WORDS = 12
_FILLER = re.compile(
    r"(?i)\b(?:a|an|any|bump|can|do|does|for|good|have|hello|here|hey|hi|i|is|it|me|morning|news|on|ping|please|same|"
    r"see|still|thanks?|thank you|the|there|this|too|up|updates?|waiting|we|workaround|yet|you|don['’]t know|no idea|"
    r"sorry)\b"
    r"|[^\w\s]"
)
"""What people write who only want to be heard."""
_QUOTED = re.compile(r"^[ \t]{0,3}>(?!>>).*$|(?<!\w)\+1\b", re.M)
_VERSION = re.compile(
    r"(?i)\d\.\d|\bv\d|\b(?:version|release|build|commit)\W{1,3}\w*\d|\b(?=\w*\d)[0-9a-f]{7,40}\b|^\W*\d+\W*$"
)
_SAYS = re.compile(r"(?i)\b(?:says?|said|prints?|shows?|messages?|errors?|exceptions?|outputs?|logs?)\b")


def answers_question(text: str, asked: Collection[MissingKind]) -> bool:
    """Return whether the comment, as GitHub's Markdown, answers one of the questions. A question answers none."""
    parsed = read_issue(Issue(title="", body=_QUOTED.sub("", text)))
    sentences = find_sentences(parsed.prose[:_MAX_CHARS])
    stated = "\n".join(one for one in sentences if not one.rstrip("\"')* ").endswith(("?", "？")))
    return any(_answers(parsed, stated, kind) for kind in asked)


def _answers(parsed: ParsedIssue, stated: str, kind: MissingKind) -> bool:
    words = count_words(_FILLER.sub(" ", stated))
    match kind:
        case "version":
            return any(map(_VERSION.search, [stated, *parsed.versions])) or MOVING_VERSION.search(stated) is not None
        case "error_output":
            return has_error(parsed) or has_code(parsed) or (words > 1 and _SAYS.search(stated) is not None)
        case "environment":
            return names_platform(parsed.text)
        case "reproduction":
            return can_be_seen(parsed) or words >= _TELLING_WORDS
    return words > 0 or has_code(parsed)
