"""What a comment of ours remembers for later runs, in its hidden first line."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from triage.domain.code import ExecutedCode, Suspect
from triage.domain.effect import COMMENT_MARKER, Suggestion
from triage.domain.findings import MissingKind
from triage.domain.issue import EarlierQuestions, Frame
from triage.domain.past_issues import PredictedBy
from triage.domain.proposal import ExampleOutcome, TestsOutcome
from triage.domain.report import RunReport
from triage.domain.statement import Cause, FoundPlaces, LikelyFiles
from triage.domain.task import RUN_WINDOW, RunKey, Subject
from triage.domain.value import Value
from triage.safety.clean_text import clean_text
from triage.say.decide import list_asked, list_comment_statements

MAX_NAMED = 3


class NamedFiles(NamedTuple):
    paths: list[str]
    """First the one of the headline, then the next ones of the list; at most `MAX_NAMED`."""
    by: PredictedBy


def find_named_files(report: RunReport) -> NamedFiles | None:
    """Return the files that the comment on a report names; None if it names none."""
    shown = list_comment_statements(report)
    for one in shown:
        match one:
            case FoundPlaces(places=[first, *_]):
                likely = [place.path for other in shown if isinstance(other, LikelyFiles) for place in other.files]
                paths = [*(place.span.path for place in one.places), *likely]
                return _name(paths, first.sign)
            case Cause(place=Suspect(path=path)):
                return _name([path, *(suspect.path for suspect in report.suspects)], "model")
            case LikelyFiles():
                return _name([place.path for place in one.files], "files")
    return None


def _name(paths: list[str], by: PredictedBy) -> NamedFiles:
    return NamedFiles(list(dict.fromkeys(paths))[:MAX_NAMED], by)


MAX_SUSPECTS = 15
MAX_RUNS = 60
MAX_SUGGESTED = 20
MAX_LABELS = 10
MAX_SAID = 12
MAX_EXECUTED, MAX_EXECUTED_CHARS = 20, 1_000
MAX_EARLIER, MAX_EARLIER_CHARS = 3, 400
MAX_PATH_CHARS = 150
MAX_LINE_CHARS = 14_000
_OPEN = f"{COMMENT_MARKER} v2 "
_CLOSE = " -->"
Hash = Annotated[str, Field(pattern=r"^([0-9a-f]{16})?$")]
"""First 64 bits of a SHA-256; empty if unknown."""


def _can_be_remembered(path: str) -> bool:
    """Return whether a path is short, relative, and harmless inside an HTML comment."""
    is_inside = bool(path) and not path.startswith("/") and ".." not in path.split("/")
    return is_inside and len(path) <= MAX_PATH_CHARS and path.isprintable() and not {"<", ">"} & set(path)


def _check_path(path: str) -> str:
    if not _can_be_remembered(path):
        raise ValueError("not a path that a comment remembers")
    return path


SuspectPath = Annotated[str, AfterValidator(_check_path)]
RunKeyText = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,10}\.(0|[1-9][0-9]{0,18})$")]
"""Seconds since 1970, and the id of a comment or 0."""

_VERSION = r"^[A-Za-z0-9_.+/!-]{0,40}$"
_FUNCTION = r"^[A-Za-z0-9_.$]{0,100}$"


class _Remembered(Value):
    """A part of the state. A field of another version is left out, and a value of another type is an error."""

    model_config = ConfigDict(strict=True, extra="ignore")


class FirstNamed(_Remembered):
    """The files that the comment named first. Later runs do not change it: they may have seen the fix."""

    at: int = Field(ge=1, le=99_999_999_999)
    """Seconds since 1970."""
    by: PredictedBy
    paths: list[SuspectPath] = Field(min_length=1, max_length=MAX_NAMED)


class FailingLine(_Remembered):
    """Where the example fails: the innermost frame in the repository."""

    path: SuspectPath
    line: int = Field(ge=1, le=9_999_999)
    function: Annotated[str, Field(pattern=_FUNCTION)] = ""


class Reproduced(_Remembered):
    """What running the report's example said last."""

    example: Hash
    fails: bool
    """On the default branch, with the failure that the report describes: then it is run again later."""
    on: Annotated[str, Field(pattern=_VERSION)] = ""
    """The release, tag or commit that it was compared with; empty for none."""
    frame: FailingLine | None = None
    executed: list[SuspectPath] = Field(default_factory=list, max_length=MAX_EXECUTED)
    """Files of the repository that it executes, those with most functions first."""
    gone: bool = False
    """It failed on the named version, and does not on the default branch."""

    @property
    def executed_code(self) -> ExecutedCode | None:
        """What the next triage learns of the run; None for nothing."""
        if not self.executed and self.frame is None:
            return None
        functions = [Frame(path=path) for path in self.executed]
        return ExecutedCode(functions=functions, place=self.frame and Frame(**self.frame.model_dump()))

    def with_code(self, executed: ExecutedCode) -> "Reproduced":
        """Return a copy that remembers what was executed, as far as the hidden line has room."""
        counts = Counter(one.path for one in executed.functions if _can_be_remembered(one.path))
        paths = [path for path, _ in counts.most_common(MAX_EXECUTED)]
        while sum(map(len, paths)) > MAX_EXECUTED_CHARS:
            paths.pop()
        place, frame = executed.place, None
        if place and place.line and _can_be_remembered(place.path):
            function = (place.function or "") if re.fullmatch(_FUNCTION, place.function or "") else ""
            frame = FailingLine(path=place.path, line=place.line, function=function)
        return self.model_copy(update={"frame": frame, "executed": paths})


