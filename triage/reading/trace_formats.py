"""The formats of stack traces: what a frame looks like, the order of frames, and where the error is stated."""

import re
from collections.abc import Sequence
from dataclasses import replace

from triage.reading.trace_parts import (
    FindFrame,
    FrameLine,
    RaisedError,
    TraceFormat,
    error_around,
    error_near,
    frame_by_pattern,
    frame_from_groups,
    search_error,
)

_NAME = r"[A-Za-z_$][\w.$:]{0,120}"
_RAISED_NAME = (
    r"(?:[A-Za-z_][\w.:$]{0,120})?"
    r"(?:Error|Exception|Warning|Interrupt|Exit|Failure|Fault|Panic|Timeout|Abort|Throwable|DoesNotExist)\w{0,20}"
)


def _rust_panic(lines: Sequence[str], frames: range) -> RaisedError | None:
    """Newer compilers write the message on the line after the panic's location."""
    found = search_error(_PANIC, lines, range(frames.start, max(-1, frames.start - 12), -1))
    if found is None or found.message is not None or found.line is None or found.line + 1 >= len(lines):
        return found
    message = lines[found.line + 1].strip()
    return replace(found, message=None if message.startswith(("stack backtrace", "note: ")) else message)


def _jvm_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """`at org.shop.Cart.add(Cart.java:12)`: the package gives the folder."""
    match = _JVM.match(lines[number])
    if match is None:
        return None
    parts = match["function"].split(".")
    folder = "/".join(parts[:-2])
    path = f"{folder}/{match['file']}" if folder else match["file"]
    return FrameLine(path, int(match["line"]) if match["line"] else None, match["function"])


def _frame_below_call(location: re.Pattern[str], call: re.Pattern[str]) -> FindFrame:
    """The function is on the line above its location."""

    def find_frame(lines: Sequence[str], number: int) -> FrameLine | None:
        match = location.match(lines[number])
        if match is None:
            return None
        above = call.match(lines[number - 1]) if number else None
        return FrameLine(match["path"], int(match["line"]), above["function"].strip() if above else None)

    return find_frame


def _notebook_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """IPython: a line with file and function, then code with an arrow at the current line."""
    match = _NOTEBOOK.match(lines[number])
    if match is None:
        return None
    line = match["line"]
    for following in lines[number + 1 : number + 12]:
        if line or not following.strip():
            break
        arrow = _ARROW.match(following)
        line = arrow[1] if arrow else None
    return FrameLine(match["path"] or match["path2"], int(line) if line else None, match["function"])


def _page_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """Django's error page: `File "x.py" in view`, and on the next line `12. code`."""
    match = _PAGE.match(lines[number])
    if match is None or number + 1 >= len(lines):
        return None
    line = re.match(r"\s{0,40}(\d{1,7})\.\s", lines[number + 1])
    return FrameLine(match["path"], int(line[1]) if line else None, match["function"])


def _diagnostic_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    match = _DIAGNOSTIC.match(lines[number]) or _BRACKETED.match(lines[number])
    return frame_from_groups(match.groupdict()) if match else None


