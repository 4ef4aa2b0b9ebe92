"""Reads what an example of any language printed, and says how one run of it ended. No recorder ran beside it."""

import re
import signal
from collections.abc import Sequence
from pathlib import PurePosixPath

from triage.base.processes import ProcessResult
from triage.domain.issue import Issue, ParsedIssue, Trace
from triage.read.read_issue import read_issue
from triage.reproduce.evidence import MAX_OUTPUT_CHARS, MAX_TEXT_CHARS, Execution, Failure, FailurePlace
from triage.reproduce.runner.read_record import EXAMPLE, OTHER, name_signal
from triage.safety.clean_text import clean_text

NOT_BUILT = 97
"""The code that our own script ends with if the example cannot be built."""
NOT_STARTED = 125
"""The same if it cannot be started; Docker's own errors have it too."""
_LABELLED = re.compile(
    r"(?i)^\W{0,4}((?:[a-z]+ )?(?:[\w.]{0,200}(?:error|exception|warning)|panic|fatal)\b[^:\s]{0,80}"
    r"(?: [A-Z]+\d+)?): (.+)",
    re.S,
)
_THROWN = re.compile(r"terminate called after throwing an instance of '([\w:]+)'(?:\s+what\(\):\s+(.+))?")
_ASSERTION = re.compile(r"(?i)(?:^|: )assert(?:ion)?\b.*\bfailed", re.S)
RENAMED = re.compile(r"\b(?:IOError|EnvironmentError|WindowsError)\b")
"""What Python 3 calls `OSError`."""
_SIGNALS = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_DIED = {(signal.strsignal(one) or "").partition(":")[0].lower(): one.name for one in _SIGNALS}
"""What a shell prints of a process that a signal ended."""


def read_output(result: ProcessResult, folder: str, file: str, paths: Sequence[str]) -> Execution:
    """Return how one run ended.

    Args:
        result: Of the script that builds and runs the example.
        folder: What the checkout is below.
        file: The example's path in it.
        paths: The files of the version.
    """
    output = clean_text(result.output.decode("utf-8", "replace")).replace(f"{folder}/", "")
    shown = output[-MAX_OUTPUT_CHARS:]
    killed = name_signal(result.code if result.code < 0 else 128 - result.code)
    if result.is_late:
        return Execution(outcome="timed-out", reason="it did not end within its time limit", output=shown)
    if result.code == NOT_STARTED or killed == "SIGKILL":
        return Execution(outcome="could-not-run", reason="the runner was ended", output=shown)
    fence = "~" * max(3, output.count("~") + 1)
    failures = list_failures(read_issue(Issue(title="", body=f"{fence}\n{output}\n{fence}\n")), output)
    failures = [_with_own_paths(one, file, paths) for one in failures]
    if killed:
        failures.append(Failure(type=killed, message="the process died"))
    elif result.code and not failures:
        failures = [Failure(type=f"exit code {result.code}")]
    return Execution(
        outcome="failed" if result.code else "passed",
        reason="it cannot be built" if result.code == NOT_BUILT else "",
        failures=failures[:10],
        output=shown,
        is_traced=False,
    )


def list_failures(parsed: ParsedIssue, shown: str) -> list[Failure]:
    """Return the errors that a text in any language shows: those of traces and compilers, else of lines and shells.

    `shown` is its code without the example, whose own words are no errors.
    """
    thrown = [_make_failure(match[1], match[2] or "") for match in _THROWN.finditer(shown)]
    traced = [found for trace in parsed.traces if (found := _read_trace(trace))]
    return thrown + traced or [_read_line(message) for message in parsed.error_messages if message in shown]


def _read_trace(trace: Trace) -> Failure | None:
    if trace.language == "shell":  # of the script that runs the example: what died says it itself
        return None
    message = trace.message or ""
    is_of_compiler = trace.language == "diagnostic"
    stated = None if trace.exception else _LABELLED.match(message)
    kind = stated[1] if stated else trace.exception or ("error" if is_of_compiler else "panic")
    if not (trace.exception or message) or (is_of_compiler and "warning" in f"{kind}{message}".lower()):
        return None
    frames = [FailurePlace(path=one.path[:500], line=one.line or 0, function=one.name[:200]) for one in trace.frames]
    return _make_failure(kind, stated[2] if stated else message, frames)


def _read_line(line: str) -> Failure:
    died = next((name for words, name in _DIED.items() if line.lower().rpartition(": ")[2].startswith(words)), "")
    if died:
        return Failure(type=died)
    match = _LABELLED.match(line)
    return _make_failure(match[1], match[2]) if match else _make_failure("error", line)


def _make_failure(kind: str, message: str, frames: Sequence[FailurePlace] = ()) -> Failure:
    name = "AssertionError" if _ASSERTION.search(message) else RENAMED.sub("OSError", re.split(r"\.|::|\\", kind)[-1])
    return Failure(type=name[:200] or "error", message=message.strip()[:MAX_TEXT_CHARS], frames=list(frames))


def _with_own_paths(failure: Failure, file: str, paths: Sequence[str]) -> Failure:
    def find(path: str) -> str:
        path = str(PurePosixPath(path))
        return EXAMPLE if f"/{file}".endswith(f"/{path}") else find_file(paths, path) or OTHER

    frames = [frame.model_copy(update={"path": find(frame.path)}) for frame in failure.frames]
    return failure.model_copy(update={"frames": frames})


def find_file(paths: Sequence[str], path: str) -> str:
    """Return the file that an installed or a printed path means; empty if there is not exactly one."""
    found = [one for one in paths if one == path or one.endswith(f"/{path}")]
    return path if path in found else found[0] if len(found) == 1 else ""