def is_version_remembered(on: str) -> bool:
    """Return whether a version's name is short, and harmless inside an HTML comment."""
    return bool(re.fullmatch(_VERSION, on))


PartName = Literal["reproduction", "report", "proposal", "reply", "footer"]
PART_NAMES: tuple[PartName, ...] = get_args(PartName)
"""In the order in which the comment shows them."""


class ShownPart(_Remembered):
    """Where a part of the comment stands, so that nobody has to look for it in text that strangers have written."""

    name: PartName
    start: int = Field(ge=0)
    """In characters, from the line after the state on."""
    chars: int = Field(ge=1)
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    """The first 128 bits of the SHA-256 of its text."""


class SaidText(_Remembered):
    """Where a statement stands in the part `report`."""

    subject: Subject
    start: int = Field(ge=0)
    chars: int = Field(ge=1)
    digest: Hash
    """Of its text: another one is never taken for it."""


class CommentState(_Remembered):
    text_hash: Hash = Field("", alias="text")
    """Of the issue's title and body: an edit that changes neither needs no run."""
    content_hash: Hash = Field("", alias="content")
    """Of what the comment says: the same content is not written again."""
    asked_kinds: list[MissingKind] = Field(default_factory=list, alias="asked", max_length=8)
    suspects: list[SuspectPath] = Field(default_factory=list, max_length=MAX_SUSPECTS)
    """Paths of all suspects so far, the latest first."""
    quiet: bool = False
    is_asked: bool = False
    """Somebody has asked for what the comment shows: likely files stay in it."""
    suggestion_hashes: list[Hash] = Field(default_factory=list, alias="suggested", max_length=MAX_SUGGESTED)
    """Hashes of what was suggested in GitHub's own panel: whoever declines it is not asked again."""
    label_hashes: list[Hash] = Field(default_factory=list, alias="labels", max_length=MAX_LABELS)
    """Hashes of the labels that the comment suggested, the panel suggested, or the run added."""
    first_named: FirstNamed | None = Field(None, alias="named")
    proposal_commit: str = Field("", alias="proposal", pattern=r"^([0-9a-f]{40})?$")
    """Last commit of the proposed patch that the comment shows."""
    tests_outcome: TestsOutcome = Field("", alias="tests")
    """What the project's tests said of it."""
    example_outcome: ExampleOutcome = Field("", alias="example")
    """What became of the report's example with it."""
    reproduced: Reproduced | None = None
    parts: list[ShownPart] = Field(default_factory=list, max_length=len(PART_NAMES))
    """Of the comment that has this state."""
    said: list[SaidText] = Field(default_factory=list, max_length=MAX_SAID)
    """The statements of the part `report`, in order."""
    wrong_subjects: list[Subject] = Field(default_factory=list, alias="wrong", max_length=len(get_args(Subject)))
    """What a person called wrong: nothing is said of it any more."""
    questions: Annotated[str, Field(max_length=MAX_EARLIER_CHARS, pattern=r"^[^<>]*$")] = ""
    """What the comment asks now, one a line."""
    earlier_questions: list[EarlierQuestions] = Field(default_factory=list, alias="earlier", max_length=MAX_EARLIER)
    """What the comment asked before it asked what it asks now, oldest first."""
    runs: list[RunKeyText] = Field(default_factory=list, max_length=MAX_RUNS)
    """Runs of the last day that an event started. A command counts even if its comment is deleted later."""

    @property
    def past_runs(self) -> list[RunKey]:
        keys = [key.split(".") for key in self.runs]
        return [RunKey(at=datetime.fromtimestamp(int(at), UTC), comment_id=int(comment)) for at, comment in keys]

    def with_report(self, report: RunReport, text_hash: str) -> "CommentState":
        """Return the state of the comment that shows the report, about the text of this hash."""
        asked = [*self.asked_kinds, *(missing.kind for missing in list_asked(report))]
        suspects = [*filter(_can_be_remembered, (suspect.path for suspect in report.suspects)), *self.suspects]
        return self.model_copy(
            update={
                "text_hash": text_hash,
                "content_hash": hash_content(report),
                "asked_kinds": list(dict.fromkeys(asked)),
                "suspects": list(dict.fromkeys(suspects))[:MAX_SUSPECTS],
                "is_asked": self.is_asked or report.comment_reason in ("asked", "always"),
                "first_named": self.first_named or _find_first_named(report),
                "quiet": False,
                "said": [],
            }
        )

    def with_suggestions(self, suggestions: Sequence[Suggestion]) -> "CommentState":
        """Return a copy that remembers them."""
        hashes = [*self.suggestion_hashes, *map(hash_suggestion, suggestions)]
        return self.model_copy(update={"suggestion_hashes": list(dict.fromkeys(hashes))[-MAX_SUGGESTED:]})

    def with_labels(self, names: Sequence[str]) -> "CommentState":
        """Return a copy that remembers labels that were suggested or added."""
        hashes = [*self.label_hashes, *map(hash_label, names)]
        return self.model_copy(update={"label_hashes": list(dict.fromkeys(hashes))[:MAX_LABELS]})

    def with_questions(self, asked: Sequence[str], since: datetime) -> "CommentState":
        """Return a copy that remembers what the comment asks, and what it has asked before."""
        questions = re.sub("[<>]", " ", clean_text("\n".join(asked)))[:MAX_EARLIER_CHARS]
        if questions == self.questions:
            return self
        before = [EarlierQuestions(until=int(since.timestamp()), text=self.questions)] if self.parts else []
        earlier = [*self.earlier_questions, *before][-MAX_EARLIER:]
        return self.model_copy(update={"questions": questions, "earlier_questions": earlier})

    def with_run(self, run_key: RunKey | None) -> "CommentState":
        """Return a copy with this run and without those older than a day."""
        key = f"{max(1, int(run_key.at.timestamp()))}.{run_key.comment_id}" if run_key else ""
        if run_key is None or key in self.runs:
            return self
        oldest = (run_key.at - RUN_WINDOW).timestamp()
        recent = [other for other in self.runs if int(other.partition(".")[0]) > oldest]
        return self.model_copy(update={"runs": [*recent, key][-MAX_RUNS:]})


