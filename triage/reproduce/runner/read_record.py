"""Reads what the recorder printed, as a stranger's words, and says how one run of the example ended."""

import json
import re
import signal
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from triage.base.text import word_set
from triage.reproduce.evidence import MAX_OUTPUT_CHARS, MAX_TEXT_CHARS, Execution, Failure, FailurePlace
from triage.safety.clean_text import clean_text

EXAMPLE = "<example>"
OTHER = "<other>"
MAX_RECORD_BYTES = 1_000_000

_NETWORK = word_set(
    "gaierror URLError ConnectionError NewConnectionError MaxRetryError ConnectTimeout NameResolutionError SSLError "
    "ProxyError ConnectTimeoutError ENOTFOUND EAI_AGAIN ECONNREFUSED ENETUNREACH ConnectionRefusedError"
)
_FILES = word_set("FileNotFoundError IsADirectoryError NotADirectoryError ENOENT")
_IMPORTS = word_set("ModuleNotFoundError ImportError MODULE_NOT_FOUND ERR_MODULE_NOT_FOUND")
_OLD_NAMES = re.compile(r"^name '(?:basestring|long|raw_input|reduce|unichr|unicode|xrange)' is not defined")
GONE = "what it uses is not there"
_GONE = re.compile(
    r"cannot import name '?(?P<imported>\w+)|^(?P<called>[\w$]+)(?:\.[\w$]+)* is not a (?:function|constructor)"
    r"|^(?:type object )?'(?P<owner>\w+)' (?:object )?has no attribute|No module named"
    r"|^module \S+ has no attribute|Cannot find module|provide an export named|not defined by \"exports"
)
_IMPORT = re.compile(r"\b(?:import|require|from)\b")
_CUT = BeforeValidator(lambda text: text[:MAX_TEXT_CHARS] if isinstance(text, str) else text)


class _Error(BaseModel):
    type: str = Field(max_length=500)
    message: Annotated[str, _CUT] = ""
    frames: list[tuple[str, int, str]] = Field(default_factory=list, max_length=100)
    causes: list[str] = Field(default_factory=list, max_length=10)


class _Record(BaseModel):
    errors: list[_Error] = Field(default_factory=list, max_length=10)
    executed: list[tuple[str, int, str]] = Field(default_factory=list, max_length=2_000)
    folders: list[str] = Field(default_factory=list, max_length=50)


class _Line(BaseModel):
    code: int | None
    late: bool
    runtime: str = Field("", max_length=40)
    output: str = ""
    record: _Record | None


def read_record(data: bytes) -> Execution:
    """Return how one run ended. Anything that is not the recorder's line is `could-not-run`."""
    try:
        line = _Line.model_validate(json.loads(data[:MAX_RECORD_BYTES]))
    except (ValueError, ValidationError, RecursionError):
        return Execution(outcome="could-not-run", reason="the runner did not start")
    output = clean_text(line.output)[:MAX_OUTPUT_CHARS]
    common: dict[str, Any] = {"output": output, "runtime": line.runtime}
    record = line.record
    if line.late:
        return Execution(outcome="timed-out", reason="it did not end within its time limit", **common)
    killed = name_signal(line.code)
    if killed not in ("SIGKILL", ""):
        said = clean_text(record.errors[0].message) if record and record.errors else "the process died"
        return Execution(outcome="failed", failures=[Failure(type=killed, message=said)], **common)
    if killed or line.code is None:
        return Execution(outcome="could-not-run", reason="the runner was ended", **common)
    if record is None or (line.code and not record.errors):
        return Execution(outcome="could-not-run", reason=f"it ended itself with code {line.code}", **common)
    common["executed"] = [_make_place(frame, record.folders) for frame in record.executed]
    failures = [_make_failure(error, record.folders) for error in record.errors]
    outcome = "failed" if failures else "passed"
    return Execution(outcome=outcome, failures=failures, **common)


def name_signal(code: int | None) -> str:
    """Return the signal that ended a process, by its negative code; empty for another end."""
    try:
        return signal.Signals(-code).name if code is not None and code < 0 else ""
    except ValueError:
        return ""


def _make_failure(error: _Error, folders: Sequence[str]) -> Failure:
    return Failure(
        type=_line(error.type, 200),
        message=clean_text(error.message),
        causes=[_line(cause, 200) for cause in error.causes],
        frames=[_make_place(frame, folders) for frame in error.frames],
    )


def _make_place(frame: tuple[str, int, str], folders: Sequence[str]) -> FailurePlace:
    path, line, function = frame
    return FailurePlace(path=_shorten(path, folders), line=max(0, line), function=_line(function, 200))


def _shorten(path: str, folders: Sequence[str]) -> str:
    """Return a path below the folder that the project's module is in."""
    if path == EXAMPLE:
        return EXAMPLE
    for folder in folders:
        parent = folder.rpartition("/")[0]
        if path == folder or path.startswith(f"{folder}/"):
            return _line(path.removeprefix(f"{parent}/"), 500)
    return OTHER


def _line(text: str, limit: int) -> str:
    return " ".join(clean_text(text).split())[:limit]


def is_gone(failure: Failure, code: str, modules: Sequence[str]) -> bool:
    """Return whether an example asks the project for a name that it does not have: a renamed one, or a younger one."""
    found = _GONE.search(failure.message)
    if found is None or any(frame.path != EXAMPLE for frame in failure.frames[-1:]):
        return False
    own, name = "|".join(map(re.escape, modules)), found["imported"] or found["called"] or found["owner"]
    if not name:  # such as a module of its own; not its entry, which must be built
        said = rf"['\"](?:{own})(?![\w-])|node_modules/(?:{own})/package\.json"
        whole = rf"(?:No module named|Cannot find module) ['\"](?:{own})['\"]"  # it was not built
        return bool(re.search(said, failure.message)) and not re.search(whole, failure.message)
    lines = (line for line in code.splitlines() if _IMPORT.search(line) and name in re.findall(r"[\w$]+", line))
    return any(re.search(rf"(?<![\w-])(?:{own})(?![\w-])", line) for line in lines)


def find_obstacle(execution: Execution, failure: Failure) -> str:
    """Return why the example showed nothing, in our own words; empty if its failure says something.

    An error before the project's own code ran is no failure of the project: a missing package, file or network, a
    name that nothing defines, dependencies that do not fit.
    """
    kinds = {failure.type, *failure.causes}
    own = [frame for frame in failure.frames if frame.path not in (EXAMPLE, OTHER)]
    if kinds & _IMPORTS:
        return "an import fails"
    if kinds & _NETWORK:
        return "it needs the network"
    if failure.type in _FILES:
        return "it needs a file"
    if failure.type == "SyntaxError" and not own:
        return "it is not valid code, at least for this version"
    is_in_example = bool(failure.frames) and failure.frames[-1].path == EXAMPLE
    if failure.type in ("NameError", "ReferenceError") and is_in_example:
        return "it uses a name that nothing defines"
    if failure.type == "NameError" and _OLD_NAMES.match(failure.message):
        return "it needs Python 2"
    if (
        not own
        and not execution.executed
        and execution.is_traced
        and failure.type != "AssertionError"
        and not failure.type.startswith("SIG")
    ):
        return "it failed before it used the project"
    return ""