_JVM = re.compile(
    r"\s*at (?:[\w.\-$@]{1,200}/{1,2}){0,3}(?P<function>[\w$.<>]{1,300})"
    r"\((?P<file>[\w$.-]{1,120}\.(?:java|kt|kts|scala|groovy|clj))(?::(?P<line>\d{1,7}))?\)"
)
_PANIC = re.compile(
    r".{0,200}?panicked at (?:'(?P<message>.{0,600}?)', )?(?P<path>[^\s:,']{1,300}\.rs):(?P<line>\d{1,7})"
)
_GO_LOCATION = re.compile(r"\s*(?P<path>(?:[A-Za-z]:)?[^\s:]{1,400}\.go):(?P<line>\d{1,7})(?: \+0x[0-9a-f]+)?\s*$")
_GO_CALL = re.compile(
    r"\s*(?:created by )?(?P<function>[\w./*()\-\[\]{}$%]{1,300}?)(?:\([^()]*\)| in goroutine \d+)?\s*$"
)
_RUST_LOCATION = re.compile(r"\s+at (?P<path>(?:[A-Za-z]:)?[^\s:]{1,400}\.rs):(?P<line>\d{1,7})(?::\d{1,7})?\s*$")
_RUST_CALL = re.compile(r"\s*\d{1,5}:\s+(?:0x[0-9a-f]+ - )?(?P<function>\S.{0,300})$")
_NOTEBOOK = re.compile(
    r"(?:(?:File )?(?P<path>(?:[A-Za-z]:)?[^\s:\"<>*?|]{1,400}\.pyx?|"
    r"<ipython-input-[\w-]{1,60}>)(?::(?P<line>\d{1,7}),)?"
    r"|(?P<path2>(?:Input )?In \[\d{1,6}\]),?) in (?P<function>[\w<>.]{1,200}|<[\w :]{1,60}>)(?:\(.{0,600})?\s*$"
)
_ARROW = re.compile(r"-{1,8}> ?(\d{1,7})\b")
_PAGE = re.compile(r"\s*File \"(?P<path>[^\"]{1,400})\" in (?P<function>\S{1,200})\s*$")
_PATH = r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:()\"'`<>|*?]{1,300}\.[A-Za-z]\w{0,8})"
_DIAGNOSTIC = re.compile(
    rf"\s*(?:\x1b)?{_PATH}:(?P<line>\d{{1,7}})(?::\d{{1,7}})?(?::| -) ?"
    rf"(?P<message>(?:fatal |runtime |internal compiler |syntax |parse )?(?:error|warning|fatal|panic)\b.{{0,600}}"
    rf"|(?:[EFCWR]\d{{3,4}}|[A-Z]{{1,4}}\d{{3,5}}):? .{{0,600}}"
    rf"|(?P<exception>{_RAISED_NAME})(?::.{{0,600}}|$)"
    r"|Fatal error:.{0,600}|undefined:.{0,600}|undefined reference.{0,600}|cannot (?:use|find|convert).{0,600})",
    re.I,
)
_BRACKETED = re.compile(
    rf"\s*{_PATH}\((?P<line>\d{{1,7}})(?:,\d{{1,7}})?\):? ?:? (?P<message>(?:fatal )?(?:error|warning)\b.{{0,600}})",
    re.I,
)

_ERROR = rf"(?P<exception>{_RAISED_NAME}|{_NAME}(?<=\w)(?=: ))(?:: ?(?P<message>.*)|\s*$)"
_FRAME_IN_FILE = (
    r"[\s|+]{0,40}(?:E\s{1,8})?File \"(?P<path>[^\"]{1,400})\", line (?P<line>\d{1,9})(?:, in ?(?P<function>.{0,200}))?"
)