def parse_state(body: str) -> CommentState | None:
    """Return the state in the first line of a comment; None if it has none. Fields of other versions are left out."""
    line = body[:MAX_LINE_CHARS].partition("\n")[0].removesuffix("\r")
    if not line.startswith(_OPEN) or line.find(_CLOSE) != len(line) - len(_CLOSE):
        return None
    try:
        return CommentState.model_validate_json(line.removeprefix(_OPEN).removesuffix(_CLOSE))
    except ValidationError:
        return None


def _find_first_named(report: RunReport) -> FirstNamed | None:
    """Return what a report names, as later runs remember it; None if it names none, or its first path is too odd."""
    named = find_named_files(report)
    # Without the first one, the others would count as what it said first.
    if named is None or not _can_be_remembered(named.paths[0]):
        return None
    paths = list(filter(_can_be_remembered, named.paths))
    at = max(1, int(report.started_at.timestamp()))
    return FirstNamed(at=at, by=named.by, paths=paths)


def find_said(subjects: Sequence[Subject | None], blocks: Sequence[str]) -> list[SaidText]:
    """Return where each block stands that has a subject, in a text that has an empty line between blocks."""
    said, start = list[SaidText](), 0
    for subject, block in zip(subjects, blocks, strict=False):
        if subject:
            said.append(SaidText(subject=subject, start=start, chars=len(block), digest=_hash(block)))
        start += len(block) + 2
    return said[:MAX_SAID]


