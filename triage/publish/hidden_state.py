"""What our comment remembers in its first line, which nobody sees: hashes, enums and numbers, nothing else.

Whoever can edit the comment can forge it, so it is read strictly and decides only whether something is written, or
run, again. Nothing in it can end the HTML comment that holds it.
"""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import ConfigDict, Field, ValidationError

from triage.domain.effect import COMMENT_MARKER
from triage.domain.findings import MissingKind
from triage.domain.report import RunReport
from triage.domain.task import PastRun
from triage.domain.value import Value

MAX_SUSPECTS = 40
MAX_RUNS = 60
MAX_RUN_AGE = timedelta(hours=24)
MAX_LINE_CHARS = 4096
_OPEN = f"{COMMENT_MARKER} v1 "
_CLOSE = " -->"

Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{16})?$")]
"""First 64 bits of a SHA-256, or empty when it is not known."""
RunKey = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,10}\.(0|[1-9][0-9]{0,18})$")]
"""Seconds since 1970, and a comment's id or 0."""


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
    runs: list[RunKey] = Field(default_factory=list, max_length=MAX_RUNS)
    """Those of a day that events have started: a command that is deleted afterwards has been run all the same."""

    @property
    def parsed_runs(self) -> list[PastRun]:
        """The runs as values."""
        keys = [key.split(".") for key in self.runs]
        return [PastRun(at=datetime.fromtimestamp(int(at), UTC), comment_id=int(comment)) for at, comment in keys]

    def with_run(self, run: PastRun | None) -> "PostedState":
        """The same, and this run; those of the days before it are forgotten."""
        if run is None or format_run_key(run) in self.runs:
            return self
        young = [format_run_key(other) for other in self.parsed_runs if other.at > run.at - MAX_RUN_AGE]
        return self.model_copy(update={"runs": [*young, format_run_key(run)][-MAX_RUNS:]})

    def has_run(self, run: PastRun) -> bool:
        """Whether this run is among them: it is one that was started again."""
        return format_run_key(run) in self.runs


def format_run_key(run: PastRun) -> str:
    """The run as the state has it."""
    return f"{max(1, int(run.at.timestamp()))}.{run.comment_id}"


def render_state(state: PostedState) -> str:
    """The first line of the comment."""
    unknown_before = set() if state.runs else {"runs"}  # comments of earlier versions lack it, and are still ours
    return _OPEN + json.dumps(state.model_dump(mode="json", exclude=unknown_before), separators=(",", ":")) + _CLOSE


def parse_state(body: str) -> PostedState | None:
    """The state that a comment's first line holds; none when it is not exactly as `render` writes it."""
    line = body[:MAX_LINE_CHARS].partition("\n")[0].removesuffix("\r")
    if not line.startswith(_OPEN) or not line.endswith(_CLOSE):
        return None
    try:
        state = PostedState.model_validate_json(line.removeprefix(_OPEN).removesuffix(_CLOSE))
    except ValidationError:
        return None
    return state if render_state(state) == line else None


def next_state(report: RunReport, previous: PostedState | None, text: str | None = "") -> PostedState:
    """State of the comment that shows `report`; earlier questions and suspects stay known.

    `text`: the issue's hash; without it the report is partial, and the next one counts as news whatever it says.
    """
    earlier = previous or PostedState()
    asked = [*earlier.asked, *(missing.kind for missing in report.missing_information)]
    suspects = [*(hash_path(suspect.path) for suspect in report.suspects), *earlier.suspects]
    return PostedState(
        text=text or "",
        content="" if text is None else hash_content(report),
        asked=list(dict.fromkeys(asked)),
        suspects=list(dict.fromkeys(suspects))[:MAX_SUSPECTS],
        runs=earlier.runs,
    )


def replace_state(body: str, state: PostedState) -> str:
    """The comment with another state and every visible word of it as it was."""
    words = body.partition("\n")[2]
    return f"{render_state(state)}\n{words}"


def hash_text(title: str, body: str) -> str:
    """Of the issue as its author wrote it; line ends and white space around it do not count."""
    return _hash([title.strip(), body.replace("\r\n", "\n").strip()])


def hash_path(path: str) -> str:
    """Of one suspect's path."""
    return _hash(path)


def hash_content(report: RunReport) -> str:
    """Of what a reader would miss: verdict (with kind and severity), suspects, questions, next steps."""
    places = [(suspect.path, suspect.span and (suspect.span.start, suspect.span.end)) for suspect in report.suspects]
    questions = [(missing.kind, _normalize(missing.question)) for missing in report.missing_information]
    steps = [_normalize(step) for step in report.next_steps]
    return _hash([report.kind, report.verdict, report.severity, places, questions, steps])


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()[:16]
