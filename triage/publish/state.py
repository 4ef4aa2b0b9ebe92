"""What our comment remembers in its first line, which nobody sees: hashes and enums, nothing else.

Whoever can edit the comment can forge it, so it is read strictly and decides only whether something is written
again. Nothing in it can end the HTML comment that holds it.
"""

import hashlib
import json
from typing import Annotated

from pydantic import ConfigDict, Field, ValidationError

from triage.domain.effect import COMMENT_MARKER
from triage.domain.findings import MissingKind
from triage.domain.report import RunReport
from triage.domain.value import Value

MAX_SUSPECTS = 40
MAX_LINE_CHARS = 4096
_OPEN = f"{COMMENT_MARKER} v1 "
_CLOSE = " -->"

Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{16})?$")]
"""First 64 bits of a SHA-256, or empty when it is not known."""


class PostedState(Value):
    """What the comment said when it was written."""

    model_config = ConfigDict(strict=True)

    text: Hash = ""
    """Of the issue's title and body: an edit that leaves both alone needs no run."""
    content: Hash = ""
    """Of verdict, suspects, questions and next steps: the same again is not written again."""
    asked: list[MissingKind] = Field(default_factory=list, max_length=8)
    """Kinds of all questions so far."""
    suspects: list[Hash] = Field(default_factory=list, max_length=MAX_SUSPECTS)
    """Of the paths of all suspects so far."""
    quiet: bool = False


def render(state: PostedState) -> str:
    """The first line of the comment."""
    return _OPEN + json.dumps(state.model_dump(mode="json"), separators=(",", ":")) + _CLOSE


def parse(body: str) -> PostedState | None:
    """The state that a comment's first line holds; none when it is not exactly as `render` writes it."""
    line = body[:MAX_LINE_CHARS].partition("\n")[0].removesuffix("\r")
    if not line.startswith(_OPEN) or not line.endswith(_CLOSE):
        return None
    try:
        state = PostedState.model_validate_json(line.removeprefix(_OPEN).removesuffix(_CLOSE))
    except ValidationError:
        return None
    return state if render(state) == line else None


def next_state(report: RunReport, previous: PostedState | None, text: str | None = "") -> PostedState:
    """State of the comment that shows `report`; earlier questions and suspects stay known.

    `text`: the issue's hash; without it the report is partial, and the next one counts as news whatever it says.
    """
    earlier = previous or PostedState()
    asked = [*earlier.asked, *(missing.kind for missing in report.missing_information)]
    suspects = [*(path_hash(suspect.path) for suspect in report.suspects), *earlier.suspects]
    return PostedState(
        text=text or "",
        content="" if text is None else content_hash(report),
        asked=list(dict.fromkeys(asked)),
        suspects=list(dict.fromkeys(suspects))[:MAX_SUSPECTS],
    )


def text_hash(title: str, body: str) -> str:
    """Of the issue as its author wrote it; line ends and white space around it do not count."""
    return _hash([title.strip(), body.replace("\r\n", "\n").strip()])


def path_hash(path: str) -> str:
    """Of one suspect's path."""
    return _hash(path)


def content_hash(report: RunReport) -> str:
    """Of what a reader would miss: verdict (with kind and severity), suspects, questions, next steps."""
    places = [(suspect.path, suspect.span and (suspect.span.start, suspect.span.end)) for suspect in report.suspects]
    questions = [(missing.kind, _folded(missing.question)) for missing in report.missing_information]
    steps = [_folded(step) for step in report.next_steps]
    return _hash([report.kind, report.verdict, report.severity, places, questions, steps])


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()[:16]