def cut_wrong(text: str, state: CommentState) -> tuple[str, list[SaidText]]:
    """Return the part `report` without what is wrong, and what it still says; empty if nothing, or nobody knows."""
    texts = [text[one.start : one.start + one.chars] for one in state.said]
    if any(_hash(shown) != one.digest for shown, one in zip(texts, state.said, strict=True)):
        return "", []
    left, removed = list[SaidText](), 0
    for one in state.said:
        start = one.start - removed
        if one.subject in state.wrong_subjects:
            text = text[:start] + text[start + one.chars :].removeprefix("\n\n")
            removed += one.chars + 2
        else:
            left.append(one.model_copy(update={"start": start}))
    return (text.rstrip("\n"), left) if left else ("", [])


def hash_label(name: str) -> str:
    return _hash(f"label:{name.casefold()}")


def hash_example(code: str) -> str:
    return _hash(f"example:{code}")


def hash_suggestion(suggestion: Suggestion) -> str:
    return _hash(suggestion.key)


_UNSEEN: dict[str, Any] = {
    "duplicate": {"issue": {"score", "reasons", "is_probably_same"}},
    "analysis": {"severity_reason", "summary", "why", "fix_idea", "check"},
    "found": {"places": {"__all__": {"probability"}}, "owners": True, "last_change": True},
    "files": {"files": {"__all__": {"reason", "span", "symbol"}}},
    "question": {"questions": {"__all__": {"reason"}}},
}
"""Fields of statements, by rule, that may change without a reader noticing: a model words the same thing anew."""


def hash_content(report: RunReport) -> str:
    """Return the hash of what the comment says. The same content is not written again."""
    said = [one.model_dump(mode="json", exclude=_UNSEEN.get(one.rule)) for one in list_comment_statements(report)]
    return _hash([report.kind, *said])


def render_state(state: CommentState) -> str:
    text = json.dumps(state.model_dump(mode="json", exclude_defaults=True), separators=(",", ":"), ensure_ascii=False)
    return _OPEN + text.replace("--", "-\\u002d") + _CLOSE  # of a path


def hash_text(title: str, body: str) -> str:
    """Return the hash of an issue. Kinds of line ends and white space around the text do not change it."""
    return _hash([title.strip(), body.replace("\r\n", "\n").strip()])


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()[:16]