TRACE_FORMATS: tuple[TraceFormat, ...] = (
    TraceFormat(
        "python",
        (", line ",),
        frame_by_pattern(_FRAME_IN_FILE),
        error_near(rf"(?:[\s|]{{0,40}}|E\s{{1,8}})(?!File \"){_ERROR}", below=6),
        gap=5,
        starts=re.compile(r"Traceback \(most recent call last\)"),
        ends=re.compile(rf"^[\s|]{{0,8}}{_RAISED_NAME}(?::|\s*$)"),
    ),
    TraceFormat(
        "python",
        (" in ",),
        _notebook_frame,
        error_near(rf"(?!-){_ERROR}", below=24),
        gap=22,
        starts=re.compile(r"Traceback \(most recent call last\)"),
        ends=re.compile(rf"^{_RAISED_NAME}:"),
    ),
    TraceFormat("python", ("File ",), _page_frame, error_near(_ERROR, below=6), gap=5),
    TraceFormat(
        "python",
        (".py:",),
        frame_by_pattern(
            r"(?P<path>[^\s:]{1,300}\.py):(?P<line>\d{1,7}): ?"
            rf"(?:in (?P<function>[^\s]{{1,200}})\s*$|(?P<exception>{_RAISED_NAME})\s*$|\s*$)"
        ),
        error_around(
            rf"E {{1,8}}(?P<exception>{_RAISED_NAME})(?:: ?(?P<message>.*)|\s*$)",
            r"E {1,8}(?P<message>\S.*)",
            above=60,
        ),
        gap=60,
        starts=re.compile(r"^_{3,} .{1,200} _{3,}$"),
        ends=re.compile(rf"\.py:\d{{1,7}}: {_RAISED_NAME}\s*$"),
    ),
    TraceFormat(
        "java",
        ("at ",),
        _jvm_frame,
        error_near(
            r"\s*(?:Exception in thread \"[^\"]{0,200}\" |Caused by: |Suppressed: |Wrapped by: |.{0,120}?[\s:])??"
            r"(?P<exception>[\w.$]{0,200}(?:Exception|Error|Throwable|Failure)\w{0,20})(?:: "
            r"?(?P<message>.*)|\s*$)",
            above=4,
        ),
        innermost_first=True,
        starts=re.compile(r"^\s*(?:Caused by|Suppressed|Exception in thread|Wrapped by)\b"),
    ),
    TraceFormat(
        "csharp",
        ("at ",),
        frame_by_pattern(
            r"\s*at (?P<function>[^\s(]{1,300}\(.{0,400}?\)) in (?P<path>.{1,400}):line (?P<line>\d{1,7})\s*$"
        ),
        error_near(
            r"\s*(?:Unhandled [Ee]xception[.:] ?|---> ?)?(?P<exception>[\w.`]{1,200}Exception)(?: \(0x\w+\))?"
            r"(?:: ?(?P<message>.*)|\s*$)",
            above=12,
        ),
        innermost_first=True,
        gap=6,
        starts=re.compile(r"^\s*(?:Unhandled [Ee]xception|[\w.]+Exception: )"),
    ),
    TraceFormat(
        "rust",
        (".rs:",),
        _frame_below_call(_RUST_LOCATION, _RUST_CALL),
        _rust_panic,
        innermost_first=True,
        gap=4,
    ),
    TraceFormat("rust", ("panicked at",), frame_by_pattern(_PANIC.pattern), _rust_panic, single=True),
    TraceFormat(
        "javascript",
        ("at ",),
        frame_by_pattern(
            r"\s*at (?:async )?(?:(?P<function>(?:new )?[^\s(][^()]{0,200}?)(?: \[as [^\]]{1,80}\])? \()?"
            r"(?:file:/{2,3})?(?P<path>(?:[A-Za-z]:[\\/])?(?:[a-z-]{2,20}:/{0,3})?[^\s:()][^:()]{0,400}(?::\d{2,5}/[^:()]{1,300})?):"
            r"(?P<line>\d{1,7})(?::\d{1,7})?\)?\s*$"
        ),
        error_near(
            r"\s*(?:Uncaught |Unhandled Rejection |\[?Unhandled promise rejection[^:]{0,40}: ?|\(in promise\) )*"
            rf"(?P<exception>{_NAME}(?:Error|Exception|Warning|Rejection|Violation)|Error)"
            r"(?: \[[\w-]{1,80}\])?(?:: ?(?P<message>.*)|\s*$)",
            above=8,
        ),
        innermost_first=True,
        starts=re.compile(rf"^\s*(?:Uncaught |Caused by: |\[cause\]: )?{_RAISED_NAME}: "),
    ),
    TraceFormat(
        "javascript",
        ("@",),
        frame_by_pattern(
            r"\s*(?P<function>[\w.$<>/*]{0,200})@(?P<path>[a-z-]{2,20}:/{2,3}[^\s]{1,400}?):(?P<line>\d{1,7})(?::\d{1,7})?\s*$"
        ),
        error_near(rf"\s*(?:Uncaught )?(?P<exception>{_RAISED_NAME}): ?(?P<message>.*)", above=4),
        innermost_first=True,
    ),
    TraceFormat(
        "go",
        (".go:",),
        _frame_below_call(_GO_LOCATION, _GO_CALL),
        error_near(r"\s*(?:panic|fatal error|WARNING(?=: DATA RACE)): (?P<message>.*)", above=14),
        innermost_first=True,
        gap=3,
        starts=re.compile(r"^\s*goroutine \d+ \["),
    ),
    TraceFormat(
        "ruby",
        (":in ",),
        frame_by_pattern(
            r"\s*(?:from |\d{1,4}: from |\[?\d{1,4}\]? )?(?P<path>[^\s:]{1,400}):(?P<line>\d{1,7}):in "
            r"[`'‘](?P<function>[^'’]{1,200})['’]"
            r"(?:: (?P<message>.{0,600}) \((?P<exception>[A-Z][\w:]{1,120})\))?"
        ),
        error_near(
            r"\s*(?P<exception>[A-Z][\w:]{1,120}(?:Error|Exception|NotFound|Invalid))(?::| \() "
            r"?(?P<message>.*?)\)?:?\s*$",
            above=4,
        ),
        innermost_first=True,
    ),
    TraceFormat(
        "php",
        ("#",),
        frame_by_pattern(
            r"\s*#\d{1,4} (?P<path>[^()\n]{1,400}\.\w{2,6})\((?P<line>\d{1,7})\): (?P<function>[^(]{1,300})"
        ),
        error_near(
            r".{0,80}?(?:Uncaught (?:exception ')?)?(?P<exception>[\w\\]{1,200}(?:Exception|Error)\w{0,20})'?"
            r"(?: with message '|: )(?P<message>.{0,600}?)'?(?: in (?P<path>\S{1,300}?\.php)[: ](?:on line "
            r")?(?P<line>\d{1,7}))?\s*$",
            above=5,
        ),
        innermost_first=True,
    ),
    TraceFormat(
        "php",
        (" on line ",),
        frame_by_pattern(
            r".{0,120}?(?P<exception>(?:Catchable |Recoverable )?[Ff]atal [Ee]rror|Parse [Ee]rror|Warning|Notice|"
            r"Deprecated): {1,4}"
            r"(?P<message>.{1,600}?) in (?P<path>.{1,300}?\.\w{2,6}) on line (?P<line>\d{1,7})"
        ),
        None,
        single=True,
    ),
    TraceFormat(
        "dart",
        (".dart:",),
        frame_by_pattern(
            r"\s*#\d{1,4}\s+(?P<function>.{1,200}?) \((?:package:|"
            r"file:/{2,3})?(?P<path>[^\s:()]{1,300}\.dart):(?P<line>\d{1,7})(?::\d{1,7})?\)"
        ),
        error_near(
            rf"(?:.{{0,80}}Unhandled [Ee]xception:? ?)?(?P<exception>{_RAISED_NAME})?(?:: )?(?P<message>.*)", above=2
        ),
        innermost_first=True,
    ),
    TraceFormat(
        "c",
        ("#",),
        frame_by_pattern(
            r"\s*#\d{1,4}\s+(?:0x[0-9a-fA-F]{1,16} )?(?:in )?(?P<function>[^\s(][^\n]{0,300}?) (?:\(.{0,500}\) "
            r")?(?:at |from )?"
            r"(?P<path>(?:[A-Za-z]:)?[^\s:()]{1,300}\.(?:cc|cpp|cxx|c|hpp|hh|h|m|mm|swift|inl|S|"
            r"cu)):(?P<line>\d{1,7})(?::\d{1,7})?"
        ),
        error_near(
            r".{0,60}?(?:ERROR: (?P<exception>[A-Z]\w{1,30}Sanitizer): |received signal (?=SIG)|Assertion "
            r")(?P<message>.*)",
            above=12,
        ),
        innermost_first=True,
        starts=re.compile(r"==\d+==ERROR"),
        gap=2,
    ),
    TraceFormat(
        "elixir",
        (".ex",),
        frame_by_pattern(
            r"\s*(?:\(\w{1,60} [\w.+-]{1,30}\) )?(?P<path>[^\s:()]{1,300}\.exs?):(?P<line>\d{1,7}): "
            r"(?P<function>[A-Z:(][^\s]{1,200}/\d+.{0,40})$"
        ),
        error_near(r"\s*\*\* \((?P<exception>[\w.]{1,120})\) ?(?P<message>.*)", above=3),
        innermost_first=True,
    ),
    TraceFormat(
        "rust",
        ("-->",),
        frame_by_pattern(r"\s*--> (?P<path>[^\s:]{1,400}\.\w{1,8}):(?P<line>\d{1,7}):\d{1,7}\s*$"),
        error_near(r"\s*(?P<exception>error(?:\[E\d{4}\])?|warning): (?P<message>.*)", above=3),
        single=True,
    ),
    TraceFormat("diagnostic", (":", "("), _diagnostic_frame, None, single=True),
)
